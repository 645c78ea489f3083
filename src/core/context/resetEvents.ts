import fs from 'node:fs';
import * as z from 'zod/mini';

/** The events of a clear or compact that used a checkpoint; `entry` is the hash of the log entry it used. */
const resetEvents = ['context.cleared', 'context.compacted'];

/** The log grows for ever; a reset further back than this is not the last thing that happened to an item. */
const REACH_BYTES = 8 * 1024 * 1024;

const Event = z.looseObject({ event: z.string(), work_item: z.optional(z.string()), session: z.optional(z.string()), entry: z.optional(z.string()) });

/**
 * The hash of the log entry that the last clear or compact of an item (or of a plain session) used: that entry is spent, a new checkpoint
 * needs a new one. Undefined when there was none. Reads the log's end only.
 */
export function spentEntry(log: string, item: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(log, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const { size } = fs.fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(size, REACH_BYTES));
    fs.readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    const lines = buffer.toString('utf8').split('\n');
    for (const line of lines.reverse()) {
      if (!resetEvents.some((name) => line.includes(name))) continue;
      const event = parse(line);
      if (event && resetEvents.includes(event.event) && (event.work_item === item || event.session === item)) return event.entry;
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

function parse(line: string): z.infer<typeof Event> | undefined {
  try {
    const parsed = Event.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
