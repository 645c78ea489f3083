import type { PlanReply, PlanSummary } from '../../protocol/plan';
import { shown, visible } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { detailOf, lineLimit, type Dialog } from './dialog';
import { nameOf, warningLines } from './facts';

/** What a plan did, in a few words: `Reset octo/repo#15`. */
export function planTitle({ verb, items }: Pick<PlanSummary, 'verb' | 'items'>): string {
  const [first] = items;
  const what = items.length === 1 && first !== undefined ? nameOf(first) : plural(items.length, '{0} entry', '{0} entries');
  switch (verb) {
    case 'reset': return items.length === 1 ? l10n.t('Reset {0}', what) : plural(items.length, 'Reset {0} work item', 'Reset {0} work items');
    case 'undo': return l10n.t('Undo for {0}', what);
    case 'workflow-reset': return l10n.t('Reset an agent of {0}', what);
    case 'retest-start': return l10n.t('Start the retest {0}', what);
    case 'retest-message': return l10n.t('Send a message to the retest {0}', what);
    case 'retest-conclude': return l10n.t('Conclude the retest {0}', what);
    case 'retest-adjudicate': return l10n.t('Adjudicate the retest {0}', what);
    case 'retest-reopen': return l10n.t('Reopen the retest {0}', what);
    case 'retest-end': return l10n.t('End the retest {0}', what);
    case 'context-set': return l10n.t('Change the context policy of {0}', what);
    case 'context-checkpoint': return l10n.t('Write the checkpoint of {0}', what);
    case 'loop-state-prune': return l10n.t('Prune {0}', what);
    case 'loop-state-unblock': return l10n.t('Unblock in {0}', what);
    default: return l10n.t('{0}: {1}', visible(verb), what);
  }
}

/** Whether and why not it can be undone, for the list of plans. */
export function planState({ state, cannot }: Pick<PlanSummary, 'state' | 'cannot'>): string {
  switch (state) {
    case 'undoable': return cannot.length > 0 ? l10n.t('can be undone, but for: {0}', cannot.map((clause) => shown(clause, 100)).join(', ')) : l10n.t('can be undone');
    case 'undone': return l10n.t('was undone');
    case 'purged': return l10n.t('its trash was purged');
    case 'irreversible': return l10n.t('cannot be undone');
    case 'unfinished': return l10n.t('unfinished; the next changing command finishes it');
    case 'failed': return l10n.t('could not be finished; run the doctor');
  }
}

/** The question before an undo, from its dry run and the summary of the plan that it takes back. */
export function undoDialog(plan: PlanReply, undone: PlanSummary, { changed = [] }: { changed?: readonly string[] } = {}): Dialog {
  const lines: string[] = [];
  if (changed.length > 0) lines.push(l10n.t('Changed while you were reading: {0}.', changed.join('; ')));
  lines.push(l10n.t('Of {0}.', moment(undone.createdAt)));
  const after = [
    ...undone.cannot.length > 0 ? [l10n.t('Does not bring back: {0}.', undone.cannot.map((clause) => shown(clause, 150)).join('; '))] : [],
    l10n.t('Files that someone has changed since are left alone and named.'),
    ...warningLines(plan),
  ];
  const room = Math.max(1, lineLimit - lines.length - after.length);
  const items = plan.items.map((item) => {
    const error = item.errors[0];
    if (error) return l10n.t('{0}: stays as it is: {1}', nameOf(item.ref), shown(error.message, 200));
    const files = item.steps.filter(({ path }) => path !== undefined).length;
    return l10n.t('{0}: {1}', nameOf(item.ref), plural(files, 'brings back {0} file or folder', 'brings back {0} files and folders'));
  });
  lines.push(...items.length <= room ? items : [...items.slice(0, room - 1), l10n.t('and {0} more', items.length - room + 1)], ...after);
  return { message: l10n.t('Undo "{0}"?', planTitle(undone)), detail: detailOf(lines), apply: l10n.t('Undo'), harmlessFirst: false };
}
