import type { FindingVerdict } from '../../protocol/retest';
import type { SessionFacts } from './projection';

/**
 * An RFC 3339 time as nanoseconds since 1970, so that offsets and long fractions compare as instants.
 * A time without an offset counts as UTC, an unreadable one as older than all.
 */
export function instantOf(ts: string): bigint {
  const zoned = /(z|[+-]\d\d:?\d\d)$/i.test(ts) ? ts : `${ts}Z`;
  const match = /^(.*?)(?:\.(\d+))?(z|[+-]\d\d:?\d\d)$/i.exec(zoned);
  const seconds = match ? Date.parse(`${match[1] ?? ''}${match[3] ?? ''}`) : NaN;
  if (Number.isNaN(seconds)) return -(10n ** 30n);
  return BigInt(seconds) * 1_000_000n + BigInt((match?.[2] ?? '').padEnd(9, '0').slice(0, 9));
}

/** The current verdict of one session with its time; null when it has none. */
export function verdictOf(id: string, facts: Pick<SessionFacts, 'verdicts'>): FindingVerdict | null {
  const last = facts.verdicts.at(-1);
  if (last?.state !== 'current') return null;
  const { seq, status, rationale, actor, ts } = last;
  return { session: id, seq, status, rationale, actor, ts };
}

/**
 * What a finding is taken to be: of its sessions with a current verdict, the one that was given last (cases README, T7 and G7).
 * Null when every verdict is withdrawn or none was given. Of two at the same instant the later session id counts.
 */
export function determine(verdicts: Iterable<FindingVerdict | null>): FindingVerdict | null {
  let best: FindingVerdict | null = null;
  for (const verdict of verdicts) {
    if (!verdict) continue;
    const [a, b] = best ? [instantOf(verdict.ts), instantOf(best.ts)] : [1n, 0n];
    if (!best || a > b || (a === b && verdict.session > best.session)) best = verdict;
  }
  return best;
}
