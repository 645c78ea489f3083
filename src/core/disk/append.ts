import fs from 'node:fs';
import path from 'node:path';
import { flushDirectories, makeDirectories, writeAll } from './durable';
import { Failure } from './failure';

export interface AppendRequest {
  file: string;
  /** Where the file ended when the append was decided. */
  offset: number;
  bytes: Buffer;
  /** Refuse instead of appending behind what others appended meanwhile (a transcript's sequence would break). */
  exclusive?: boolean;
}

/** The size of a log, and whether its last byte is a newline. A missing or empty file counts as ending with one. */
export function endOf(file: string): { size: number; endsWithNewline: boolean } {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (!stat || stat.size === 0) return { size: 0, endsWithNewline: true };
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const { size } = fs.fstatSync(fd);
    const last = Buffer.alloc(1);
    fs.readSync(fd, last, 0, 1, size - 1);
    return { size, endsWithNewline: last[0] === 0x0a };
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Appends bytes exactly once, also after a crash half-way (design §3): end = offset → append; those bytes there → done; a prefix
 * of them at the end → write the rest; others appended meanwhile → look for ours behind the offset, else append.
 * Gives `already` when nothing had to be written. Failures: `changed` (the file shrank, or `exclusive` and others wrote), the file system's own.
 */
export function appendOnce(request: AppendRequest): 'done' | 'already' {
  const { file, offset, bytes } = request;
  const touched = makeDirectories(path.dirname(file));
  const isNew = !fs.existsSync(file);
  const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK, 0o600);
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw new Failure('unsafe-path', `${file} is no regular file.`, 'Look at it and move it away by hand.');
    if (stat.size < offset) throw new Failure('changed', `${file} is shorter than it was.`, 'Look at who rewrote it, then try again.');
    const there = Buffer.alloc(stat.size - offset);
    fs.readSync(fd, there, 0, there.length, offset);
    let rest: Buffer | undefined = bytes;
    let start = stat.size;
    if (there.length > 0) {
      if (there.length < bytes.length && bytes.subarray(0, there.length).equals(there)) { rest = bytes.subarray(there.length); start = offset; }
      else if (there.includes(bytes)) rest = undefined;
      else if (request.exclusive) throw new Failure('changed', `${file} was appended to by another program.`, 'Run the command again.');
      else rest = missingLines(there, bytes);
    }
    if (rest === undefined || rest.length === 0) return 'already';
    try {
      writeAll(fd, rest);
      fs.fsyncSync(fd);
    } catch (error) {
      takeBack(fd, start, start === offset ? bytes : rest);
      throw error;
    }
  } finally {
    fs.closeSync(fd);
  }
  if (isNew) flushDirectories([path.dirname(file), ...touched]);
  return 'done';
}

/**
 * An append that failed half-way leaves nothing: all of it is there or none. Only the beginning of our own bytes at the very end is cut off;
 * behind what another program appended meanwhile it stays, for the reader to report.
 */
function takeBack(fd: number, start: number, ours: Buffer): void {
  try {
    const part = Buffer.alloc(Math.min(fs.fstatSync(fd).size - start, ours.length + 1));
    fs.readSync(fd, part, 0, part.length, start);
    if (part.length === 0 || !ours.subarray(0, part.length).equals(part)) return;
    fs.ftruncateSync(fd, start);
    fs.fsyncSync(fd);
  } catch { /* the first error is the one to tell */ }
}

/** The lines of ours that are not behind the offset yet, on lines of their own. */
function missingLines(there: Buffer, bytes: Buffer): Buffer {
  const present = new Set(there.toString('utf8').split('\n'));
  const lines = bytes.toString('utf8').split('\n').filter((line) => line !== '' && !present.has(line));
  if (lines.length === 0) return Buffer.alloc(0);
  const separator = there.at(-1) === 0x0a ? '' : '\n';
  return Buffer.from(`${separator}${lines.join('\n')}\n`);
}
