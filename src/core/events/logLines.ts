import fs from 'node:fs';
import { codeOf, Failure, messageOf } from '../disk/failure';
import { unsafePath } from '../disk/reader';

/** A line longer than this is reported, not read. */
export const MAX_LINE = 1024 * 1024;
const CHUNK = 64 * 1024;

/** One line of a log. */
export interface LogLine {
  /** Where it starts, in bytes. */
  offset: number;
  /** Where the next one starts. */
  next: number;
  /** Without its newline; undefined when it is too long. */
  text: string | undefined;
  /** False: the last line of the file, without a newline; it may still be written. */
  ended: boolean;
}

/** Opens a log for reading; undefined when it is not there. The caller closes it. Failures: `unsafe-path` (no regular file), `io`. */
export function openLog(file: string): number | undefined {
  try {
    // O_NONBLOCK: a pipe at the path must not hang the reader. A link is fine: people keep logs where they like.
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    if (fs.fstatSync(fd).isFile()) return fd;
    fs.closeSync(fd);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure('io', `${file} cannot be read: ${messageOf(error)}.`, 'Check the permissions and the disk, then try again.');
  }
  throw unsafePath(file, 'no regular file');
}

/** The lines from `start` (the start of a line) to `end`, first to last. */
export function* linesForward(fd: number, start: number, end: number): Generator<LogLine> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let parts: Buffer[] = [];
  let length = 0;
  let lineStart = start;
  for (let position = start; position < end;) {
    const read = fs.readSync(fd, chunk, 0, Math.min(CHUNK, end - position), position);
    if (read === 0) break;
    let from = 0;
    for (let newline = chunk.indexOf(10, 0); newline !== -1 && newline < read; newline = chunk.indexOf(10, from)) {
      length += newline - from;
      parts.push(chunk.subarray(from, newline));
      yield { offset: lineStart, next: position + newline + 1, text: length > MAX_LINE ? undefined : Buffer.concat(parts).toString('utf8'), ended: true };
      parts = [];
      length = 0;
      from = newline + 1;
      lineStart = position + from;
    }
    length += read - from;
    // The chunk is used again: what stays is copied, but never more than a line may have.
    if (length <= MAX_LINE) parts.push(Buffer.from(chunk.subarray(from, read)));
    position += read;
  }
  if (length > 0) yield { offset: lineStart, next: lineStart + length, text: length > MAX_LINE ? undefined : Buffer.concat(parts).toString('utf8'), ended: false };
}

/** The lines before `end` (the end of the file), last to first; a long log is read only as far as the lines are taken. */
export function* linesBackward(fd: number, end: number): Generator<LogLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let ended = false;
  const line = (offset: number): LogLine => {
    const next = offset + length + (ended ? 1 : 0);
    const text = length > MAX_LINE ? undefined : Buffer.concat(parts.reverse()).toString('utf8');
    parts = [];
    length = 0;
    return { offset, next, text, ended };
  };
  for (let position = end; position > 0;) {
    const size = Math.min(CHUNK, position);
    const chunk = Buffer.allocUnsafe(size);
    if (fs.readSync(fd, chunk, 0, size, position - size) < size) return; // truncated meanwhile
    position -= size;
    let to = size;
    while (to > 0) {
      const newline = chunk.lastIndexOf(10, to - 1);
      if (newline === -1) break;
      length += to - newline - 1;
      parts.push(chunk.subarray(newline + 1, to));
      // The first newline from the end closes the last line; there is no line behind it.
      if (ended || length > 0) yield line(position + newline + 1);
      else parts = [];
      ended = true;
      to = newline;
    }
    length += to;
    if (length <= MAX_LINE) parts.push(chunk.subarray(0, to));
  }
  if (length > 0 || ended) yield line(0);
}

/** The end of the last whole line: what is behind it is still being written, or torn. */
export function endOfLines(fd: number): number {
  const { size } = fs.fstatSync(fd);
  for (const line of linesBackward(fd, size)) return line.ended ? size : line.offset;
  return 0;
}

/** How many lines end before `offset`: the number of the line that starts there, less one. */
export function linesBefore(fd: number, offset: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK * 16);
  let count = 0;
  for (let position = 0; position < offset;) {
    const read = fs.readSync(fd, chunk, 0, Math.min(chunk.length, offset - position), position);
    if (read === 0) break;
    const part = chunk.subarray(0, read);
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) count++;
    position += read;
  }
  return count;
}
