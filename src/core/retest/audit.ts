import { isDeepStrictEqual } from 'node:util';
import type { Determination, HistoryEntry, Projection } from '../../protocol/retest';
import { projectionFields } from './projection';

export interface FieldDiscrepancy { field: string; kind: 'differs' | 'withdrawn-verdict' }

const isWithdrawn = (history: readonly HistoryEntry[], seq: number | undefined): boolean =>
  history.some((entry) => entry.seq === seq && entry.state === 'withdrawn');

/** Where a stored projection is not what its transcript says, field by field (cases README, T11). `recomputed` is the authority. */
export function compareProjection(stored: Projection, recomputed: Projection): FieldDiscrepancy[] {
  return projectionFields.filter((field) => !isDeepStrictEqual(stored[field], recomputed[field])).map((field) => ({
    field,
    kind: field === 'currentVerdict' && isWithdrawn(recomputed.history, stored.currentVerdict?.seq) ? 'withdrawn-verdict' : 'differs',
  }));
}

/** The same for what a finding shows; `historyOf` gives the history of a session by its transcript. */
export function compareDetermination(
  stored: Determination | null, recomputed: Determination | null, historyOf: (session: string) => readonly HistoryEntry[],
): FieldDiscrepancy[] {
  if (isDeepStrictEqual(stored, recomputed)) return [];
  return [{ field: 'determination', kind: stored && isWithdrawn(historyOf(stored.session), stored.seq) ? 'withdrawn-verdict' : 'differs' }];
}
