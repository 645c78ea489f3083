import path from 'node:path';
import { toAscii } from '../disk/eventLine';
import type { Reader } from '../disk/reader';
import { isObject, isTruthy, membersOf, readJson } from './jsonFile';
import { tryRef, type WorkItemRef } from './ref';
import { factsOf, type SectionFacts } from './sections';

/** The sections a record is kept for, in the order of the index. */
export const SECTIONS = ['control', 'poll', 'graph'] as const;
export type SectionName = (typeof SECTIONS)[number];

/** `portable/<slug>.json`: what is known of a work item on any machine. */
export interface PortableRecord {
  /** As it is written; `ref` is undefined when that is no ref. */
  refText: string;
  ref: WorkItemRef | undefined;
  sealed: boolean;
  /** Facts: the section is there. `null`: deliberately not recorded. Absent: the record does not say. */
  sections: { [Name in SectionName]?: SectionFacts[Name] | null };
}

export type PortableFile =
  | { kind: 'absent' }
  | { kind: 'unsafe'; why: string }
  | { kind: 'unreadable'; cause: 'io' | 'too-large' | 'format'; why: string }
  /** Readable JSON without a `ref`: somebody else's file, unless it stands at a named item's own path. */
  | { kind: 'stranger'; why: string }
  | { kind: 'record'; record: PortableRecord; text: string };

export const INDEX_NAME = 'index.json';

/** The names that can be portable records. */
export function isPortableFileName(name: string): boolean {
  return name.endsWith('.json') && name !== INDEX_NAME;
}

export function portablePath(portableDir: string, slug: string): string {
  return `${portableDir}${path.sep}${slug}.json`;
}

/** Reads one portable record (the-loop §1.5). */
export function readPortable(reader: Reader, file: string): PortableFile {
  const found = readJson(reader, file);
  if (found.kind !== 'json') return found;
  const { value, text } = found;
  if (!isObject(value)) return { kind: 'stranger', why: 'it is no JSON object' };
  const refText = value['ref'];
  if (typeof refText !== 'string' || refText === '') return { kind: 'stranger', why: 'it has no ref' };
  const sections: PortableRecord['sections'] = {};
  if (Object.hasOwn(value, 'control')) sections.control = isObject(value['control']) ? factsOf.control(value['control']) : null;
  if (Object.hasOwn(value, 'poll')) sections.poll = isObject(value['poll']) ? factsOf.poll(value['poll']) : null;
  if (Object.hasOwn(value, 'graph')) sections.graph = isObject(value['graph']) ? factsOf.graph(value['graph']) : null;
  return { kind: 'record', text, record: { refText, ref: tryRef(refText), sealed: isTruthy(value['sealed']), sections } };
}

/** The record's text as it has to become, or `delete` when nothing is left that needs a file. */
export type Rewritten = { kind: 'write'; text: string } | { kind: 'delete' };

/** `ref` and `url` as they open every record. */
function head(ref: WorkItemRef): string[] {
  const members: [string, string][] = [['ref', ref.ref], ...(ref.url === undefined ? [] : [['url', ref.url] satisfies [string, string]])];
  return members.map(([key, value]) => `${JSON.stringify(key)}: ${toAscii(JSON.stringify(value))}`);
}

function object(members: string[]): string {
  return `{\n${members.map((member) => `  ${member}`).join(',\n')}\n}\n`;
}

/** A record that holds nothing but keeps the older layout's values from coming back. */
export function sealedText(ref: WorkItemRef): string {
  return object([...head(ref), '"sealed": true']);
}

/**
 * The record without the named sections: each becomes null, in its place or behind the others; with no section left the record
 * is deleted, or sealed where the older layout still holds something (the-loop §1.5, seal or delete).
 * `text` is the record as it is, or undefined when there is none. What is kept is kept to the byte: large numbers, unknown keys, their order.
 */
export function withoutSections(text: string | undefined, names: readonly SectionName[], ref: WorkItemRef, legacyHolds: boolean): Rewritten {
  // A Map keeps the first place and the last value of a name that is there twice, as the-loop's reader does.
  const members = new Map<string, { raw: string; value: string }>();
  if (text !== undefined) {
    for (const { key, start, keyEnd, valueStart, valueEnd } of membersOf(text)) members.set(key, { raw: text.slice(start, keyEnd), value: text.slice(valueStart, valueEnd) });
  }
  for (const name of names) members.set(name, { raw: members.get(name)?.raw ?? JSON.stringify(name), value: 'null' });
  if (!SECTIONS.some((name) => members.get(name)?.value.startsWith('{'))) return legacyHolds ? { kind: 'write', text: sealedText(ref) } : { kind: 'delete' };
  members.delete('ref');
  members.delete('url');
  return { kind: 'write', text: object([...head(ref), ...[...members.values()].map(({ raw, value }) => `${raw}: ${value}`)]) };
}
