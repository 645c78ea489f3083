import { isObject } from './decision';
import type { Skip } from './decision';

/** A member of a JSON object by its place in the text. `start` to `end` is the value, `keyStart` the quote before the key. */
export interface Member {
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
  /** The value's own members, when it is an object and the scan went that deep. */
  members?: Member[];
}

/** A JSON document whose top level is an object: its values, and where its members and their members stand in the text. */
export interface JsonDocument { text: string; value: Record<string, unknown>; members: Member[] }

const quote = 34;
const backslash = 92;

/** The position behind the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
}

/**
 * The members of the object at `from`, `levels` deep, and how many members there are at any depth.
 * The text must be valid JSON up to `to` (JSON.parse saw it): this only finds places, in one pass.
 */
export function scanMembers(text: string, from: number, to: number, levels: number): { members: Member[]; count: number } {
  const lists: Member[][] = [[], []];
  const open: (Member | undefined)[] = [];
  let depth = 0;
  let count = 0;
  let keyStart = 0;
  let tokenEnd = from;
  for (let i = from; i < to; i++) {
    switch (text.charCodeAt(i)) {
      case 32: case 10: case 13: case 9:
        continue;
      case quote:
        keyStart = i;
        i = endOfString(text, i) - 1;
        break;
      case 123: // {
        depth++;
        if (depth > 1 && depth <= levels) {
          const members: Member[] = [];
          lists[depth] = members;
          const parent = open[depth - 1];
          if (parent !== undefined) parent.members = members;
        }
        break;
      case 91: // [
        depth++;
        break;
      case 125: case 93: case 44: // } ] ,
        if (depth <= levels) {
          const member = open[depth];
          if (member !== undefined) member.end = tokenEnd;
          open[depth] = undefined;
        }
        if (text.charCodeAt(i) !== 44) depth--;
        break;
      case 58: { // :
        count++;
        if (depth > levels) break;
        let start = i + 1;
        while (isWhiteSpace(text.charCodeAt(start))) start++;
        const member: Member = { keyStart, keyEnd: tokenEnd, start, end: start };
        open[depth] = member;
        lists[depth]?.push(member);
        break;
      }
    }
    tokenEnd = i + 1;
  }
  return { members: lists[1] ?? [], count };
}

export function isWhiteSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** The key of a member, escapes decoded. */
export function keyOf(text: string, member: Member): string {
  const raw = text.slice(member.keyStart + 1, member.keyEnd - 1);
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
}

/** The members of parsed JSON, at any depth. Iterative: JSON nests deeper than the call stack. */
function countKeys(value: unknown): number {
  let count = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const values: unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) count += values.length;
    for (const inner of values) if (typeof inner === 'object' && inner !== null) waiting.push(inner);
  }
  return count;
}

/**
 * Reads JSON text strictly (RFC 8259, one document, a byte order mark at the start allowed).
 * Two equal keys in one object leave fewer keys in the parsed value than members in the text: such a file means two things at once.
 */
export function readJson(text: string, levels: number): { value: unknown; members: Member[] } | { problem: 'invalid-json' | 'duplicate-key' } {
  const from = text.startsWith('\ufeff') ? 1 : 0;
  let value: unknown;
  try {
    value = JSON.parse(from === 0 ? text : text.slice(from));
  } catch {
    return { problem: 'invalid-json' };
  }
  const { members, count } = scanMembers(text, from, text.length, levels);
  if (countKeys(value) !== count) return { problem: 'duplicate-key' };
  return { value, members: isObject(value) ? members : [] };
}

/** A file that keeps its entries in the object `field` of its top level. */
export interface EntryFile extends JsonDocument {
  /** The member `field` itself. */
  container: Member;
  /** Key, place and value of each entry, in file order. */
  entries: { key: string; member: Member; value: unknown }[];
}

/** Reads such a file, or says why it cannot be understood. */
export function readEntries(text: string, field: 'targets' | 'runs'): EntryFile | { problem: Skip } {
  const read = readJson(text, 2);
  if ('problem' in read) return read;
  const { value, members } = read;
  if (!isObject(value)) return { problem: 'not-an-object' };
  const container = members.find((member) => keyOf(text, member) === field);
  const values = container === undefined ? undefined : value[field];
  if (container === undefined || !isObject(values)) return { problem: 'not-an-object' };
  const entries = (container.members ?? []).map((member) => {
    const key = keyOf(text, member);
    return { key, member, value: values[key] };
  });
  return { text, value, members, container, entries };
}
