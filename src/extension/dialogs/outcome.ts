import type { ItemReply, PlanReply } from '../../protocol/plan';
import { shown } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { shortRef } from '../text/refs';
import { nameOf } from './facts';

/** The one notification after a plan was applied. */
export interface Outcome {
  sentence: string;
  /** Something failed: shown as a warning. */
  failed: boolean;
  /** There is something to undo. */
  undoable: boolean;
}

/** One sentence on what a reset did, by its verified effects, and what Undo cannot bring back. */
export function resetOutcome(reply: PlanReply): Outcome {
  const done = reply.items.filter((item) => item.removed.length > 0 && item.errors.length === 0);
  const failed = reply.items.filter((item) => item.errors.length > 0);
  const changed = reply.items.some((item) => item.removed.length > 0 || (item.ends?.length ?? 0) > 0);
  if (failed.length > 0) {
    const first = failed[0];
    const why = first ? l10n.t('{0}: {1}', nameOf(first.ref), shown(first.errors[0]?.message ?? '', 200)) : '';
    const sentence = done.length === 0 ? l10n.t('Not reset: {0}', why)
      : failed.length === 1 ? l10n.t('Reset {0} of {1} work items; not reset: {2}', done.length, reply.items.length, why)
      : l10n.t('Reset {0} of {1} work items; {2} were not, the first of them: {3}', done.length, reply.items.length, failed.length, why);
    return { sentence, failed: true, undoable: changed };
  }
  if (done.length === 0) return { sentence: l10n.t('Nothing was remembered, nothing was reset.'), failed: false, undoable: false };
  const what = done.length === 1 && done[0] ? l10n.t('Reset {0}', nameOf(done[0].ref)) : plural(done.length, 'Reset {0} work item', 'Reset {0} work items');
  return { sentence: l10n.t('{0}; {1}.', what, undoClause(done)), failed: false, undoable: true };
}

function undoClause(items: readonly ItemReply[]): string {
  const agents = items.reduce((sum, item) => sum + (item.ends?.length ?? 0), 0);
  if (agents > 0) return plural(agents, 'Undo brings back records and files, not the running agent', 'Undo brings back records and files, not the running agents');
  return l10n.t('Undo brings all of it back');
}

/** One sentence on what an undo did. */
export function undoOutcome(reply: PlanReply): Outcome {
  const failed = reply.items.filter((item) => item.errors.length > 0);
  const first = failed[0];
  if (first) {
    const why = l10n.t('{0}: {1}', nameOf(first.ref), shown(first.errors[0]?.message ?? '', 200));
    const sentence = failed.length === reply.items.length ? l10n.t('Not undone: {0}', why) : l10n.t('Undone for {0} of {1} entries; not undone: {2}', reply.items.length - failed.length, reply.items.length, why);
    return { sentence, failed: true, undoable: false };
  }
  const only = reply.items.length === 1 ? reply.items[0] : undefined;
  return { sentence: only ? (shortRef(only.ref) === only.ref ? l10n.t('Undone: {0} is as before.', nameOf(only.ref)) : l10n.t('Undone: {0} is remembered as before.', nameOf(only.ref))) : plural(reply.items.length, 'Undone: {0} entry is as before.', 'Undone: {0} entries are as before.'), failed: false, undoable: false };
}
