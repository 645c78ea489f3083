import type { Actor, RetestEvent, TranscriptProblem } from '../../protocol/retest';

/** What is said about a transcript beside its events. Nothing in it is ever rewritten; what is wrong is named. */
export interface TranscriptState {
  problems: TranscriptProblem[];
  /** The lines that are no event, as they are. */
  unreadable: { line: number; text: string }[];
  /** Any problem but a torn tail. */
  corrupt: boolean;
  /** The last line was cut while it was written. */
  tornTail: boolean;
  /** The text ends without a line feed: the next append has to begin with one. */
  unterminated: boolean;
  /** How many readable events there are, duplicates included. */
  count: number;
  /** The sequence number that the next event gets. */
  nextSeq: number;
}

export interface Transcript extends TranscriptState {
  /** Every readable event in file order, duplicates included. */
  events: RetestEvent[];
}

const actors: ReadonlySet<unknown> = new Set<Actor>(['agent', 'operator', 'system']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// By hand and not by schema: a transcript may have 100,000 lines, and these five fields are all of the format.
function isEvent(value: unknown): value is RetestEvent {
  return isObject(value) && Number.isSafeInteger(value.seq) && (value.seq as number) >= 1
    && typeof value.ts === 'string' && typeof value.kind === 'string' && actors.has(value.actor) && isObject(value.payload);
}

/**
 * Reads a transcript event by event: JSON Lines, `seq` from 1 in steps of 1 (cases README, T2 and `corrupt`).
 * A gap goes on from the number found; after a duplicate the number due stays. Never fails.
 */
export function scanTranscript(text: string, take: (event: RetestEvent) => void): TranscriptState {
  const problems: TranscriptProblem[] = [];
  const unreadable: TranscriptState['unreadable'] = [];
  let due = 1;
  let line = 0;
  let count = 0;
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start);
    const raw = text.slice(start, feed === -1 ? undefined : feed);
    start = feed === -1 ? text.length : feed + 1;
    line += 1;
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch {
      problems.push({ line, kind: feed === -1 ? 'torn-tail' : 'not-json' });
      unreadable.push({ line, text: raw });
      continue;
    }
    if (!isEvent(value)) {
      problems.push({ line, kind: 'not-an-event' });
      unreadable.push({ line, text: raw });
      continue;
    }
    count += 1;
    if (value.seq !== due) problems.push({ line, kind: value.seq > due ? 'gap' : 'duplicate', expected: due, found: value.seq });
    due = Math.max(due, value.seq + 1);
    take(value);
  }
  return {
    problems, unreadable, count,
    corrupt: problems.some((problem) => problem.kind !== 'torn-tail'),
    tornTail: problems.at(-1)?.kind === 'torn-tail',
    unterminated: text !== '' && !text.endsWith('\n'),
    nextSeq: due,
  };
}

/** As `scanTranscript`, with every event kept. */
export function readTranscript(text: string): Transcript {
  const events: RetestEvent[] = [];
  const state = scanTranscript(text, (event) => { events.push(event); });
  return { ...state, events };
}

/** The bytes of one append, all events of a command together: a line feed first when the transcript ends without one. */
export function appendText(before: Pick<TranscriptState, 'unterminated'>, events: readonly RetestEvent[]): string {
  return (before.unterminated ? '\n' : '') + events.map((event) => `${JSON.stringify(event)}\n`).join('');
}
