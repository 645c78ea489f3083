import fs from 'node:fs';
import * as z from 'zod/mini';

/** How much of a transcript is read at most, from its end (design §8). */
export const TAIL_BYTES = 64 * 1024;
/** The first look: most transcripts end in what is wanted. */
const FIRST_BYTES = 16 * 1024;
const DEFAULT_WINDOW = 200_000;
const LARGE_WINDOW = 1_000_000;

/** Why there is no figure: right after a clear or compact, or nothing within reach of the end tells. */
export type NoFigure = 'after-boundary' | 'not-started' | 'not-in-tail';

/** What a transcript's end tells. Everything is optional: the format is the harness's own and changes between its versions. */
export interface TranscriptTail {
  /** Tokens in the window: the prompt of the last answer. Null with `reason`. */
  tokens: number | null;
  reason: NoFigure | null;
  /** The window's size; `assumed` when neither transcript nor model tells. */
  window: number;
  windowFrom: 'transcript' | 'model' | 'assumed';
  model: string | null;
  /** The folder it works in, as its last record has it. */
  cwd: string | null;
  sessionId: string | null;
  title: string | null;
  /** RFC 3339, of the last record that has one. */
  lastRecord: string | null;
  /** Lines in the tail that are no JSON object: the first and the last are often cut. */
  skipped: number;
  bytesRead: number;
  size: number;
}

const count = z.optional(z.number());
const Usage = z.looseObject({ input_tokens: count, cache_creation_input_tokens: count, cache_read_input_tokens: count });
const Record = z.looseObject({
  type: z.optional(z.string()),
  subtype: z.optional(z.string()),
  isSidechain: z.optional(z.boolean()),
  isCompactSummary: z.optional(z.boolean()),
  isApiErrorMessage: z.optional(z.boolean()),
  cwd: z.optional(z.string()),
  sessionId: z.optional(z.string()),
  timestamp: z.optional(z.string()),
  message: z.optional(z.unknown()),
  customTitle: z.optional(z.string()),
  aiTitle: z.optional(z.string()),
  lastPrompt: z.optional(z.string()),
});
const Answer = z.looseObject({ model: z.optional(z.string()), usage: z.optional(Usage) });

/**
 * Reads the end of a transcript, 64 KB at most whatever its size. Undefined when it is gone or no regular file.
 * The figure is that of the harness's own status line: input, cache creation and cache read tokens of the last answer that is no sub-agent's;
 * unknown from a boundary until the next answer, never the value from before it.
 */
export function readTail(file: string): TranscriptTail | undefined {
  let fd: number;
  try {
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(Math.min(TAIL_BYTES, stat.size));
    let from = stat.size;
    const extend = (bytes: number): void => {
      const start = Math.max(0, stat.size - bytes);
      // Read behind what is there already, so that no byte is read twice.
      const position = buffer.length - (stat.size - start);
      fs.readSync(fd, buffer, position, from - start, start);
      from = start;
    };
    extend(Math.min(FIRST_BYTES, buffer.length));
    let tail = readRecords(buffer.subarray(buffer.length - (stat.size - from)), from === 0);
    if (from > 0 && (tail.tokens === null && tail.reason === 'not-in-tail' || tail.cwd === null || tail.title === null)) {
      extend(buffer.length);
      tail = readRecords(buffer, from === 0);
    }
    return { ...tail, bytesRead: stat.size - from, size: stat.size };
  } catch {
    return undefined; // it went away while it was read
  } finally {
    fs.closeSync(fd);
  }
}

/** What the records in a piece of a transcript tell, the last ones first. `whole`: the piece begins at the file's start. */
export function readRecords(bytes: Buffer, whole: boolean): Omit<TranscriptTail, 'bytesRead' | 'size'> {
  const tail = {
    tokens: null as number | null, reason: null as NoFigure | null, window: 0, windowFrom: 'assumed' as TranscriptTail['windowFrom'], model: null as string | null,
    cwd: null as string | null, sessionId: null as string | null, title: null as string | null, lastRecord: null as string | null, skipped: 0,
  };
  let decided = false;
  const titles: { custom?: string; ai?: string; prompt?: string } = {};
  let end = bytes.length;
  while (end > 0) {
    const start = bytes.lastIndexOf(10, end - 1) + 1;
    const isCut = start === 0 && !whole;
    const line = bytes.toString('utf8', start, end).trim();
    end = start - 1;
    if (isCut) break;
    if (line === '') continue;
    const record = parseRecord(line);
    if (!record) {
      tail.skipped += 1;
      continue;
    }
    tail.cwd ??= record.cwd ?? null;
    tail.sessionId ??= record.sessionId ?? null;
    tail.lastRecord ??= record.timestamp ?? null;
    titles.custom ??= record.customTitle;
    titles.ai ??= record.aiTitle;
    titles.prompt ??= record.lastPrompt;
    if (tail.windowFrom === 'assumed') {
      const told = windowIn(record);
      if (told !== undefined) [tail.window, tail.windowFrom] = [told, 'transcript'];
    }
    if (decided) continue;
    if (isBoundary(record)) {
      [tail.reason, decided] = ['after-boundary', true];
    } else {
      const answer = answerOf(record);
      if (answer) [tail.tokens, tail.model, decided] = [answer.tokens, answer.model, true];
    }
  }
  if (!decided) tail.reason = whole ? 'not-started' : 'not-in-tail';
  const title = titles.custom ?? titles.ai ?? titles.prompt;
  if (title !== undefined && title.trim() !== '') tail.title = title.replace(/\s+/g, ' ').trim().slice(0, 200);
  if (tail.windowFrom === 'assumed') {
    const large = /\[1m\]/i.test(tail.model ?? '') || (tail.tokens ?? 0) > DEFAULT_WINDOW;
    tail.window = large ? LARGE_WINDOW : DEFAULT_WINDOW;
    if (/\[1m\]/i.test(tail.model ?? '')) tail.windowFrom = 'model';
  }
  return tail;
}

type TranscriptRecord = z.infer<typeof Record>;

function parseRecord(line: string): TranscriptRecord | undefined {
  try {
    const parsed = Record.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** A compaction's boundary or summary: what stands before it is no longer in the window. */
function isBoundary(record: TranscriptRecord): boolean {
  return (record.type === 'system' && (record.subtype ?? '').endsWith('compact_boundary')) || record.isCompactSummary === true;
}

/** The prompt size of an answer of the main conversation; the harness's own notices have no model and no usage. */
function answerOf(record: TranscriptRecord): { tokens: number; model: string | null } | undefined {
  if (record.type !== 'assistant' || record.isSidechain === true || record.isApiErrorMessage === true) return undefined;
  const answer = Answer.safeParse(record.message);
  if (!answer.success || answer.data.usage === undefined || answer.data.model === '<synthetic>') return undefined;
  const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = answer.data.usage;
  const tokens = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
  return tokens > 0 ? { tokens, model: answer.data.model ?? null } : undefined;
}

/** A window size that a record states (`contextWindow` of a model's usage). */
function windowIn(record: TranscriptRecord): number | undefined {
  const models: unknown = record['modelUsage'] ?? (record['costState'] as { modelUsage?: unknown } | undefined)?.modelUsage;
  if (models === null || typeof models !== 'object') return undefined;
  const sizes = Object.values(models).map((model) => (model as { contextWindow?: unknown } | null)?.contextWindow).filter((size): size is number => typeof size === 'number' && size > 0);
  return sizes.length > 0 ? Math.max(...sizes) : undefined;
}
