import assert from 'node:assert/strict';
import { readLegacy } from '../../src/core/workItems/legacy';
import { buildPortableIndex } from '../../src/core/workItems/portableIndex';
import { isPortableFileName, readPortable, withoutSections } from '../../src/core/workItems/portableRecord';
import { parseRef } from '../../src/core/workItems/ref';
import { memoryReader } from '../support/memoryReader';

const ref = parseRef('github:octo/repo#6');
const head = '{\n  "ref": "github:octo/repo#6",\n  "url": "https://github.com/octo/repo/issues/6"';
const written = (text: string, names: ('control' | 'poll' | 'graph')[], holds = false) => {
  const result = withoutSections(text, names, ref, holds);
  return result.kind === 'write' ? result.text : 'delete';
};

describe('portable records', () => {
  const read = (content: string | Buffer) => readPortable(memoryReader({ '/r': content }), '/r');

  it('tell sections, tombstones and silence apart', () => {
    const found = read('{"ref": "github:octo/repo#6", "control": {}, "poll": null, "sealed": false}');
    assert.ok(found.kind === 'record');
    assert.deepEqual([found.record.sections.control?.command, found.record.sections.poll, 'graph' in found.record.sections], ['', null, false]);
    assert.equal(found.record.sealed, false);
    const other = read('{"ref": "nonsense", "control": [1], "graph": "x", "sealed": "yes"}');
    assert.ok(other.kind === 'record');
    assert.deepEqual([other.record.sections, other.record.ref, other.record.refText, other.record.sealed], [{ control: null, graph: null }, undefined, 'nonsense', true]);
    for (const empty of ['0', '""', '[]', '{}', 'null']) {
      const record = read(`{"ref": "github:octo/repo#6", "sealed": ${empty}}`);
      assert.ok(record.kind === 'record' && !record.record.sealed, empty);
    }
  });

  it('are told from strangers and from broken files', () => {
    assert.equal(read('{"hello": "world"}').kind, 'stranger');
    assert.equal(read('[1]').kind, 'stranger');
    assert.equal(read('{"ref": ""}').kind, 'stranger');
    assert.equal(read('{"ref": 5}').kind, 'stranger');
    assert.equal(read('{ not json').kind, 'unreadable');
    assert.deepEqual(['index.json', 'a.json', 'a.json.tmp', 'notes.txt'].map(isPortableFileName), [false, true, false, false]);
  });

  it('lose a section in its place and keep the rest to the byte', () => {
    const text = '{"url": "old", "zzz": {"a": 1,\n"b": {}}, "n": 12345678901234567890, "poll": {"x": "}\\""}, "ref": "github:github.com/octo/repo#06", "graph": {"seed": 1.0E+2}, "\\u0063ontrol": {}, "é": "é"}';
    assert.equal(written(text, ['control', 'poll']),
      `${head},\n  "zzz": {"a": 1,\n"b": {}},\n  "n": 12345678901234567890,\n  "poll": null,\n  "graph": {"seed": 1.0E+2},\n  "\\u0063ontrol": null,\n  "é": "é"\n}\n`);
    assert.equal(written(text, ['graph', 'poll', 'control']), 'delete');
    assert.equal(written(text, ['graph', 'poll', 'control'], true), `${head},\n  "sealed": true\n}\n`);
  });

  it('get nulls behind the others for what only the older layout held', () => {
    assert.equal(written('{"ref": "github:octo/repo#6", "graph": {}}', ['control', 'poll'], true), `${head},\n  "graph": {},\n  "control": null,\n  "poll": null\n}\n`);
    assert.deepEqual(withoutSections(undefined, ['control'], ref, true), { kind: 'write', text: `${head},\n  "sealed": true\n}\n` });
  });

  it('count the last of two members, in the first one’s place', () => {
    assert.equal(written('{"ref": "a", "graph": 1, "poll": {}, "graph": {"b": 2}}', ['poll']), `${head},\n  "graph": {"b": 2},\n  "poll": null\n}\n`);
    assert.equal(written('{"ref": "a", "graph": {}, "poll": {}, "graph": 1}', ['poll']), 'delete');
  });

  it('have no url where none can be derived, and name foreign letters in ASCII', () => {
    const other = withoutSections('{"ref": "x", "url": "guessed", "graph": {}}', ['control'], parseRef('github:é/😀#1'), false);
    assert.deepEqual(other, { kind: 'write', text: '{\n  "ref": "github:\\u00e9/\\ud83d\\ude00#1",\n  "graph": {},\n  "control": null\n}\n' });
  });

  it('may be nested as deep as they like', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    assert.equal(written(`{"ref": "x", "graph": {"d": ${deep}}, "poll": {}}`, ['poll']), `${head},\n  "graph": {"d": ${deep}},\n  "poll": null\n}\n`);
  });
});

describe('the portable index', () => {
  it('is what the-loop writes', () => {
    const reader = memoryReader({
      '/p/b.json': '{"ref": "github:octo/repo#9", "poll": {}, "control": {}, "graph": null}',
      '/p/a.json': '{"ref": "github:octo/repo#10", "url": "ignored", "sealed": true}',
      '/p/c.json': '{"ref": "github:é/r#1"}',
      '/p/d.json': '{"ref": "\uff5e", "graph": {}}',
      '/p/e.json': '{"ref": "\u{1f600}"}',
      '/p/notes.json': '{"hello": "world"}',
      '/p/broken.json': '{',
      '/p/linked.json': 'link!',
      '/p/index.json': '{"ref": "github:octo/repo#1"}',
      '/p/x.json.tmp': '{"ref": "github:octo/repo#2"}',
    });
    assert.deepEqual(buildPortableIndex(reader, '/p'), {
      kind: 'write',
      text: `{
  "workItems": [
    {
      "ref": "github:octo/repo#10",
      "url": "https://github.com/octo/repo/issues/10",
      "file": "a.json",
      "sections": [],
      "sealed": true
    },
    {
      "ref": "github:octo/repo#9",
      "url": "https://github.com/octo/repo/issues/9",
      "file": "b.json",
      "sections": [
        "control",
        "poll"
      ]
    },
    {
      "ref": "github:\\u00e9/r#1",
      "file": "c.json",
      "sections": []
    },
    {
      "ref": "\\uff5e",
      "file": "d.json",
      "sections": [
        "graph"
      ]
    },
    {
      "ref": "\\ud83d\\ude00",
      "file": "e.json",
      "sections": []
    }
  ]
}
`,
    });
    assert.deepEqual(buildPortableIndex(memoryReader({ '/p/notes.json': '{}' }), '/p'), { kind: 'delete' });
    assert.deepEqual(buildPortableIndex(memoryReader({}), '/p'), { kind: 'delete' });
  });
});

describe('the older layout', () => {
  const places = { directory: '/s', controlDir: '/s/control', pollState: '/s/poll-state.json', olderPollState: '/w/poll-state.json' };
  const item = (n: number) => parseRef(`github:octo/repo#${String(n)}`);
  const files = {
    '/s/control/github-octo-repo-1.json': '{"ref": "github:octo/repo#1", "command": "start"}',
    '/s/control/github-a-b-c-1.json': '{"ref": "github:a-b/c#1", "command": "start"}',
    '/s/control/github-octo-repo-2.json': '{"command": "stop"}',
    '/s/control/github-octo-repo-3.json': '{ broken',
    '/s/control/github-octo-repo-4.json': 'link!',
    '/s/control/elsewhere-5.json': '{"ref": "github:octo/repo#5"}',
    '/s/poll-state.json': '{"items": {"github:octo/repo#1": {"seenComments": [1, 2], "lastPolledAt": "x"}, "github:octo/repo#6": null, "github:octo/repo#07": {}, "x": {}, "__proto__": {}}}',
    '/w/poll-state.json': '{"items": {"github:octo/repo#1": {"b": 1}, "github:octo/repo#6": {"gaveUp": {"comments": ["IC_1"]}}}}',
  } as const;

  it('is asked for control by file name and for poll by ref, the newer file first', () => {
    const tree = readLegacy(memoryReader(files), places);
    assert.deepEqual(tree.control(item(1)), { facts: { command: 'start', source: '', actor: '', requestedAt: '', note: '', armed: true }, path: '/s/control/github-octo-repo-1.json' });
    assert.deepEqual([tree.control(item(2))?.facts.command, tree.control(item(2))?.facts.armed], ['stop', false]);
    assert.equal(tree.control(parseRef('github:a/b-c#1')), undefined, 'another item’s file is not this item’s control');
    assert.ok(tree.holds(parseRef('github:a/b-c#1')), 'but the-loop would take it for that');
    assert.deepEqual(tree.poll(item(1)), { facts: { seenComments: 2, lastPolledAt: 'x', gaveUp: null }, path: '/s/poll-state.json' });
    assert.deepEqual(tree.poll(item(6)), { facts: { seenComments: 0, lastPolledAt: '', gaveUp: 'comments' }, path: '/w/poll-state.json' });
    assert.equal(tree.poll(item(7)), undefined);
    assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((n) => tree.holds(item(n))), [true, true, false, true, false, true, false]);
    assert.equal(tree.control(item(4)), undefined);
  });

  it('names its items and what cannot be read in it', () => {
    const tree = readLegacy(memoryReader(files), places);
    assert.deepEqual(tree.refs().map(({ ref: text }) => text).sort(), ['github:a-b/c#1', 'github:octo/repo#1', 'github:octo/repo#6']);
    assert.equal(tree.problems.length, 2);
    assert.match(tree.problems.join(), /repo-3\.json cannot be read: it is no JSON\..*repo-4\.json/);
  });

  it('is read once, and not at all when nobody asks', () => {
    const reader = memoryReader(files);
    const tree = readLegacy(reader, places);
    assert.equal(reader.reads.size, 0);
    for (let i = 0; i < 3; i++) { tree.refs(); tree.holds(item(1)); tree.poll(item(9)); tree.control(item(1)); }
    assert.deepEqual([...reader.reads.values()].filter((count) => count !== 1), []);
  });
});
