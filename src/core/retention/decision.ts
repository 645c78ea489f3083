import { dayOf, parseClock } from './clock';
import type { Cutoff, Instant } from './clock';

export type Action = 'keep' | 'delete' | 'cooldown';

/** Why an entry is kept, deleted or cooled down; the first that holds. */
export type Reason =
  | 'malformed-entry' | 'pending' | 'not-terminal' | 'unknown-outcome' | 'no-clock' | 'unparseable-clock' | 'recent' | 'watch-key' | 'expired';

/** What the prune decides about one entry. */
export interface Decision { key: string; action: Action; reason: Reason }

/** Why a file is not even looked at for pruning. */
export type Skip = 'invalid-json' | 'duplicate-key' | 'not-an-object' | 'nothing-recorded';

/** What a prune leaves: the text (the very same when nothing goes) and one decision per entry, in file order. */
export interface Pruned { text: string; decisions: Decision[]; skipped: Skip | null }

/** A JSON object, as opposed to null and to an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object: `__proto__` and `constructor` are keys like any other. */
export function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The moment in a clock field, or why it tells none (R2: what does not parse is kept). */
export function readClock(value: unknown): Instant | 'no-clock' | 'unparseable-clock' {
  if (value === undefined || value === null) return 'no-clock';
  return (typeof value === 'string' ? parseClock(value) : undefined) ?? 'unparseable-clock';
}

/** R3: old when its UTC date is strictly before the date of the cutoff. Gives the reason to keep, or undefined when old. */
export function keptByDate(value: unknown, cutoff: Cutoff): Reason | undefined {
  const clock = readClock(value);
  if (typeof clock === 'string') return clock;
  return dayOf(clock) < cutoff.day ? undefined : 'recent';
}
