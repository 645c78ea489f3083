import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { parseDocument } from 'yaml';
import { policyKeys, policySettings, section } from '../../src/core/config/harnessConfig';
import type { PolicyKey, PolicyValue } from '../../src/core/config/harnessConfig';

// Policy files as people may have written them, for property tests.

export type Json = Record<string, unknown>;
/** An independent reading of the text: the `yaml` library's plain values, nothing of ours. */
export function valuesOf(text: string): Json {
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false });
  assert.deepEqual(document.errors, []);
  return JSON.parse(JSON.stringify(document.toJS() ?? {})) as Json;
}

function legalFor(key: PolicyKey): fc.Arbitrary<PolicyValue> {
  return fc.constantFrom(...policySettings[key].values);
}
export const setting: fc.Arbitrary<{ key: PolicyKey; value: PolicyValue }> = fc.constantFrom(...policyKeys).chain((key) => legalFor(key).map((value) => ({ key, value })));

const quoteOf = (quote: string, text: string) => `${quote}${text}${quote}`;
const unquoted = (value: PolicyValue) => String(value);
/** One entry of the section as a person may have written it: quoted key, quoted value, anchor, comment, spaces. */
const entry = (key: PolicyKey) => fc.record({
  value: legalFor(key),
  keyQuote: fc.constantFrom('', '', '"', "'"),
  valueQuote: fc.constantFrom('', '', '"', "'"),
  anchor: fc.constantFrom('', '', `&${key} `),
  comment: fc.constantFrom('', '', '   # ünïcode — note', ' # "off" | clear'),
  gap: fc.constantFrom(' ', '   '),
}).map((parts) => ({ key, ...parts, valueQuote: typeof parts.value === 'boolean' ? '' : parts.valueQuote }));

export interface Shape { entries: ReturnType<typeof entry> extends fc.Arbitrary<infer T> ? T[] : never; style: 'block' | 'flow' | 'flowLines' | 'json' | 'empty' | 'missing'; end: '\n' | '\r\n'; bom: boolean; finalNewline: boolean; indent: number; before: string; after: string; sectionQuote: string }

export const shape: fc.Arbitrary<Shape> = fc.record({
  entries: fc.subarray([...policyKeys]).chain((keys) => keys.length === 0 ? fc.constant([]) : fc.tuple(...keys.map(entry))) as fc.Arbitrary<Shape['entries']>,
  style: fc.constantFrom('block', 'block', 'block', 'flow', 'flowLines', 'json', 'empty', 'missing'),
  end: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  finalNewline: fc.boolean(),
  indent: fc.constantFrom(1, 2, 4),
  before: fc.constantFrom('', '# top comment\n\nversion: "0.2.0"\n', 'version: "0.2.0"\nlist:\n  - a   # b\n  - {x: 1}\ntext: |\n  contextManagement:\n    enabled: false\n'),
  after: fc.constantFrom('', '\nreviews:\n  critics: []\n# tail: comment\n', '\nuse: &shared {a: 1}\nagain: *shared\n'),
  sectionQuote: fc.constantFrom('', '"', "'"),
});

export function textOf(each: Shape): string {
  const name = each.style === 'json' ? '"contextManagement"' : quoteOf(each.sectionQuote, section);
  const pairs = each.entries.map((item) => `${quoteOf(item.keyQuote, item.key)}:${item.gap}${item.anchor}${quoteOf(item.valueQuote, unquoted(item.value))}`);
  let body: string;
  if (each.style === 'missing') body = '';
  else if (each.style === 'empty') body = `${name}:   # nothing yet\n`;
  else if (each.style === 'json') body = `${name}: {${each.entries.map((item) => `"${item.key}": ${typeof item.value === 'boolean' ? String(item.value) : `"${item.value}"`}`).join(', ')}}\n`;
  else if (each.style === 'flow' || each.entries.length === 0) body = `${name}: {${pairs.join(', ')}}  # flow\n`;
  else if (each.style === 'flowLines') body = `${name}: {\n${pairs.map((pair) => `  ${pair},`).join('\n')}\n}\n`;
  else body = `${name}:\n${pairs.map((pair, index) => `${' '.repeat(each.indent)}${pair}${each.entries[index]?.comment ?? ''}`).join('\n')}\n`;
  let text = each.before + body + each.after;
  if (!each.finalNewline) text = text.replace(/\n$/, '');
  if (text.trim() === '') text = '# only a comment\n';
  return (each.bom ? '\uFEFF' : '') + text.replaceAll('\n', each.end);
}

