import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';

/** No record comes near this size; a larger file is reported, not read. */
export const MAX_RECORD_BYTES = 8 * 1024 * 1024;

/** A file of the-loop's, as far as it can be read. Nothing here throws: one bad file must not hide the others. */
export type JsonFile =
  | { kind: 'absent' }
  /** A link, folder or device where a file is expected: it is not followed. */
  | { kind: 'unsafe'; why: string }
  /** `cause`: `io` the system refused to read it, `too-large`, `format` it is no JSON in UTF-8. `why` is a clause without a full stop. */
  | { kind: 'unreadable'; cause: 'io' | 'too-large' | 'format'; why: string }
  | { kind: 'json'; text: string; value: unknown };

/** Reads and parses a file. The text of a `json` result encodes back to the very bytes of the file. */
export function readJson(reader: Reader, file: string, limit = MAX_RECORD_BYTES): JsonFile {
  let text: string | undefined;
  try {
    text = reader.text(file, limit);
    if (text === undefined) return { kind: 'absent' };
    // A replacement character is in the file, or stands for bytes that are no UTF-8; those would be lost in a rewrite.
    if (text.includes('\ufffd') && !isUtf8(reader.bytes(file, limit))) return { kind: 'unreadable', cause: 'format', why: 'it is not UTF-8' };
    // JSON.parse fails on a mark at the start, and so does the-loop's reader.
    return { kind: 'json', text, value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof Failure)) return { kind: 'unreadable', cause: 'format', why: text === '' ? 'it is empty' : 'it is no JSON' };
    if (error.kind === 'unsafe-path') return { kind: 'unsafe', why: error.message.replace(/\.$/, '') };
    if (error.kind === 'too-large') return { kind: 'unreadable', cause: 'too-large', why: `it is larger than ${String(limit / 1024 / 1024)} MB` };
    return { kind: 'unreadable', cause: 'io', why: error.message.replace(/\.$/, '') };
  }
}

function isUtf8(bytes: Buffer | undefined): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? Buffer.alloc(0));
    return true;
  } catch {
    return false;
  }
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the-loop's language takes for true: nothing empty. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

export function textOr<T>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' ? value : fallback;
}

/** A member of a JSON object: its decoded name, and where name and value stand in the text. */
export interface Member { key: string; start: number; keyEnd: number; valueStart: number; valueEnd: number }

/**
 * The members of the outermost object, in the order they are written, each name as often as it occurs.
 * `text` must be valid JSON and an object (JSON.parse has taken it). It does not recurse: a file may be nested as deep as it likes.
 */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  const afterString = (from: number) => {
    let i = from + 1;
    while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
    return i + 1;
  };
  let i = text.indexOf('{') + 1;
  for (;;) {
    while (i < text.length && text[i] !== '"' && text[i] !== '}') i++;
    if (text[i] !== '"') return members;
    const start = i;
    i = afterString(i);
    const keyEnd = i;
    const key = JSON.parse(text.slice(start, keyEnd)) as string;
    i = text.indexOf(':', i) + 1;
    while (/\s/.test(text[i] ?? '')) i++;
    const valueStart = i;
    for (let depth = 0; ; i++) {
      const c = text[i];
      if (c === undefined) break;
      if (c === '"') i = afterString(i) - 1;
      else if (c === '{' || c === '[') depth++;
      else if (depth === 0 && (c === ',' || c === '}')) break;
      else if (c === '}' || c === ']') depth--;
    }
    let valueEnd = i;
    while (/\s/.test(text[valueEnd - 1] ?? '')) valueEnd--;
    members.push({ key, start, keyEnd, valueStart, valueEnd });
  }
}
