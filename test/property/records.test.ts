import assert from 'node:assert/strict';
import fc from 'fast-check';
import { membersOf } from '../../src/core/workItems/jsonFile';
import { portableIndex } from '../../src/core/workItems/portableIndex';
import { readPortable, SECTIONS, withoutSections, type SectionName } from '../../src/core/workItems/portableRecord';
import { parseRef } from '../../src/core/workItems/ref';
import { readSession, withStatusClosed } from '../../src/core/workItems/sessionRecord';
import { memoryReader } from '../support/memoryReader';

/** JSON text of any layout: random spaces, escapes and number forms, and the raw text of each outer value. */
const space = fc.constantFrom('', ' ', '\n', '\r\n  ', '\t');
const leaf = fc.oneof(fc.constantFrom('null', 'true', '-0', '1.50', '1e5', '12345678901234567890', '9007199254740993', '""', '"}"', '"\\""', '"\\\\"', '"\\u00e9é,:{["'), fc.string().map((text) => JSON.stringify(text)));
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('object')),
  list: fc.tuple(space, fc.array(tie('value'), { maxLength: 3 })).map(([gap, items]) => `[${gap}${items.join(`,${gap}`)}${gap}]`),
  object: fc.tuple(space, fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 })).map(([gap, items]) => `{${gap}${items.map(([key, text]) => `${JSON.stringify(key)}${gap}:${gap}${text}`).join(`${gap},`)}${gap}}`),
}));
const section = fc.oneof(fc.constant('{}'), fc.constant('null'), value.map((text) => `{"v": ${text}}`), value);
const key = fc.oneof(fc.constantFrom<string>(...SECTIONS, 'sealed', 'url', 'zzz', '__proto__', 'constructor'), fc.string({ maxLength: 4 }));
const record = fc.tuple(fc.array(fc.tuple(key, section, space), { maxLength: 7 }), space).map(([members, gap]) => ({
  members: [['ref', '"github:octo/repo#6"'] as const, ...members.filter(([name]) => name !== 'ref').map(([name, text]) => [name, text] as const)],
  text: `${gap}{${gap}"ref":"github:octo/repo#6"${members.filter(([name]) => name !== 'ref').map(([name, text, inner]) => `${inner},${JSON.stringify(name)}${inner}:${inner}${text}`).join('')}${gap}}${gap}`,
}));
const ref = parseRef('github:octo/repo#6');

describe('records, any', () => {
  it('are cut into members exactly', () => {
    fc.assert(fc.property(record, ({ members, text }) => {
      assert.deepEqual(membersOf(text).map((member) => [member.key, text.slice(member.valueStart, member.valueEnd)]), members);
    }), { numRuns: 1000 });
  });

  it('keep every byte of what is kept, in its order, and lose what was named', () => {
    fc.assert(fc.property(record, fc.uniqueArray(fc.constantFrom<SectionName>(...SECTIONS), { minLength: 1 }), fc.boolean(), ({ members, text }, names, holds) => {
      const last = new Map<string, string>(members);
      for (const name of names) last.set(name, 'null');
      const stays = SECTIONS.some((name) => last.get(name)?.startsWith('{'));
      const result = withoutSections(text, names, ref, holds);
      if (!stays) {
        assert.equal(result.kind, holds ? 'write' : 'delete');
        if (result.kind === 'write') assert.deepEqual(JSON.parse(result.text), { ref: ref.ref, url: ref.url, sealed: true });
        return;
      }
      assert.ok(result.kind === 'write');
      last.delete('ref');
      last.delete('url');
      const expected = [['ref', '"github:octo/repo#6"'], ['url', '"https://github.com/octo/repo/issues/6"'], ...last];
      assert.deepEqual(membersOf(result.text).map((member) => [member.key, result.text.slice(member.valueStart, member.valueEnd)]), expected);
      assert.ok(result.text.startsWith('{\n  "ref": ') && result.text.endsWith('\n}\n'));
      const again = withoutSections(result.text, names, ref, holds);
      assert.deepEqual(again, result, 'twice is once');
      const read = readPortable(memoryReader({ '/r': result.text }), '/r');
      assert.ok(read.kind === 'record' && names.every((name) => read.record.sections[name] === null));
    }), { numRuns: 1000 });
  });

  it('are closed in one place', () => {
    const status = fc.constantFrom('"active"', '"paused"', 'null', '{"status":"x"}');
    fc.assert(fc.property(record, fc.option(status), ({ text, members }, given) => {
      fc.pre(members.every(([name]) => name !== 'status'));
      const at = text.lastIndexOf('}');
      const full = `${text.slice(0, at)},"workItem":{"ref":"github:octo/repo#6"},"harness":"h","harnessSessionId":"s","cwd":"/c"${given === null ? '' : `, "status": ${given}`}${text.slice(at)}`;
      const closed = withStatusClosed(full);
      const read = readSession(memoryReader({ '/r': closed }), '/r');
      assert.ok(read.kind === 'record' && read.record.status === 'closed');
      assert.equal(given === null ? closed.replace(/,[\s]*"status": "closed"/, '') : closed.replace('"status": "closed"', `"status": ${given}`), full);
    }), { numRuns: 500 });
  });

  it('make the index that the format asks for', () => {
    // An oracle of its own: json.dumps(indent=2, ensure_ascii=True) written out by hand.
    const quote = (text: string) => `"${Array.from({ length: text.length }, (_, i) => {
      const [c, code] = [text.charAt(i), text.charCodeAt(i)];
      const short: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
      return short[c] ?? (code < 0x20 || code > 0x7e ? `\\u${(code + 0x10000).toString(16).slice(1)}` : c);
    }).join('')}"`;
    const points = (text: string) => Array.from(text, (c) => (c.codePointAt(0) ?? 0).toString(16).padStart(6, '0')).join('');
    const refs = fc.uniqueArray(fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.tuple(fc.stringMatching(/^[a-zA-Z.]{1,3}$/), fc.nat()).map(([repo, n]) => `github:octo/${repo}#${String(n)}`)), { maxLength: 8 });
    fc.assert(fc.property(refs, fc.array(fc.subarray([...SECTIONS]), { minLength: 8, maxLength: 8 }), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (texts, sections, seals) => {
      const files = texts.map((text, i) => ({ name: `${String(i)}.json`, text, has: sections[i] ?? [], sealed: seals[i] ?? false }));
      const found = portableIndex(files.map(({ name, text, has, sealed }) => {
        const content = JSON.stringify({ ref: text, ...Object.fromEntries(has.map((name_) => [name_, {}])), ...(sealed ? { sealed: true } : {}) });
        return { name, file: readPortable(memoryReader({ '/r': content }), '/r') };
      }));
      if (files.length === 0) { assert.deepEqual(found, { kind: 'delete' }); return; }
      const sorted = [...files].sort((a, b) => (points(a.text) < points(b.text) ? -1 : 1));
      const entry = ({ name, text, has, sealed }: (typeof files)[number]) => {
        const match = /^github:octo\/([a-zA-Z.]+)#(\d+)$/.exec(text);
        return ['    {', [
          `      "ref": ${quote(text)}`,
          ...(match ? [`      "url": "https://github.com/octo/${match[1] ?? ''}/issues/${match[2] ?? ''}"`] : []),
          `      "file": ${quote(name)}`,
          `      "sections": ${has.length === 0 ? '[]' : `[\n${SECTIONS.filter((name_) => has.includes(name_)).map((name_) => `        "${name_}"`).join(',\n')}\n      ]`}`,
          ...(sealed ? ['      "sealed": true'] : []),
        ].join(',\n'), '    }'].join('\n');
      };
      assert.deepEqual(found, { kind: 'write', text: `{\n  "workItems": [\n${sorted.map(entry).join(',\n')}\n  ]\n}\n` });
    }), { numRuns: 500 });
  });
});
