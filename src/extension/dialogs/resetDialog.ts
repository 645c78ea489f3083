import type { ItemReply, PlanReply } from '../../protocol/plan';
import { shown, visible } from '../text/foreign';
import { l10n, plural, sentenceList } from '../text/l10n';
import { detailOf, lineLimit, type Dialog } from './dialog';
import { byLoss, checkoutSentence, endingPhrase, forgottenPieces, keptWord, losesSomething, nameOf, shortPath, uncommittedIn, undoSentence, warningLines } from './facts';

/** What the dialog of Reset All tells beside the plan. */
export interface AllContext {
  stateRoot: string;
  /** Items whose session or checkout lies in no folder of this window. */
  elsewhere: number;
  /** Items that have phase choices only and stay. */
  choicesOnly: number;
}

/** True when applying the plan would change something. */
export function resetsSomething(plan: PlanReply): boolean {
  return plan.items.some((item) => item.removed.length > 0);
}

/**
 * The question before a reset, from its dry run. `changed` is what changed while the last one was read; `all` is given for Reset All.
 * At most twelve lines: items with something to lose first, then "and N more, nothing to lose".
 */
export function resetDialog(plan: PlanReply, now: Date, { changed = [], all }: { changed?: readonly string[]; all?: AllContext } = {}): Dialog {
  const lead = changed.length > 0 ? [l10n.t('Changed while you were reading: {0}.', changed.join('; '))] : [];
  const dialog = all ? allDialog(plan, all, lineLimit - lead.length) : plan.items.length === 1 && plan.items[0] ? oneDialog(plan, plan.items[0], now) : severalDialog(plan, lineLimit - lead.length);
  return { ...dialog, detail: detailOf([...lead, ...dialog.lines]) };
}

type Lines = Omit<Dialog, 'detail'> & { lines: string[] };

function oneDialog(plan: PlanReply, item: ItemReply, now: Date): Lines {
  const lines: string[] = [];
  for (const error of item.errors) lines.push(l10n.t('Cannot be done: {0}', shown(error.message, 300)));
  const ending = endingPhrase(item);
  if (ending) lines.push(l10n.t('Ends now: {0}. The turn in progress is lost.', ending));
  else if (item.live && item.removed.includes('session')) lines.push(l10n.t('Closes its session, of which no running agent was found.'));
  const forgotten = forgottenPieces(item, now);
  if (forgotten.length > 0) {
    const waits = plan.warnings.every(({ kind }) => kind !== 'may-respawn');
    lines.push(waits ? l10n.t('Forgets: {0}. The item then waits for a start.', forgotten.join(', ')) : l10n.t('Forgets: {0}.', forgotten.join(', ')));
  }
  for (const checkout of item.checkouts ?? []) lines.push(checkoutSentence(checkout));
  lines.push(l10n.t('Stays: {0}.', stays(item).join(', ')));
  // That unpushed commits stay is told with their checkout.
  for (const notice of item.notices) if (notice.kind !== 'unpushed') lines.push(shown(notice.message, 300));
  lines.push(undoSentence([item]), ...warningLines(plan));
  return {
    message: l10n.t('Reset {0}?', nameOf(item.ref)),
    lines, harmlessFirst: false,
    apply: ending ? l10n.t('End Agent and Reset') : l10n.t('Reset'),
  };
}

/** What a reset never touches, then what this plan keeps, each once; a checkout with the reason, a terminal that stays with the word. */
function stays(item: ItemReply): string[] {
  const words = [l10n.t('repository'), l10n.t('ticket'), l10n.t('event log')];
  for (const { what, why } of item.kept) {
    if (what.startsWith('checkout ')) words.push(l10n.t('checkout {0} ({1})', shortPath(what.slice('checkout '.length)), shown(why, 150)));
    else if (!what.startsWith('terminal ')) words.push(keptWord(what));
  }
  if (item.removed.includes('session')) words.push(l10n.t('transcript'));
  const readable = new Set((item.ends ?? []).flatMap(({ terminal, open }) => open === null ? [] : [terminal]));
  const terminals = item.kept.filter(({ what }) => what.startsWith('terminal ')).map(({ what }) => what.slice('terminal '.length));
  for (const terminal of new Set([...readable, ...terminals])) words.push(readable.has(terminal) ? l10n.t('terminal {0} (readable)', visible(terminal)) : l10n.t('terminal {0}', visible(terminal)));
  return [...new Set(words)];
}

/** One item in one line, of several. */
function itemLine(item: ItemReply): string {
  const name = nameOf(item.ref);
  if (item.errors[0]) return l10n.t('{0}: not reset: {1}', name, shown(item.errors[0].message, 200));
  if (!item.found) return l10n.t('{0}: nothing is remembered.', name);
  const parts: string[] = [];
  const ends = item.ends ?? [];
  const pulls = ends.filter(({ ref }) => ref !== item.ref).length;
  if (ends.length > pulls && pulls > 0) parts.push(plural(pulls, 'ends its agent and {0} pull-request session', 'ends its agent and {0} pull-request sessions'));
  else if (ends.length > pulls) parts.push(l10n.t('ends its agent'));
  else if (pulls > 0) parts.push(plural(pulls, 'ends {0} pull-request session', 'ends {0} pull-request sessions'));
  const uncommitted = uncommittedIn(item);
  if ((item.checkouts?.length ?? 0) > 0) {
    parts.push(uncommitted === null ? l10n.t('removes a checkout, its changes are unknown')
      : uncommitted === 0 ? l10n.t('removes a clean checkout')
      : plural(uncommitted, 'removes a checkout with {0} uncommitted file', 'removes a checkout with {0} uncommitted files'));
  }
  if (parts.length > 0) return l10n.t('{0}: {1}.', name, parts.join('; '));
  const pieces = forgottenPieces({ ...item, control: undefined, poll: undefined }, new Date(0));
  return l10n.t('{0}: forgets {1}; no agent, no checkout.', name, sentenceList(pieces));
}

/** What it comes to: agents, checkouts, files. */
interface Totals { agents: number; checkouts: number; files: number; unknown: boolean }

function totals(items: readonly ItemReply[]): Totals {
  return items.reduce<Totals>((sum, item) => {
    const uncommitted = uncommittedIn(item);
    return {
      agents: sum.agents + (item.ends?.length ?? 0), checkouts: sum.checkouts + (item.checkouts?.length ?? 0),
      files: sum.files + (uncommitted ?? 0), unknown: sum.unknown || uncommitted === null,
    };
  }, { agents: 0, checkouts: 0, files: 0, unknown: false });
}

function totalSentence(items: readonly ItemReply[]): string {
  const { agents, checkouts, files, unknown } = totals(items);
  const parts = [
    agents === 0 ? l10n.t('no agent ends') : plural(agents, '{0} agent ends', '{0} agents end'),
    checkouts === 0 ? l10n.t('no checkout goes') : plural(checkouts, '{0} checkout goes', '{0} checkouts go'),
  ];
  if (files > 0) parts.push(plural(files, '{0} file kept in the trash', '{0} files kept in the trash'));
  if (unknown) parts.push(l10n.t('some changes are unknown'));
  const undo = agents > 0 ? l10n.t('One Undo covers all of it; it restarts no agent.') : l10n.t('One Undo covers all of it.');
  return l10n.t('In all: {0}. {1}', parts.join(', '), undo);
}

function severalDialog(plan: PlanReply, limit: number): Lines {
  const after = [totalSentence(plan.items), ...warningLines(plan)];
  const resettable = plan.items.filter((item) => item.removed.length > 0).length;
  return {
    message: plural(plan.items.length, 'Reset {0} work item?', 'Reset {0} work items?'),
    lines: [...itemLines([...plan.items].sort(byLoss), Math.max(1, limit - after.length)), ...after],
    apply: plural(resettable, 'Reset {0} Item', 'Reset {0} Items'),
    harmlessFirst: false,
  };
}

/** Lines for the items, the last one counting those left out and saying whether they lose anything. */
function itemLines(items: readonly ItemReply[], room: number): string[] {
  if (items.length <= room) return items.map(itemLine);
  const listed = items.slice(0, room - 1);
  const rest = items.slice(room - 1);
  const losing = rest.filter((item) => losesSomething(item) || item.errors.length > 0).length;
  return [...listed.map(itemLine), losing === 0 ? l10n.t('and {0} more, nothing to lose', rest.length) : l10n.t('and {0} more, {1} of them with something to lose', rest.length, losing)];
}

function allDialog(plan: PlanReply, all: AllContext, limit: number): Lines {
  const lines: string[] = [];
  lines.push(all.elsewhere === 0 ? l10n.t('State: {0}.', visible(all.stateRoot))
    : l10n.t('State: {0}. {1}', visible(all.stateRoot), plural(all.elsewhere, '{0} of them belongs to a folder that is not open here.', '{0} of them belong to folders that are not open here.')));
  const ending = plan.items.filter((item) => (item.ends?.length ?? 0) > 0);
  const { agents, checkouts, files, unknown } = totals(plan.items);
  const ends = agents === 0 ? l10n.t('No agent ends.') : plural(agents, '{0} live agent ends: {1}.', '{0} live agents end: {1}.', names(ending));
  const goes = checkouts === 0 ? l10n.t('No checkout goes.')
    : l10n.t('{0}; {1}.', plural(checkouts, '{0} checkout goes', '{0} checkouts go'), unknown ? l10n.t('some changes in them are unknown, all is kept in the trash') : plural(files, '{0} uncommitted file, kept in the trash', '{0} uncommitted files, kept in the trash'));
  lines.push(`${ends} ${goes}`);
  const refused = plan.items.filter((item) => item.errors.length > 0);
  const unreadable = plan.warnings.filter(({ kind }) => kind === 'unreadable-record').length;
  const not: string[] = [];
  if (unreadable > 0) not.push(plural(unreadable, '{0} unreadable record', '{0} unreadable records'));
  if (all.choicesOnly > 0) not.push(plural(all.choicesOnly, '{0} item with phase choices only', '{0} items with phase choices only'));
  if (not.length > 0) lines.push(l10n.t('Not reset: {0}.', not.join(', ')));
  lines.push(l10n.t('Stays: repositories, tickets, event log, standing sessions, runs, retests.'));
  const others = plan.warnings.filter(({ kind }) => kind !== 'unreadable-record');
  const after = [undoSentence(plan.items), ...warningLines({ ...plan, warnings: others })];
  lines.push(...itemLines(refused, Math.max(1, limit - lines.length - after.length)), ...after);
  const count = plan.items.filter((item) => item.removed.length > 0).length;
  return {
    message: plural(count, 'Reset the only work item this machine remembers?', 'Reset all {0} work items this machine remembers?'),
    lines, apply: plural(count, 'Reset {0} Item', 'Reset All {0} Items'), harmlessFirst: true,
  };
}

function names(items: readonly ItemReply[]): string {
  const shownNames = items.slice(0, 5).map(({ ref }) => nameOf(ref));
  return items.length > 5 ? l10n.t('{0} and {1} more', shownNames.join(', '), items.length - 5) : shownNames.join(', ');
}
