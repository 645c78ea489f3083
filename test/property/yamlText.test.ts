import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { parseSetting, policyKeys, policySettings, readPolicySection, section } from '../../src/core/config/harnessConfig';
import { Failure } from '../../src/core/disk/failure';
import { canonicalJson } from '../../src/core/disk/hash';
import { parseYaml, setYamlValue } from '../../src/core/disk/yamlText';
import { setting, shape, textOf, valuesOf } from '../support/policyFiles';
import type { Json } from '../support/policyFiles';

const sample = fs.readFileSync(path.join(__dirname, '../support/specs/harness-config.yaml'), 'utf8');

/** The old text must be the new one with the reported range taken out and the replaced characters put back. */
function assertOnlyRangeChanged(before: string, edit: { text: string; range: [number, number]; replaced: number }): void {
  const [start, end] = edit.range;
  assert.equal(edit.text.slice(0, start), before.slice(0, start), 'bytes before the value changed');
  assert.equal(edit.text.slice(end), before.slice(start + edit.replaced), 'bytes after the value changed');
}

describe('setYamlValue', () => {
  it('R5.1: 200 random legal sets over CRLF, BOM, flow style, anchors and quoted keys parse to the intended change and touch no other byte', () => {
    let replaced = 0;
    let inserted = 0;
    fc.assert(fc.property(shape, setting, (each, { key, value }) => {
      const before = textOf(each);
      const edit = setYamlValue(before, [section, key], value, 'f.yaml');
      assertOnlyRangeChanged(before, edit);
      const old = valuesOf(before);
      const wanted = { ...old, [section]: { ...(old[section] as Json | null | undefined ?? {}), [key]: value } };
      assert.equal(canonicalJson(valuesOf(edit.text)), canonicalJson(wanted));
      // What was inserted or replaced is small: the value, or the key and value on a line of their own.
      assert.ok(edit.range[1] - edit.range[0] <= 60, edit.text.slice(...edit.range));
      if (old[section] && Object.hasOwn(old[section] as Json, key)) {
        replaced += 1;
        assert.match(edit.text.slice(...edit.range), /^(["']?)(clear|compact|off|true|false)\1$/);
        assert.equal(edit.text.split('\n').length, before.split('\n').length);
      } else inserted += 1;
      const read = readPolicySection(parseYaml(edit.text, 'f.yaml'), []);
      assert.deepEqual(read.problems, []);
      assert.equal(read.given[key]?.value, value);
      assert.equal(read.given[key].line, edit.text.slice(0, edit.range[1]).trimEnd().split('\n').length);
      assert.equal(edit.line, read.given[key].line);
    }), { numRuns: 200, seed: 4 });
    assert.ok(replaced > 40 && inserted > 40, `${String(replaced)} replaced, ${String(inserted)} inserted`);
  });

  it('changes exactly one line of the large commented sample', () => {
    for (const key of policyKeys) {
      for (const value of policySettings[key].values) {
        const edit = setYamlValue(sample, [section, key], value, 'f.yaml');
        const [a, b] = [sample.split('\n'), edit.text.split('\n')];
        assert.equal(a.length, b.length);
        const changed = a.flatMap((line, index) => line === b[index] ? [] : [index + 1]);
        assert.ok(changed.length <= 1);
      }
    }
    const edit = setYamlValue(sample, [section, 'taskBoundary'], 'clear', 'f.yaml');
    const at = sample.split('\n').findIndex((line) => line.includes('taskBoundary:')) + 1;
    assert.equal(edit.line, at);
    assert.equal(edit.text.split('\n')[at - 1], '  taskBoundary: clear           # clear | compact | off — after each completed task, checkpoint then reset');
  });

  it('writes off in quotes, keeps the quotes that are there, and fills an empty value', () => {
    const set = (text: string, value: string) => setYamlValue(text, ['a'], value, 'f').text;
    assert.equal(set('a: clear # c\n', 'off'), 'a: "off" # c\n');
    assert.equal(set("a: 'clear'\n", 'off'), "a: 'off'\n");
    assert.equal(set('a: "clear"\n', 'compact'), 'a: "compact"\n');
    assert.equal(set('a:\nb: 1\n', 'compact'), 'a: compact\nb: 1\n');
    assert.equal(set('a: # c\nb: 1\n', 'compact'), 'a: compact # c\nb: 1\n');
    assert.equal(set('a: ~\n', 'compact'), 'a: compact\n');
    assert.equal(set('a: |\n  clear\nb: 1\n', 'compact'), 'a: compact\nb: 1\n');
    assert.equal(set('a: !!str off\n', 'clear'), 'a: !!str clear\n');
    assert.equal(set('? a\n: clear\n', 'off'), '? a\n: "off"\n');
  });

  it('puts a missing section before an end marker, and into a file that is one flow map', () => {
    const set = (text: string) => setYamlValue(text, ['c', 'k'], 'off', 'f').text;
    assert.equal(set('a: 1\n...\n'), 'a: 1\nc:\n  k: "off"\n...\n');
    assert.equal(set('{a: 1}\n'), '{a: 1, c: {k: "off"}}\n');
    assert.equal(set('{"a": 1}'), '{"a": 1, "c": {"k": "off"}}');
    assert.equal(set('a: 1'), 'a: 1\n\nc:\n  k: "off"\n');
    assert.equal(set(''), 'c:\n  k: "off"\n');
    assert.equal(set('c: {}\n'), 'c: {k: "off"}\n');
    assert.equal(set('c:\n  # later\nd: 1\n'), 'c:\n  k: "off"\n  # later\nd: 1\n');
    assert.equal(set('  a: 1\n'), '  a: 1\n\n  c:\n    k: "off"\n');
  });

  it('refuses, with the line, what cannot be set alone: an alias on the way, a value used elsewhere through its anchor', () => {
    const refused = (text: string, kind: string, line: number) => assert.throws(() => setYamlValue(text, ['c', 'k'], 'off', 'f.yaml'),
      (error: unknown) => error instanceof Failure && error.kind === kind && error.message.startsWith(`f.yaml:${String(line)}: `) && error.exitCode === 2);
    refused('x: &s\n  k: clear\nc: *s\n', 'yaml-shared', 3);
    refused('c: &s\n  k: clear\nx: *s\n', 'yaml-shared', 1);
    refused('c:\n  k: &v clear\nx: *v\n', 'yaml-shared', 2);
    refused('c:\n  k: clear\nk: [1\n', 'bad-yaml', 4);
    refused('c:\n  k: 1\n  k: 2\n', 'bad-yaml', 3);
    refused('c: 1\n---\nd: 1\n', 'bad-yaml', 2);
    assert.throws(() => setYamlValue('c: [1]\n', ['c', 'k'], 'off', 'f'), /is no mapping/);
    // An alias as the value itself is only this value's bytes.
    assert.equal(setYamlValue('x: &v clear\nc:\n  k: *v\n', ['c', 'k'], 'off', 'f').text, 'x: &v clear\nc:\n  k: "off"\n');
    // A merged map is overridden beside it, not changed.
    assert.equal(setYamlValue('x: &s\n  k: clear\nc:\n  <<: *s\n', ['c', 'k'], 'off', 'f').text, 'x: &s\n  k: clear\nc:\n  <<: *s\n  k: "off"\n');
  });

  it('names the line of broken YAML, counted from where front matter begins', () => {
    assert.throws(() => parseYaml('a: 1\nb: [\n', 'tasks.md', 2), (error: unknown) => error instanceof Failure && /^tasks\.md:[34]: /.test(error.message));
    assert.throws(() => parseYaml('a: *gone\n', 'f.yaml'), (error: unknown) => error instanceof Failure && error.kind === 'bad-yaml');
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g'].map((name, index) => `${name}: &${name} [${new Array(10).fill(`*${'abcdef'.charAt(index)}`).join(',')}]`).join('\n')}\n`;
    assert.throws(() => parseYaml(bomb, 'f.yaml'), Failure);
  });
});

describe('parseSetting', () => {
  it('R1.4: there is no clear in mid-task', () => {
    assert.throws(() => parseSetting('midTask', 'clear'), (error: unknown) => error instanceof Failure && error.exitCode === 2 && /never cleared in the middle of a task/.test(error.message));
    assert.deepEqual(parseSetting('midTask', 'off'), { key: 'midTask', value: 'off' });
    assert.deepEqual(parseSetting('enabled', 'off'), { key: 'enabled', value: false });
    assert.throws(() => parseSetting('nope', 'off'), Failure);
  });
});
