import type { ItemReply, PlanReply } from '../../protocol/plan';
import { nameOf, uncommittedIn } from '../dialogs/facts';
import { visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { harnessName } from '../text/words';

/** A dry run as plain text: everything that would be done, item by item and step by step, and what stays. `heading` says what it is a dry run of. */
export function planText(plan: PlanReply, heading: string, command: string): string {
  const lines = [heading, l10n.t('Nothing has been changed. Apply This Plan… is in the title bar; it asks first.'), ''];
  if (plan.stateRoot !== undefined) lines.push(l10n.t('State: {0}', visible(plan.stateRoot)));
  lines.push(l10n.t('Digest: {0}', plan.digest), l10n.t('Command: {0}', command), '');
  for (const { message } of plan.warnings) lines.push(l10n.t('Warning: {0}', visible(message)));
  if (plan.warnings.length > 0) lines.push('');
  for (const item of plan.items) lines.push(...itemText(item), '');
  return lines.join('\n');
}

function itemText(item: ItemReply): string[] {
  const lines = [`${nameOf(item.ref)}  (${item.found ? item.live ? l10n.t('live') : l10n.t('not live') : l10n.t('nothing is remembered')})`];
  const section = (title: string, entries: string[]): void => {
    if (entries.length > 0) lines.push(`  ${title}`, ...entries.map((entry) => `    ${entry}`));
  };
  section(l10n.t('Cannot be done'), item.errors.map(({ message }) => visible(message)));
  section(l10n.t('Needs to be known'), item.notices.map(({ message }) => visible(message)));
  section(l10n.t('Ends'), (item.ends ?? []).map(({ ref, harness, terminal, open }) =>
    [`${nameOf(ref)}: ${harnessName(harness)}`, visible(terminal), open === null ? '' : l10n.t('stays readable: {0}', visible(open))].filter((part) => part !== '').join(', ')));
  section(l10n.t('Checkouts that go'), (item.checkouts ?? []).flatMap((checkout) => [
    visible(checkout.path),
    `  ${checkoutCounts(checkout)}`,
    ...checkout.keptAt === null ? [] : [`  ${l10n.t('kept at {0}', visible(checkout.keptAt))}`],
  ]));
  if ((item.checkouts?.length ?? 0) > 1) lines.push(`    ${l10n.t('uncommitted in all: {0}', uncommittedIn(item) ?? l10n.t('unknown'))}`);
  section(l10n.t('Steps'), item.steps.map((step, index) => {
    const undo = step.undo === 'restore' ? l10n.t('can be undone') : step.undo === 'inverse' ? l10n.t('is made anew') : l10n.t('cannot be undone');
    return `${String(index + 1).padStart(2)}. ${visible(step.kind)}${step.path === undefined ? '' : ` ${visible(step.path)}`}: ${visible(step.reason)} (${undo})`;
  }));
  section(l10n.t('Stays'), item.kept.map(({ what, why }) => `${visible(what)}: ${visible(why)}`));
  return lines;
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
