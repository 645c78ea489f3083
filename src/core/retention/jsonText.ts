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

const quote = 34;
const backslash = 92;

/** The position behind the closing quote of the string that starts at `start`; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

/**
 * The members of the object at `from`, `levels` deep, and how many members there are at any depth.
 * This only finds places, in one pass; whether the text is valid JSON is for JSON.parse to say.
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

/** The key of a member, escapes decoded (as it stands where the text is not valid JSON). */
export function keyOf(text: string, member: Member): string {
  const raw = text.slice(member.keyStart + 1, member.keyEnd - 1);
  return raw.includes('\\') ? String(parse(`"${raw}"`)?.value ?? raw) : raw;
}

/** The members of parsed JSON, at any depth. Iterative: JSON nests deeper than the call stack. */
function countKeys(value: unknown): number {
  let count = 0;
  const waiting: unknown[] = [];
  for (let next = value; next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) {
      for (const inner of next) if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    } else if (isObject(next)) {
      // Parsed JSON inherits nothing enumerable; for-in makes no list of the keys.
      for (const key in next) {
        count++;
        const inner = next[key];
        if (typeof inner === 'object' && inner !== null) waiting.push(inner);
      }
    }
  }
  return count;
}

type Problem = { problem: 'invalid-json' | 'duplicate-key' };

/** The value of strict JSON (RFC 8259, one document), or undefined. */
function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Reads one JSON value strictly; a byte order mark at its start is allowed.
 * Two equal keys in one object leave fewer keys in the parsed value than members in the text: such a text means two things at once.
 */
export function readJson(text: string): { value: unknown } | Problem {
  const from = text.startsWith('\ufeff') ? 1 : 0;
  const parsed = parse(text.slice(from));
  if (parsed === undefined) return { problem: 'invalid-json' };
  return countKeys(parsed.value) === scanMembers(text, from, text.length, 0).count ? parsed : { problem: 'duplicate-key' };
}

/** A file that keeps its entries in an object of its top level. */
export interface EntryFile<T> {
  text: string;
  /** The members of the top level, and the one that holds the entries. */
  members: Member[];
  container: Member;
  /** What `read` made of each entry, in file order. */
  entries: T[];
}

/**
 * Reads such a file strictly, or says why it cannot be understood.
 * Each entry is parsed alone and given to `read`, so that a large file never is in memory as values; the rest is parsed with a 0 in the place
 * of each entry. If all these parts are valid JSON then the whole is, and only then: a member's value ends at the comma or brace behind it.
 */
export function readEntries<T>(text: string, field: 'targets' | 'runs', read: (key: string, value: unknown, member: Member) => T): EntryFile<T> | { problem: Skip } {
  const from = text.startsWith('\ufeff') ? 1 : 0;
  const { members, count } = scanMembers(text, from, text.length, 2);
  const container = members.find((member) => member.members !== undefined && keyOf(text, member) === field);
  const found = container?.members ?? [];

  const rest: string[] = [];
  const entries: T[] = [];
  let position = from;
  let keys = 0;
  for (const member of found) {
    const parsed = parse(text.slice(member.start, member.end));
    if (parsed === undefined) return { problem: 'invalid-json' };
    keys += countKeys(parsed.value);
    rest.push(text.slice(position, member.start));
    position = member.end;
    entries.push(read(keyOf(text, member), parsed.value, member));
  }
  rest.push(text.slice(position));
  const outer = parse(rest.join('0'));
  if (outer === undefined) return { problem: 'invalid-json' };
  if (keys + countKeys(outer.value) !== count) return { problem: 'duplicate-key' };
  if (container === undefined || !isObject(outer.value)) return { problem: 'not-an-object' };
  return { text, members, container, entries };
}
