import { isAlias, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { Alias, Document, Node, Pair, ParsedNode, YAMLMap } from 'yaml';
import { Failure, messageOf } from './failure';
import { canonicalJson } from './hash';

/** One YAML document with the positions of its nodes. Offsets count characters of `text` from 0, lines from 1. */
export interface YamlText {
  text: string;
  /** The name that errors carry. */
  file: string;
  document: Document.Parsed;
  /** The plain value of the whole document; undefined when it is empty. */
  value: unknown;
  lineAt(offset: number): number;
}

/** A scalar that can be written: everything else is put there by hand. */
export type YamlScalar = string | boolean;

export interface YamlEdit {
  text: string;
  /** Where the new bytes stand in `text`: [start, end). */
  range: [number, number];
  /** How many characters of the old text gave way at `range[0]`. */
  replaced: number;
  line: number;
}

const fix = 'Mend the file by hand, then try again.';

function badYaml(file: string, line: number, what: string): Failure {
  return new Failure('bad-yaml', `${file}:${String(line)}: ${what}`, fix, 2, { file, line });
}

/**
 * Parses YAML as PyYAML does (version 1.1: `off` and `no` are false, merge keys work). `firstLine` is the line of the
 * file on which `text` begins, for front matter. A key that stands twice is no error here; `findPair` reports it where it matters.
 * Failure: `bad-yaml` with file and line.
 */
export function parseYaml(text: string, file: string, firstLine = 1): YamlText {
  const counter = new LineCounter();
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false, keepSourceTokens: true, lineCounter: counter, prettyErrors: false });
  const lineAt = (offset: number) => counter.linePos(offset).line + firstLine - 1;
  const error = document.errors[0];
  if (error) throw badYaml(file, lineAt(error.pos[0]), error.message.replace(/\.$/, '') + '.');
  let value: unknown;
  try {
    value = document.contents === null ? undefined : document.toJS();
  } catch (problem) {
    // An alias without its anchor, or aliases that unfold without end: found only when the values are made.
    throw badYaml(file, firstLine, `${messageOf(problem)}.`);
  }
  return { text, file, document, value, lineAt };
}

/** The node behind an alias, or the node itself. */
export function resolveNode(yaml: YamlText, node: unknown): Node | undefined {
  if (isAlias(node)) return (node as Alias).resolve(yaml.document);
  return node === null || node === undefined ? undefined : (node as Node);
}

/** The pair of `key` in a map. Failure: `bad-yaml` when the key stands there twice, since readers disagree on which counts. */
export function findPair(yaml: YamlText, map: YAMLMap, key: string): Pair | undefined {
  const found = map.items.filter((pair) => isScalar(pair.key) ? pair.key.value === key : pair.key === key);
  if (found.length > 1) throw badYaml(yaml.file, lineOf(yaml, found[1]?.key), `the key ${key} stands here a second time.`);
  return found[0];
}

/** The line of a node, 1 when it has no place of its own. */
export function lineOf(yaml: YamlText, node: unknown): number {
  const range = (node as Node | undefined)?.range;
  return yaml.lineAt(range ? range[0] : 0);
}

/**
 * The pair that gives `key` its value in a map: its own, else the one of a merged map (`<<`), the first merged map first.
 */
export function effectivePair(yaml: YamlText, map: YAMLMap, key: string): Pair | undefined {
  const own = findPair(yaml, map, key);
  if (own) return own;
  const merged = map.items.filter((pair) => isScalar(pair.key) && (pair.key.value === '<<' || typeof pair.key.value === 'symbol'));
  for (const pair of merged) {
    const source = resolveNode(yaml, pair.value);
    const maps: unknown[] = isMap(source) ? [source] : (source as { items?: unknown[] } | undefined)?.items ?? [];
    for (const each of maps) {
      const inner = resolveNode(yaml, each);
      const found = isMap(inner) ? effectivePair(yaml, inner, key) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}

/**
 * Sets the scalar at `path` (keys of nested maps) and changes nothing but its own bytes: an existing value gives way to the
 * new one in its own quotes, a missing one is inserted beside its neighbours. The result is parsed again and must differ from
 * the old document in that one value.
 * Failures: `bad-yaml`; `yaml-shared` (the value, or a map on the way, is an alias or is used elsewhere through its anchor);
 * `yaml-place` (the document has a shape in which no safe place was found).
 */
export function setYamlValue(text: string, path: readonly string[], value: YamlScalar, file: string, firstLine = 1): YamlEdit {
  const yaml = parseYaml(text, file, firstLine);
  const wanted = canonicalJson(withValue(yaml.value, path, value, yaml));
  for (const edit of candidates(yaml, path, value)) {
    const after = text.slice(0, edit.at) + edit.insert + text.slice(edit.at + edit.remove);
    let parsed: YamlText;
    try {
      parsed = parseYaml(after, file, firstLine);
    } catch {
      continue;
    }
    if (canonicalJson(parsed.value ?? null) !== wanted) continue;
    return { text: after, range: [edit.at, edit.at + edit.insert.length], replaced: edit.remove, line: parsed.lineAt(valueOffset(parsed, path)) };
  }
  const shared = sharedBy(yaml, path);
  if (shared) throw shared;
  throw new Failure('yaml-place', `${file}: no place was found where ${path.join('.')} can be set without touching anything else.`,
    `Set ${path.join('.')} by hand.`, 2, { file });
}

interface Candidate { at: number; remove: number; insert: string }

/** The value as JSON with one entry changed. Copied through JSON, so that what aliases share is apart in the copy. */
function withValue(before: unknown, path: readonly string[], value: YamlScalar, yaml: YamlText): unknown {
  const copy = before === undefined || before === null ? {} : JSON.parse(canonicalJson(before)) as unknown;
  let map = asMap(copy, yaml, []);
  for (const [index, key] of path.slice(0, -1).entries()) {
    map[key] ??= {};
    map = asMap(map[key], yaml, path.slice(0, index + 1));
  }
  map[path.at(-1) ?? ''] = value;
  return copy;
}

function asMap(value: unknown, yaml: YamlText, path: readonly string[]): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badYaml(yaml.file, lineOf(yaml, yaml.document.contents), `${path.length ? path.join('.') : 'the document'} is no mapping.`);
  }
  return value as Record<string, unknown>;
}

function* candidates(yaml: YamlText, path: readonly string[], value: YamlScalar): Generator<Candidate> {
  const root = yaml.document.contents;
  const bom = yaml.text.startsWith('\uFEFF') ? 1 : 0;
  const end = endOfLine(yaml.text, bom);
  if (root === null || (isScalar(root) && root.value === null)) {
    yield* appended(yaml, block(path, value, '', end), end);
    return;
  }
  let map: Node = root;
  for (const [index, key] of path.entries()) {
    if (!isMap(map)) return;
    const pair = findPair(yaml, map, key);
    const rest = path.slice(index);
    if (!pair) {
      if (map.flow) yield* insertedInFlow(map, rest, value);
      else {
        if (index === 0) yield* appended(yaml, block(rest, value, indentOf(yaml, map), end), end);
        yield* insertedInBlock(yaml, map, rest, value, end);
      }
      return;
    }
    const node = pair.value as ParsedNode | null;
    if (index === path.length - 1) {
      yield* replaced(pair, node, value);
      return;
    }
    if (node === null || (isScalar(node) && node.value === null)) {
      yield* filled(yaml, map, pair, rest.slice(1), value, end);
      return;
    }
    map = node;
  }
}

function* replaced(pair: Pair, node: ParsedNode | null, value: YamlScalar): Generator<Candidate> {
  const range = node?.range;
  if (!range || range[0] === range[1]) {
    const at = range ? colonEnd(pair) ?? range[0] : colonEnd(pair);
    if (at !== undefined) yield { at, remove: 0, insert: ` ${scalarText(value)}` };
    return;
  }
  const type = isScalar(node) ? node.type : undefined;
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : '';
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
  yield { at: range[0], remove: range[1] - range[0], insert: scalarText(value, quote) + (isBlock ? '\n' : '') };
}

/** Below `key:` with no value: the children on lines of their own, or in flow where lines mean nothing. */
function* filled(yaml: YamlText, map: YAMLMap, pair: Pair, rest: readonly string[], value: YamlScalar, end: string): Generator<Candidate> {
  const node = pair.value as ParsedNode | null;
  const flow = ` {${flowText(rest, value, false)}}`;
  if (node?.range && node.range[0] !== node.range[1]) {
    yield { at: node.range[0], remove: node.range[1] - node.range[0], insert: flow.trimStart() };
    return;
  }
  const colon = colonEnd(pair);
  if (colon === undefined) return;
  if (!map.flow) {
    const at = endOfLineAt(yaml.text, colon);
    yield { at, remove: 0, insert: end + block(rest, value, indentOf(yaml, map) + '  ', end) };
  }
  yield { at: colon, remove: 0, insert: flow };
}

function* insertedInFlow(map: YAMLMap, rest: readonly string[], value: YamlScalar): Generator<Candidate> {
  const json = map.items.length > 0 && map.items.every((pair) => isScalar(pair.key) && pair.key.type === 'QUOTE_DOUBLE');
  const insert = flowText(rest, value, json);
  const last = map.items.at(-1);
  if (!last) {
    if (map.range) yield { at: map.range[0] + 1, remove: 0, insert };
    return;
  }
  const at = lastEnd(last);
  if (at !== undefined) yield { at, remove: 0, insert: `, ${insert}` };
}

function* insertedInBlock(yaml: YamlText, map: YAMLMap, rest: readonly string[], value: YamlScalar, end: string): Generator<Candidate> {
  const lines = block(rest, value, indentOf(yaml, map), end);
  const last = map.items.at(-1);
  const after = last ? lastEnd(last) : undefined;
  if (after !== undefined) {
    if (yaml.text[after - 1] === '\n') yield { at: after, remove: 0, insert: lines + end };
    else yield { at: endOfLineAt(yaml.text, after), remove: 0, insert: end + lines };
  }
  const first = map.items[0]?.key as Node | undefined;
  if (first?.range) yield { at: lineStart(yaml.text, first.range[0]), remove: 0, insert: lines + end };
}

/** At the end of the document, behind everything that is there. */
function* appended(yaml: YamlText, lines: string, end: string): Generator<Candidate> {
  const { text } = yaml;
  const blank = text.trim().length > 0 && yaml.lineAt(0) === 1 ? end : '';
  const before = text.length > 0 && text !== '\uFEFF' && !text.endsWith('\n') ? end : '';
  yield { at: text.length, remove: 0, insert: before + blank + lines + end };
  // Behind an end marker (`...`) nothing may follow: before it then.
  const marker = /^\.\.\.[ \t]*\r?$/m.exec(text);
  if (marker) yield { at: marker.index, remove: 0, insert: lines + end };
}

/** The end of what a pair says, without the comment and line break behind it. */
function lastEnd(pair: Pair): number | undefined {
  const node = pair.value as ParsedNode | null;
  if (!node?.range || (isScalar(node) && node.range[0] === node.range[1])) return colonEnd(pair) ?? (pair.key as Node | null)?.range?.[1];
  const items: unknown = 'items' in node && !node.flow ? node.items.at(-1) : undefined;
  if (items === undefined) return node.range[1];
  if (typeof items === 'object' && items !== null && 'key' in items) return lastEnd(items as Pair);
  return (items as Node).range?.[1];
}

function colonEnd(pair: Pair): number | undefined {
  const token = pair.srcToken as { sep?: { type: string; offset: number; source: string }[] } | undefined;
  const colon = token?.sep?.find((part) => part.type === 'map-value-ind');
  return colon ? colon.offset + colon.source.length : undefined;
}

function indentOf(yaml: YamlText, map: YAMLMap): string {
  const first = map.items[0]?.key as Node | undefined;
  if (!first?.range) return '';
  const start = lineStart(yaml.text, first.range[0]);
  return ' '.repeat(first.range[0] - start - (start === 0 && yaml.text.startsWith('\uFEFF') ? 1 : 0));
}

function lineStart(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && text.startsWith('\uFEFF') && offset > 0 ? 1 : start;
}

/** The offset at which the line of `offset` ends, before its line break. */
function endOfLineAt(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline < 0) return text.length;
  return text[newline - 1] === '\r' && newline > offset ? newline - 1 : newline;
}

/** The line break in use: that of the first line. */
function endOfLine(text: string, from: number): string {
  const newline = text.indexOf('\n', from);
  return newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
}

function scalarText(value: YamlScalar, quote = ''): string {
  if (typeof value === 'boolean') return String(value);
  if (quote === "'") return `'${value.replaceAll("'", "''")}'`;
  // `off`, `yes` and their like are booleans in YAML 1.1 and strings in 1.2: quotes leave no doubt.
  const plain = /^[A-Za-z][A-Za-z0-9_-]*$/.test(value) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(value);
  return quote === '' && plain ? value : JSON.stringify(value);
}

function block(path: readonly string[], value: YamlScalar, indent: string, end: string): string {
  return path.map((key, depth) => `${indent}${'  '.repeat(depth)}${key}:${depth === path.length - 1 ? ` ${scalarText(value)}` : ''}`).join(end);
}

function flowText(path: readonly string[], value: YamlScalar, json: boolean): string {
  const [key = '', ...rest] = path;
  const name = json ? JSON.stringify(key) : key;
  const inner = rest.length > 0 ? `{${flowText(rest, value, json)}}` : scalarText(value, json && typeof value === 'string' ? '"' : '');
  return `${name}: ${inner}`;
}

function valueOffset(yaml: YamlText, path: readonly string[]): number {
  let node: unknown = yaml.document.contents;
  let offset = 0;
  for (const key of path) {
    const pair = isMap(node) ? findPair(yaml, node, key) : undefined;
    if (!pair) break;
    offset = (pair.key as Node | null)?.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}

/** Why the value at `path` cannot be set alone: it, or a map on the way, is shared through an anchor. */
function sharedBy(yaml: YamlText, path: readonly string[]): Failure | undefined {
  let node: unknown = yaml.document.contents;
  const names = new Set<string>();
  const uses: Alias[] = [];
  visit(yaml.document, { Alias: (_key, alias) => { names.add(alias.source); uses.push(alias); } });
  for (const key of ['', ...path]) {
    const pair = key === '' ? undefined : isMap(node) ? findPair(yaml, node, key) : undefined;
    if (key !== '') node = pair?.value;
    const anchor = (node as { anchor?: string } | null | undefined)?.anchor;
    const name = isAlias(node) ? node.source : anchor !== undefined && names.has(anchor) ? anchor : undefined;
    if (name === undefined) continue;
    const line = lineOf(yaml, pair?.key ?? node);
    const other = uses.find((alias) => alias.source === name && alias !== node);
    const what = isAlias(node) ? `is the alias *${name}` : `is also used as *${name}${other ? ` on line ${String(lineOf(yaml, other))}` : ''}`;
    return new Failure('yaml-shared', `${yaml.file}:${String(line)}: ${key || 'the document'} ${what}, so setting ${path.join('.')} would change more than that.`,
      `Write the value out there by hand, then try again.`, 2, { file: yaml.file, line });
  }
  return undefined;
}
