import type { ItemReply, PlanReply } from '../../src/protocol/plan';
import type { ItemView, ListReply } from '../../src/protocol/sessions';

/** An item of a list, remembered only, but for what is given. */
export function itemView(given: Partial<ItemView> & { ref: string }): ItemView {
  return { state: 'remembered', armed: false, sealed: false, lastActivity: null, attention: [], paths: [], ...given };
}

type Session = NonNullable<ItemView['session']>;

export function session(given: Partial<Session> = {}): Session {
  return {
    harness: 'claude', sessionId: '0f1c5e7a', status: 'active', cwd: '/ws/15', terminal: 'loop-github-octo-repo-15', createdAt: '2026-08-04T10:00:00Z',
    lastEventAt: null, pullRequests: [], path: '/state/local/github-octo-repo-15.json', ...given,
  };
}

export function listReply(items: ItemView[]): ListReply {
  return { verb: 'list', stateRoot: '/state', config: null, workspaceRoot: null, items, warnings: [] };
}

/** An item of a plan, found and without anything that goes, but for what is given. */
export function itemReply(given: Partial<ItemReply> & { ref: string }): ItemReply {
  return { found: true, live: false, removed: [], kept: [], errors: [], notices: [], attention: [], steps: [], ...given };
}

export function planReply(items: ItemReply[], given: Partial<PlanReply> = {}): PlanReply {
  return { verb: 'reset', dryRun: true, plan: 'p1', digest: 'd1', stateRoot: '/state', items, warnings: [], ...given };
}

type Checkout = NonNullable<ItemReply['checkouts']>[number];

export function checkout(given: Partial<Checkout> = {}): Checkout {
  return {
    path: '/ws/.worktrees/github.com/octo/repo/github-octo-repo-15', uncommitted: 3, untracked: 2, ignored: 0, nestedRepositories: 0, unpushed: 1,
    branch: 'issue-15', keptAt: '/state/loopkeeper/trash/p1/1', ...given,
  };
}
