import fs from 'node:fs';
import { matches, type EventFilter, type LoggedEvent } from './filter';
import { endOfLines, linesBackward, linesBefore, linesForward, openLog, type LogLine } from './logLines';

/** A line that is no event, by its number from 1. */
export interface LogProblem { line: number; message: string }

export interface EventPage {
  /** In the order of the log. */
  events: LoggedEvent[];
  problems: LogProblem[];
  /** Where a follower goes on: behind the last whole line. */
  end: number;
}

/** The event in a line, null for a blank one, or what is wrong with it. */
export function parseLine(line: Pick<LogLine, 'text' | 'ended'>): LoggedEvent | string | null {
  if (line.text === undefined) return 'it is longer than 1 MB';
  if (line.text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(line.text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as LoggedEvent;
    return 'it is no JSON object';
  } catch {
    return line.ended ? 'it is no JSON' : 'it is not finished';
  }
}

/**
 * Reads the event log (the-loop §1.8). With `limit` the last so many events that match; the log is then read from its end, and only
 * as far as needed. Blank lines are passed over, others that are no events are reported. Failures: `unsafe-path`, `io`. No log: no events.
 */
export function readEvents(file: string, filter: EventFilter, limit = Infinity): EventPage {
  const fd = openLog(file);
  if (fd === undefined) return { events: [], problems: [], end: 0 };
  try {
    const { size } = fs.fstatSync(fd);
    const fromEnd = Number.isFinite(limit);
    if (limit < 1) return { events: [], problems: [], end: endOfLines(fd) };
    const events: LoggedEvent[] = [];
    const bad: { offset: number; message: string }[] = [];
    let end = size;
    for (const line of fromEnd ? linesBackward(fd, size) : linesForward(fd, 0, size)) {
      if (!line.ended) end = line.offset;
      const event = parseLine(line);
      if (typeof event === 'string') bad.push({ offset: line.offset, message: event });
      else if (event && matches(filter, event)) events.push(event);
      if (events.length >= limit) break;
    }
    if (fromEnd) {
      events.reverse();
      bad.reverse();
    }
    return { events, problems: numbered(fd, bad), end };
  } finally {
    fs.closeSync(fd);
  }
}

/** Line numbers are counted only where there is something to report. `bad` is in the order of the log. */
function numbered(fd: number, bad: { offset: number; message: string }[]): LogProblem[] {
  const last = bad.at(-1);
  if (!last) return [];
  const wanted = new Map(bad.map(({ offset, message }) => [offset, message]));
  const first = bad[0]?.offset ?? 0;
  const problems: LogProblem[] = [];
  let line = linesBefore(fd, first);
  for (const { offset } of linesForward(fd, first, fs.fstatSync(fd).size)) {
    line++;
    const message = wanted.get(offset);
    if (message !== undefined) problems.push({ line, message });
    if (offset >= last.offset) break;
  }
  return problems;
}

/** The question that an item's agent waits with. */
export interface Question { since: string; question: string }

/**
 * Which work items wait for an answer: a `session.awaiting_input` with no `session.reply_sent` behind it. Only the last `limit` bytes of
 * the log are read. Never fails: a log that cannot be read tells nothing.
 */
export function openQuestions(file: string, limit = 4 * 1024 * 1024): Map<string, Question> {
  const open = new Map<string, Question>();
  let fd: number | undefined;
  try {
    fd = openLog(file);
    if (fd === undefined) return open;
    const { size } = fs.fstatSync(fd);
    const length = Math.min(size, limit);
    const tail = Buffer.allocUnsafe(length);
    const read = fs.readSync(fd, tail, 0, length, size - length);
    // Most lines are about other things: they are not even decoded.
    for (const text of linesNaming(tail.subarray(0, read), ['"session.awaiting_input"', '"session.reply_sent"', '"session.reset"'])) {
      const event = parseLine({ text, ended: true });
      if (event === null || typeof event === 'string' || typeof event['work_item'] !== 'string') continue;
      const { work_item: ref, ts, question } = event;
      if (event['event'] === 'session.awaiting_input') open.set(ref, { since: typeof ts === 'string' ? ts : '', question: typeof question === 'string' ? question : '' });
      else if (event['event'] === 'session.reply_sent' || event['event'] === 'session.reset') open.delete(ref);
    }
  } catch {
    return open;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
  return open;
}

/** The whole lines in `tail` that contain one of `words`, in order. */
function linesNaming(tail: Buffer, words: readonly string[]): string[] {
  const lines = new Map<number, string>();
  for (const word of words) {
    for (let at = tail.indexOf(word); at !== -1;) {
      const start = tail.lastIndexOf(10, at) + 1;
      const newline = tail.indexOf(10, at);
      const end = newline === -1 ? tail.length : newline;
      lines.set(start, tail.toString('utf8', start, end));
      at = tail.indexOf(word, end);
    }
  }
  return [...lines].sort(([a], [b]) => a - b).map(([, text]) => text);
}
