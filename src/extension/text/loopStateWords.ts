import type { Knowledge, LoopStateListReply, PruneReason, TargetView } from '../../protocol/loopState';
import { shown, visible } from './foreign';
import { day, l10n, moment, plural } from './l10n';

type Entry = Pick<TargetView, 'decision' | 'next'>;

const dayMilliseconds = 86_400_000;

/** `main` of `integration:main`, `PR 355` of `pull_request:355`; anything else as it is. */
export function targetName(key: string): string {
  const [, kind, rest] = /^([^:]+):(.+)$/s.exec(key) ?? [];
  if (rest === undefined) return shown(key, 80);
  return kind === 'pull_request' ? l10n.t('PR {0}', shown(rest, 80)) : shown(rest, 80);
}

/** Why an entry stays, after `kept: `. */
export function keptReason(reason: PruneReason): string {
  switch (reason) {
    case 'malformed-entry': return l10n.t('no entry of the format');
    case 'pending': return l10n.t('in flight');
    case 'not-terminal': return l10n.t('not finished');
    case 'unknown-outcome': return l10n.t('its outcome does not end it');
    case 'no-clock': return l10n.t('it has no date');
    case 'unparseable-clock': return l10n.t('its date cannot be read');
    case 'recent': return l10n.t('recent');
    case 'watch-key': return l10n.t('watched, nothing to cool down');
    case 'expired': return l10n.t('older than 30 days');
  }
}

/** How many entries stay for a reason, in a list. */
export function keptCount(reason: string, count: number): string {
  switch (reason) {
    case 'malformed-entry': return plural(count, '{0} not of the format', '{0} not of the format');
    case 'pending': return plural(count, '{0} in flight', '{0} in flight');
    case 'not-terminal': return plural(count, '{0} not finished', '{0} not finished');
    case 'unknown-outcome': return plural(count, '{0} with an outcome that does not end it', '{0} with an outcome that does not end them');
    case 'no-clock': return plural(count, '{0} without a date', '{0} without a date');
    case 'unparseable-clock': return plural(count, '{0} with an unreadable date', '{0} with unreadable dates');
    case 'recent': return plural(count, '{0} recent', '{0} recent');
    case 'watch-key': return plural(count, '{0} watched branch with nothing to cool down', '{0} watched branches with nothing to cool down');
    default: return l10n.t('{0} for another reason ({1})', count, shown(reason, 40));
  }
}

/** What becomes of an entry: `goes in 12 days`, `cools down at the next prune`, `kept: recent`. */
export function fateWords({ decision, next }: Entry, now: Date): string {
  if (decision.action === 'delete') return l10n.t('goes at the next prune');
  if (decision.action === 'cooldown') return l10n.t('cools down at the next prune');
  if (next !== null) {
    const days = Math.max(0, Math.ceil((Date.parse(next.at) - now.getTime()) / dayMilliseconds));
    return next.action === 'delete' ? plural(days, 'goes in {0} day', 'goes in {0} days') : plural(days, 'cools down in {0} day', 'cools down in {0} days');
  }
  return l10n.t('kept: {0}', keptReason(decision.reason));
}

/** A target's state in a few words: blocked, waiting for its pull request, or what becomes of it. */
export function targetWords(target: TargetView, now: Date): string {
  if (target.breaker.open) return target.breaker.since === null ? l10n.t('blocked') : l10n.t('blocked since {0}', day(target.breaker.since, now));
  if (target.pending) return target.pending.pr === null ? l10n.t('kept: pending') : l10n.t('kept: pending PR {0}', target.pending.pr);
  return fateWords(target, now);
}

/** The page of a target on the forge: its pull request, or its branch. Undefined when it has none there. */
export function targetPage(web: string | null, { key, pending }: Pick<TargetView, 'key' | 'pending'>): string | undefined {
  if (web === null) return undefined;
  const [, kind, rest] = /^([^:]+):(.+)$/s.exec(key) ?? [];
  const pull = kind === 'pull_request' && rest !== undefined && /^\d{1,15}$/.test(rest) ? rest : pending?.pr;
  if (pull !== undefined && pull !== null) return `${web}/pull/${String(pull)}`;
  if (kind === 'pull_request' || rest === undefined) return undefined;
  return `${web}/tree/${rest.split('/').map(encodeURIComponent).join('/')}`;
}

/** The page of a CI run on the forge. */
export function runPage(web: string | null, key: string): string | undefined {
  return web !== null && /^\d{1,20}$/.test(key) ? `${web}/actions/runs/${key}` : undefined;
}

/** `1a2b3c4 · Aug 4 · 3 behind`: how old the knowledge of a checkout is. Empty when git was not asked. */
export function knowledgeWords(known: Knowledge | null, now: Date): string {
  if (!known) return '';
  if (known.commit === null) return l10n.t('no commit yet');
  return [
    known.commit.slice(0, 7),
    ...known.committedAt === null ? [] : [day(known.committedAt, now)],
    ...known.behind === null ? [] : known.behind === 0 ? [l10n.t('up to date')] : [plural(known.behind, '{0} behind', '{0} behind')],
  ].join(' · ');
}

/** One sentence where others may have written since, or nothing. */
export function behindSentence(known: Knowledge | null): string | undefined {
  if (!known?.behind) return undefined;
  const upstream = visible(known.upstream ?? '');
  const behind = plural(known.behind, 'This checkout is {0} commit behind {1}.', 'This checkout is {0} commits behind {1}.', upstream);
  return known.fetchedAt === null ? behind : l10n.t('{0} Last fetch: {1}.', behind, moment(known.fetchedAt));
}

/** What stands beside and below the view's title: the checkout's age, and what a person should know of it. */
export function viewWords(replies: readonly LoopStateListReply[], now: Date): { description: string; message: string } {
  const [only] = replies;
  if (replies.length !== 1 || !only) return { description: '', message: '' };
  const own = only.knowledge?.uncommitted.length ?? 0;
  return {
    description: knowledgeWords(only.knowledge, now),
    message: [
      behindSentence(only.knowledge) ?? '',
      own === 0 ? '' : plural(own, '{0} state file differs from the commit.', '{0} state files differ from the commit.'),
    ].filter((sentence) => sentence !== '').join(' '),
  };
}
