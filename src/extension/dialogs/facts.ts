import type { ItemReply, PlanReply } from '../../protocol/plan';
import { shown, visible } from '../text/foreign';
import { day, l10n, plural, sentenceList } from '../text/l10n';
import { numberRef, shortRef } from '../text/refs';
import { harnessName, uncommittedFiles } from '../text/words';

type Checkout = NonNullable<ItemReply['checkouts']>[number];

/** The agents that end with this item, as a phrase: `its agent (Claude Code) and the session of pull request #16`; empty when none does. */
export function endingPhrase(item: ItemReply): string {
  const ends = item.ends ?? [];
  const own = ends.filter(({ ref }) => ref === item.ref).map(({ harness }) => l10n.t('its agent ({0})', harnessName(harness)));
  const pulls = ends.filter(({ ref }) => ref !== item.ref).map(({ ref }) => visible(numberRef(ref)));
  if (pulls.length > 0) own.push(plural(pulls.length, 'the session of pull request {1}', 'the sessions of pull requests {1}', sentenceList(pulls)));
  return own.length > 0 ? sentenceList(own) : '';
}

/** Work that is in a checkout and in no commit, over all of the item's checkouts; null when one could not be asked. */
export function uncommittedIn(item: ItemReply): number | null {
  return (item.checkouts ?? []).reduce<number | null>((sum, checkout) => {
    const count = uncommittedFiles(checkout);
    return sum === null || count === null ? null : sum + count;
  }, 0);
}

/** The last two parts of a path, enough to tell checkouts apart. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return shown(parts.length > 1 ? `…/${parts.slice(-1).join('/')}` : path);
}

/** What happens to one checkout, as a sentence. */
export function checkoutSentence(checkout: Checkout): string {
  const count = uncommittedFiles(checkout);
  const what = count === null ? l10n.t('what is uncommitted in it is unknown')
    : count === 0 ? l10n.t('nothing in it is uncommitted')
    : plural(count, '{0} uncommitted file', '{0} uncommitted files');
  const parts = [checkout.keptAt === null
    ? l10n.t('Removes the checkout {0}: {1}, nothing is kept.', shortPath(checkout.path), what)
    : l10n.t('Removes the checkout {0}: {1}, kept in the trash.', shortPath(checkout.path), what)];
  if (checkout.nestedRepositories) parts.push(plural(checkout.nestedRepositories, '{0} repository inside it goes along.', '{0} repositories inside it go along.'));
  if (checkout.unpushed) parts.push(plural(checkout.unpushed, '{0} unpushed commit stays on its branch.', '{0} unpushed commits stay on its branch.'));
  return parts.join(' ');
}

/** A piece that goes, with who and when or how many. */
function pieceWords(item: ItemReply, piece: string, now: Date): string {
  switch (piece) {
    case 'session': return l10n.t('session');
    case 'control': return item.control
      ? l10n.t('control ({0} by {1}, {2})', shown(item.control.command, 40), shown(item.control.actor, 40), day(item.control.requestedAt, now))
      : l10n.t('control');
    case 'poll': return item.poll ? l10n.t('poll ({0})', plural(item.poll.seenComments, '{0} comment seen', '{0} comments seen')) : l10n.t('poll');
    case 'graph': return l10n.t('phase choices');
    case 'portable': return l10n.t('unreadable record');
    default: return visible(piece);
  }
}

/** The records that go, each in words; the checkout has a sentence of its own. */
export function forgottenPieces(item: ItemReply, now: Date): string[] {
  return item.removed.filter((piece) => piece !== 'workspace').map((piece) => pieceWords(item, piece, now));
}

/** True when a person could lose something by it: an agent that ends, a checkout that goes. */
export function losesSomething(item: ItemReply): boolean {
  return (item.ends?.length ?? 0) > 0 || (item.checkouts?.length ?? 0) > 0 || item.live;
}

/** Items with something to lose first: refused ones, then agents that end, then uncommitted work, then checkouts; otherwise their own order. */
export function byLoss(a: ItemReply, b: ItemReply): number {
  return weight(b) - weight(a);
}

function weight(item: ItemReply): number {
  const uncommitted = uncommittedIn(item);
  return (item.errors.length > 0 ? 16 : 0) + ((item.ends?.length ?? 0) > 0 ? 8 : 0) + (uncommitted === null || uncommitted > 0 ? 4 : 0)
    + ((item.checkouts?.length ?? 0) > 0 ? 2 : 0) + (item.live ? 1 : 0);
}

/** The plan's own warnings, as they are said by the program, each a line. */
export function warningLines(plan: PlanReply): string[] {
  return plan.warnings.map(({ message }) => l10n.t('Warning: {0}', shown(message, 300)));
}

/** What undo cannot bring back of these items, and what it can. */
export function undoSentence(items: readonly ItemReply[]): string {
  const agents = items.reduce((sum, item) => sum + (item.ends?.length ?? 0), 0);
  if (items.some((item) => (item.checkouts ?? []).some(({ keptAt }) => keptAt === null))) return l10n.t('There is no Undo for what is not kept in the trash.');
  if (agents > 0) return l10n.t('Undo brings back records and files, not the running agent.');
  return l10n.t('Undo brings all of it back.');
}

/** `octo/repo#15`, visible and short. */
export function nameOf(ref: string): string {
  return shown(shortRef(ref), 100);
}

/** What a plan keeps, in words. */
export function keptWord(what: string): string {
  switch (what) {
    case 'graph': return l10n.t('phase choices');
    case 'channels': return l10n.t('channel threads');
    case 'legacy': return l10n.t('files of the older layout');
    case 'repository': return l10n.t('repository');
    default: return shown(what, 200);
  }
}
