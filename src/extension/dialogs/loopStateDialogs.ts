import type { Knowledge, LoopStateChangeReply, TargetView } from '../../protocol/loopState';
import { shown, visible } from '../text/foreign';
import { day, l10n, plural, sentenceList } from '../text/l10n';
import { behindSentence, keptCount, targetName } from '../text/loopStateWords';
import { detailOf, type Dialog } from './dialog';
import { warningLines } from './facts';
import type { Outcome } from './outcome';

/** What a prune or unblock is about: the folder's name, one loop of it or all files, and how old the checkout is. */
export interface LoopStateScope { name: string; loop?: string; knowledge: Knowledge | null }

type Counts = Pick<LoopStateChangeReply, 'counts'>;

const sum = ({ counts }: Counts, action: string): number => counts.reduce((total, one) => total + (one.action === action ? one.count : 0), 0);

/** True when a prune would change something, or could not be planned for a file. */
export function prunesSomething(reply: LoopStateChangeReply): boolean {
  return reply.pruned.length > 0 || reply.items.some(({ errors }) => errors.length > 0);
}

/** The question before a prune: counts by reason, what is passed by, and a warning when the checkout is behind. */
export function pruneDialog(reply: LoopStateChangeReply, scope: LoopStateScope, changed: readonly string[]): Dialog {
  const gone = sum(reply, 'delete');
  const cooled = sum(reply, 'cooldown');
  const behind = behindSentence(scope.knowledge);
  const lines = [
    ...changedLine(changed),
    ...gone === 0 ? [] : [plural(gone, 'Goes: {0} entry older than 30 days ({1}).', 'Goes: {0} entries older than 30 days ({1}).', byFile(reply, 'delete'))],
    ...cooled === 0 ? [] : [plural(cooled, 'Cools down: {0} watched branch ({1}). Its rejections are forgotten and its counter is 0; its cursor stays.', 'Cools down: {0} watched branches ({1}). Their rejections are forgotten and their counters are 0; their cursors stay.', byFile(reply, 'cooldown'))],
    ...staysLine(reply),
    ...reply.items.flatMap(({ ref, errors }) => errors.slice(0, 1).map(({ message }) => l10n.t('Not pruned: {0}: {1}', shown(ref, 80), shown(message, 150)))),
    ...skippedLines(reply),
    ...behind === undefined ? [] : [l10n.t('Warning: {0} What others wrote since is not looked at here; pull first.', behind)],
    ...warningLines(reply),
    l10n.t('Undo puts back each entry that is not there again by then. A commit stays.'),
  ];
  return {
    message: scope.loop === undefined ? l10n.t('Prune the loop state of {0}?', visible(scope.name)) : l10n.t('Prune the state of the loop {0}?', shown(scope.loop, 80)),
    detail: detailOf(lines), apply: l10n.t('Prune'), harmlessFirst: behind !== undefined,
  };
}

function changedLine(changed: readonly string[]): string[] {
  return changed.length === 0 ? [] : [l10n.t('Changed while you were reading: {0}.', changed.join('; '))];
}

/** `12 in state-x.json and 3 in state-y.json`. */
function byFile({ pruned }: LoopStateChangeReply, action: string): string {
  const files = new Map<string, number>();
  for (const one of pruned) if (one.action === action) files.set(one.ref, (files.get(one.ref) ?? 0) + 1);
  const all = [...files].map(([ref, count]) => l10n.t('{0} in {1}', count, fileName(ref)));
  return all.length <= 4 ? sentenceList(all) : sentenceList([...all.slice(0, 3), plural(all.length - 3, '{0} more file', '{0} more files')]);
}

function fileName(ref: string): string {
  return shown(ref.split('/').at(-1) ?? ref, 60);
}

function staysLine({ counts }: Counts): string[] {
  const kept = counts.filter(({ action }) => action === 'keep').sort((a, b) => b.count - a.count).map(({ reason, count }) => keptCount(reason, count));
  return kept.length === 0 ? [] : [l10n.t('Stays: {0}.', kept.join(', '))];
}

function skippedLines({ skipped }: LoopStateChangeReply): string[] {
  return skipped.flatMap(({ ref, why }) => {
    switch (why) {
      case 'invalid-json': return [l10n.t('Not pruned: {0} is not valid JSON; it is left as it is.', fileName(ref))];
      case 'duplicate-key': return [l10n.t('Not pruned: {0} has a key twice; it is left as it is.', fileName(ref))];
      case 'not-an-object': return [l10n.t('Not pruned: {0} is no state file; it is left as it is.', fileName(ref))];
      case 'nothing-recorded': return [];
    }
  });
}

/** Every entry that a prune changes, for the dry-run document. */
export function pruneLines({ pruned }: LoopStateChangeReply): string[] {
  const refs = [...new Set(pruned.map(({ ref }) => ref))];
  return refs.flatMap((ref) => [
    visible(ref),
    ...pruned.filter((one) => one.ref === ref).map(({ key, action }) => `  ${action === 'delete' ? l10n.t('{0} goes: older than 30 days', visible(key)) : l10n.t('{0} cools down: rejections forgotten, counter 0', visible(key))}`),
  ]);
}

/** One sentence after a prune, by what was verified. */
export function pruneOutcome(reply: LoopStateChangeReply): Outcome {
  const failed = failure(reply);
  if (failed !== undefined) return { sentence: l10n.t('Not pruned: {0}', failed), failed: true, undoable: reply.items.some(({ removed, errors }) => removed.length > 0 && errors.length === 0) };
  const gone = reply.pruned.filter(({ action }) => action === 'delete').length;
  const cooled = reply.pruned.length - gone;
  const parts = [
    ...gone === 0 ? [] : [plural(gone, '{0} entry removed', '{0} entries removed')],
    ...cooled === 0 ? [] : [plural(cooled, '{0} watched branch cooled down', '{0} watched branches cooled down')],
  ];
  return { sentence: l10n.t('Pruned: {0}. {1}', sentenceList(parts), undoClause(reply)), failed: false, undoable: true };
}

function failure({ items, committed }: LoopStateChangeReply): string | undefined {
  const error = items.flatMap(({ ref, errors }) => errors.map(({ message }) => l10n.t('{0}: {1}', shown(ref, 80), shown(message, 200))))[0];
  if (error !== undefined) return error;
  return committed && ['failed', 'interrupted'].includes(committed.status) ? l10n.t('the files are written, but git made no commit') : undefined;
}

function undoClause({ committed }: LoopStateChangeReply): string {
  return committed?.status === 'done' ? l10n.t('Undo puts the entries back; the commit stays.') : l10n.t('Undo puts all of it back.');
}

/** The question before a breaker is closed. */
export function unblockDialog(reply: LoopStateChangeReply, target: Pick<TargetView, 'key' | 'consecutiveFailures' | 'breaker'>, scope: LoopStateScope, changed: readonly string[], now: Date): Dialog {
  const name = targetName(target.key);
  const behind = behindSentence(scope.knowledge);
  const failures = target.consecutiveFailures ?? 0;
  const since = target.breaker.since === null ? '' : day(target.breaker.since, now);
  return {
    message: l10n.t('Unblock {0} of {1}?', name, shown(scope.loop ?? scope.name, 80)),
    detail: detailOf([
      ...changedLine(changed),
      since === ''
        ? plural(failures, 'The loop skips it since it failed {0} time in a row.', 'The loop skips it since it failed {0} times in a row.')
        : plural(failures, 'The loop skips it since {1}: it failed {0} time in a row.', 'The loop skips it since {1}: it failed {0} times in a row.', since),
      l10n.t('The failure count becomes 0, so the loop tries it again. Nothing else changes.'),
      ...behind === undefined ? [] : [l10n.t('Warning: {0} What others wrote since is not looked at here; pull first.', behind)],
      ...warningLines(reply),
    ]),
    apply: l10n.t('Unblock'), harmlessFirst: false,
  };
}

export function unblockOutcome(reply: LoopStateChangeReply, key: string): Outcome {
  const failed = failure(reply);
  if (failed !== undefined) return { sentence: l10n.t('Not unblocked: {0}', failed), failed: true, undoable: false };
  return { sentence: l10n.t('{0} is unblocked; the loop tries it again. {1}', targetName(key), undoClause(reply)), failed: false, undoable: true };
}
