import fs from 'node:fs';
import path from 'node:path';
import { parseLine } from './eventLog';
import { matches, type EventFilter, type LoggedEvent } from './filter';
import { endOfLines, linesForward, openLog } from './logLines';

export interface FollowOptions {
  signal: AbortSignal;
  /** Where to begin, as `readEvents` gave it. Absent: at the end of the log. */
  from?: number;
  /** How often to look when the system tells of no change. Default 500. */
  pollMs?: number;
}

/**
 * The events that are appended to a log from now on, until the signal. A line is given when it is whole. A log that was truncated is read
 * from its start, one that was replaced to its old end and then anew, one that is not there is waited for. Lines that are no events are passed over.
 * Failures: `unsafe-path`, `io`.
 */
export async function* followEvents(file: string, filter: EventFilter, options: FollowOptions): AsyncGenerator<LoggedEvent> {
  let fd = openLog(file);
  let position = fd === undefined ? 0 : options.from ?? endOfLines(fd);
  const wake = watch(file, options);
  try {
    while (!options.signal.aborted) {
      if (fd === undefined) {
        fd = openLog(file);
        position = 0;
        if (fd === undefined) await wake.next();
        continue;
      }
      // Asked before the reading: what comes in after it is read once more, before a replaced log is left.
      const replaced = !isStill(file, fd);
      const { size } = fs.fstatSync(fd);
      if (size < position) position = 0;
      for (const line of linesForward(fd, position, size)) {
        if (!line.ended) break;
        position = line.next;
        const event = parseLine(line);
        if (event !== null && typeof event !== 'string' && matches(filter, event)) yield event;
        if (isOver(options)) return;
      }
      if (replaced) {
        fs.closeSync(fd);
        fd = undefined;
      } else await wake.next();
    }
  } finally {
    wake.close();
    if (fd !== undefined) fs.closeSync(fd);
  }
}

// Read through a function: the compiler would take the loop's own check for the last word.
function isOver(options: FollowOptions): boolean {
  return options.signal.aborted;
}

/** True while the path leads to the opened file. */
function isStill(file: string, fd: number): boolean {
  const [there, open] = [fs.statSync(file, { bigint: true, throwIfNoEntry: false }), fs.fstatSync(fd, { bigint: true })];
  return there?.ino === open.ino && there.dev === open.dev;
}

/** Waits for a change near the file, for the next look that is due, or for the end. */
function watch(file: string, { signal, pollMs = 500 }: FollowOptions): { next(): Promise<void>; close(): void } {
  let ring = (): void => undefined;
  let missed = false;
  const wake = () => { missed = true; ring(); };
  let watcher: fs.FSWatcher | undefined;
  try {
    watcher = fs.watch(path.dirname(file), { persistent: false }, wake);
    watcher.on('error', () => { watcher?.close(); });
  } catch { /* looking from time to time is enough */ }
  signal.addEventListener('abort', wake, { once: true });
  return {
    next: () => new Promise<void>((resolve) => {
      const timer = setTimeout(wake, missed || signal.aborted ? 0 : pollMs);
      ring = () => {
        clearTimeout(timer);
        ring = () => undefined;
        missed = false;
        resolve();
      };
    }),
    close: () => {
      watcher?.close();
      signal.removeEventListener('abort', wake);
    },
  };
}
