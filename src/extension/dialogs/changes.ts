import type { ItemReply, PlanReply } from '../../protocol/plan';
import { shown, visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { nameOf, uncommittedIn } from './facts';

/** What changed between the plan that was shown and the one of now, a clause each; never empty when the digests differ. */
export function changesBetween(before: PlanReply, after: PlanReply): string[] {
  const changes: string[] = [];
  const now = new Map(after.items.map((item) => [item.ref, item]));
  const then = new Map(before.items.map((item) => [item.ref, item]));
  for (const item of before.items) {
    const next = now.get(item.ref);
    if (next) changes.push(...itemChanges(item, next));
    else changes.push(l10n.t('{0} is gone', nameOf(item.ref)));
  }
  for (const item of after.items) if (!then.has(item.ref)) changes.push(l10n.t('{0} has come', nameOf(item.ref)));
  const warned = new Set(before.warnings.map(({ message }) => message));
  const stillWarned = new Set(after.warnings.map(({ message }) => message));
  for (const { message } of after.warnings) if (!warned.has(message)) changes.push(shown(message, 200));
  for (const { message } of before.warnings) if (!stillWarned.has(message)) changes.push(l10n.t('no longer so: {0}', shown(message, 200)));
  if (changes.length === 0 && before.digest !== after.digest) changes.push(l10n.t('what the plan rests on'));
  return changes;
}

function itemChanges(before: ItemReply, after: ItemReply): string[] {
  const name = nameOf(before.ref);
  const changes: string[] = [];
  if (before.found && !after.found) return [l10n.t('{0} is not remembered any more', name)];
  if (!before.live && after.live) changes.push(l10n.t('{0} is live now', name));
  if (before.live && !after.live) changes.push(l10n.t('{0} is not live any more', name));
  const endings = (item: ItemReply): string => (item.ends ?? []).map(({ ref, terminal }) => `${ref} ${terminal}`).join('\n');
  if (before.live === after.live && endings(before) !== endings(after)) {
    const count = after.ends?.length ?? 0;
    changes.push(count === 0 ? l10n.t('{0}: no agent ends any more', name) : l10n.t('{0}: {1}', name, plural(count, 'now {0} agent ends', 'now {0} agents end')));
  }
  const more = after.removed.filter((piece) => !before.removed.includes(piece));
  const less = before.removed.filter((piece) => !after.removed.includes(piece));
  if (more.length > 0) changes.push(l10n.t('{0}: now also {1}', name, more.map(visible).join(', ')));
  if (less.length > 0) changes.push(l10n.t('{0}: no longer {1}', name, less.map(visible).join(', ')));
  const uncommitted = uncommittedIn(after);
  if (uncommittedIn(before) !== uncommitted && (after.checkouts?.length ?? 0) > 0) {
    changes.push(uncommitted === null ? l10n.t('{0}: changes are unknown now', name) : l10n.t('{0}: {1}', name, plural(uncommitted, '{0} uncommitted file now', '{0} uncommitted files now')));
  }
  const known = new Set(before.errors.map(({ message }) => message));
  for (const { message } of after.errors) if (!known.has(message)) changes.push(l10n.t('{0}: {1}', name, shown(message, 200)));
  return changes;
}
