import type { Message } from '../../protocol/message';
import type { ShowReply, WorkView } from '../../protocol/sessions';
import type { CliConfig } from '../config/cliConfig';
import type { Reader } from '../disk/reader';
import type { Question } from '../events/eventLog';
import type { ChannelBinding } from '../workItems/channels';
import type { WorkItemRef } from '../workItems/ref';
import type { ItemSnapshot } from '../workItems/snapshot';
import type { GitOptions } from '../workspaces/checkoutGit';
import { inspectCheckout, type Inspection } from '../workspaces/inspect';
import { locateCheckout } from '../workspaces/locate';
import { itemView } from './itemView';

export interface ShowFacts {
  config: CliConfig;
  item: ItemSnapshot;
  checkouts: WorkView[];
  /** What tmux says of the item's terminals and those of its pull requests. */
  terminals: ShowReply['terminals'];
  channels: ChannelBinding[];
  question?: Question;
  unfinishedSince?: string;
  warnings: readonly Message[];
}

/** Everything about one item. Starts no program. */
export function showReply(reader: Reader, facts: ShowFacts): ShowReply {
  const { config, item } = facts;
  const terminal = facts.terminals.find(({ ref }) => ref === item.ref.ref)?.state;
  return {
    verb: 'show', stateRoot: config.stateRoot, checkouts: facts.checkouts, terminals: facts.terminals, channels: facts.channels, warnings: [...facts.warnings],
    item: itemView(reader, config, item, {
      ...(facts.question ? { question: facts.question } : {}), ...(facts.unfinishedSince === undefined ? {} : { unfinishedSince: facts.unfinishedSince }), ...(terminal === undefined ? {} : { terminal }),
    }),
  };
}

/** Counts of a checkout; null where git could not be asked. A folder without a repository holds files that no git knows. */
export function workView(path: string, inspection: Inspection): WorkView {
  if (inspection.kind === 'git') {
    const { branch, uncommitted, untracked, ignored, nestedRepositories, unpushed } = inspection.work;
    return { path, branch, uncommitted, untracked, ignored, nestedRepositories, unpushed };
  }
  const plain = inspection.kind === 'plain';
  return { path, branch: null, uncommitted: plain ? 0 : null, untracked: plain ? inspection.files : null, ignored: plain ? 0 : null, nestedRepositories: plain ? 0 : null, unpushed: plain ? 0 : null };
}

/**
 * Looks into the checkouts of an item and of its pull requests, those that are there. With `git` null, git is not started.
 * What stands in the way is a warning. Failure `aborted`.
 */
export async function inspectItem(reader: Reader, config: CliConfig, item: ItemSnapshot, options: Omit<GitOptions, 'git'> & { git: string | null }): Promise<{ checkouts: WorkView[]; warnings: Message[] }> {
  const pulls: WorkItemRef[] = item.session.kind === 'record' && item.collisions.length === 0 ? item.session.record.pullRequests.map(({ ref }) => ref) : [];
  const checkouts: WorkView[] = [];
  const warnings: Message[] = [];
  for (const ref of [item.ref, ...pulls]) {
    const place = locateCheckout(reader, config, ref);
    if (place.kind === 'unsafe') warnings.push({ kind: 'unsafe-path', message: `${place.why}; it is not looked into.` });
    if (place.kind !== 'place' || !place.exists || checkouts.some(({ path }) => path === place.path)) continue;
    const inspection = await inspectCheckout(place, options);
    if (inspection.kind === 'failed') warnings.push({ kind: 'git-failed', message: `${inspection.why}.` });
    checkouts.push(workView(place.path, inspection));
  }
  return { checkouts, warnings };
}
