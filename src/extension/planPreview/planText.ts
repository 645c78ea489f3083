import type { ItemReply, PlanReply } from '../../protocol/plan';
import { keptWord, nameOf } from '../dialogs/facts';
import { visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { harnessName } from '../text/words';

export interface PlanWords {
  /** The first line: what it is a dry run of. */
  heading: string;
  /** The second line: that nothing has been changed, or that it was applied. */
  note: string;
  /** The command that does the same. */
  command: string;
  /** Lines before the items. */
  more?: readonly string[] | undefined;
}

/** A dry run as plain text: everything that would be done, item by item and step by step, and what stays. */
export function planText(plan: PlanReply, { heading, note, command, more = [] }: PlanWords): string {
  const lines = [heading, note, ''];
  if (plan.stateRoot !== undefined) lines.push(l10n.t('State: {0}', visible(plan.stateRoot)), '');
  for (const { message } of plan.warnings) lines.push(l10n.t('Warning: {0}', visible(message)));
  if (plan.warnings.length > 0) lines.push('');
  if (more.length > 0) lines.push(...more, '');
  for (const item of plan.items) lines.push(...itemText(item, plan), '');
  lines.push(l10n.t('The same in a terminal, only if the plan is still this one (digest {0}):', plan.digest), `  ${command}`);
  return lines.join('\n') + '\n';
}

function itemText(item: ItemReply, { stateRoot, verb }: PlanReply): string[] {
  // Only work items are live or not; a policy or a state file is neither.
  const state = item.found ? verb === 'reset' ? item.live ? l10n.t('live') : l10n.t('not live') : '' : l10n.t('nothing is remembered');
  const lines = [state === '' ? nameOf(item.ref) : `${nameOf(item.ref)}  (${state})`];
  const section = (title: string, entries: string[]): void => {
    if (entries.length > 0) lines.push(`  ${title}`, ...entries.map((entry) => `    ${entry}`));
  };
  section(l10n.t('Cannot be done'), item.errors.map(({ message }) => visible(message)));
  section(l10n.t('To know'), item.notices.map(({ message }) => visible(message)));
  section(l10n.t('Ends'), (item.ends ?? []).flatMap(({ ref, harness, terminal, open }) => [
    [l10n.t('{0}: {1}', nameOf(ref), harnessName(harness)), visible(terminal)].filter((part) => part !== '').join(', '),
    ...open === null ? [] : [`  ${l10n.t('stays readable: {0}', visible(open))}`],
  ]));
  section(l10n.t('Checkouts that go'), (item.checkouts ?? []).flatMap((checkout) => [
    visible(checkout.path), `  ${checkoutCounts(checkout)}`, ...checkout.keptAt === null ? [] : [`  ${l10n.t('kept at {0}', visible(checkout.keptAt))}`],
  ]));
  section(l10n.t('Steps'), item.steps.map((step, index) => {
    const what = [stepWords(step.kind), step.path === undefined ? '' : shortened(step.path, stateRoot)].filter((part) => part !== '').join(' ');
    return l10n.t('{0}. {1}: {2} ({3})', index + 1, what, visible(step.reason), undoWords(step.undo));
  }));
  section(l10n.t('Stays'), item.kept.map(({ what, why }) => l10n.t('{0}: {1}', keptWord(what), visible(why))));
  return lines;
}

/** Below the state root, which is named above, a path is told from there. */
function shortened(path: string, stateRoot: string | undefined): string {
  return visible(stateRoot !== undefined && path.startsWith(`${stateRoot}/`) ? path.slice(stateRoot.length + 1) : path);
}

function undoWords(undo: ItemReply['steps'][number]['undo']): string {
  switch (undo) {
    case 'restore': return l10n.t('can be undone');
    case 'inverse': return l10n.t('is made anew by an undo');
    case 'none': return l10n.t('cannot be undone');
  }
}

function stepWords(kind: string): string {
  switch (kind) {
    case 'deleteFile': return l10n.t('delete');
    case 'writeFile': return l10n.t('rewrite');
    case 'appendBytes': return l10n.t('append to');
    case 'moveCheckout': return l10n.t('move to the trash');
    case 'rebuildIndex': return l10n.t('make anew');
    case 'endSession': return l10n.t('end');
    case 'drive': return l10n.t('send to');
    case 'startSession': return l10n.t('start');
    case 'gitCommit': return l10n.t('commit in');
    case 'gitPush': return l10n.t('push from');
    default: return visible(kind);
  }
}

function checkoutCounts(checkout: NonNullable<ItemReply['checkouts']>[number]): string {
  const { uncommitted, untracked, ignored, nestedRepositories, unpushed, branch } = checkout;
  if (uncommitted === null && untracked === null) return l10n.t('what is uncommitted in it is unknown');
  const parts: string[] = [];
  if (uncommitted) parts.push(plural(uncommitted, '{0} modified or staged file', '{0} modified or staged files'));
  if (untracked) parts.push(plural(untracked, '{0} untracked file', '{0} untracked files'));
  if (parts.length === 0) parts.push(l10n.t('nothing in it is uncommitted'));
  if (ignored) parts.push(plural(ignored, '{0} ignored file', '{0} ignored files'));
  if (nestedRepositories) parts.push(plural(nestedRepositories, '{0} repository inside', '{0} repositories inside'));
  if (unpushed) parts.push(plural(unpushed, '{0} unpushed commit, stays on its branch', '{0} unpushed commits, stay on their branch'));
  if (branch !== null) parts.push(l10n.t('branch {0}', visible(branch)));
  return parts.join(', ');
}
