import type { CheckoutView } from '../protocol/plan';
import { plural } from './output';

/** `5 uncommitted files, 2 untracked and 1 unpushed commit`; empty when there is nothing, or nothing is known. */
export function workText(checkout: Pick<CheckoutView, 'uncommitted' | 'untracked' | 'ignored' | 'nestedRepositories' | 'unpushed'>): string {
  const part = (count: number | null, one: string, many?: string): string[] => (count !== null && count > 0 ? [plural(count, one, many)] : []);
  const parts = [
    ...part(checkout.uncommitted, 'uncommitted file'), ...part(checkout.untracked, 'untracked file'), ...part(checkout.ignored, 'ignored file'),
    ...part(checkout.nestedRepositories, 'nested repository', 'nested repositories'), ...part(checkout.unpushed, 'unpushed commit'),
  ];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}
