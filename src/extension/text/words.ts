import type { CheckoutView } from '../../protocol/plan';
import { l10n, plural } from './l10n';
import { visible } from './foreign';

/** The name people know an agent program by. */
export function harnessName(harness: string): string {
  switch (harness) {
    case 'claude': return 'Claude Code';
    case 'cursor': return 'Cursor';
    default: return visible(harness);
  }
}

type Work = Pick<CheckoutView, 'uncommitted' | 'untracked' | 'ignored' | 'nestedRepositories' | 'unpushed'>;

/** Files that are in no commit: modified, staged or untracked. Null when git could not be asked. */
export function uncommittedFiles(work: Work): number | null {
  return work.uncommitted === null && work.untracked === null ? null : (work.uncommitted ?? 0) + (work.untracked ?? 0);
}

/** `5 uncommitted · 1 unpushed`, for a row; empty when there is nothing. */
export function workWords(work: Work): string {
  const uncommitted = uncommittedFiles(work);
  if (uncommitted === null) return l10n.t('changes unknown');
  const parts: string[] = [];
  if (uncommitted > 0) parts.push(plural(uncommitted, '{0} uncommitted', '{0} uncommitted'));
  if (work.unpushed) parts.push(plural(work.unpushed, '{0} unpushed', '{0} unpushed'));
  return parts.join(' · ');
}

/** The work of several checkouts together; a count is null when it is unknown in one of them. */
export function workOf(checkouts: readonly Work[]): Work {
  const sum = (key: keyof Work): number | null => checkouts.reduce<number | null>((total, checkout) => {
    const value = checkout[key];
    return total === null || value === null ? null : total + value;
  }, 0);
  return { uncommitted: sum('uncommitted'), untracked: sum('untracked'), ignored: sum('ignored'), nestedRepositories: sum('nestedRepositories'), unpushed: sum('unpushed') };
}
