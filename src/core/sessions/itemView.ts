import type { ItemState, ItemView, PullRequestView, SessionView } from '../../protocol/sessions';
import type { CliConfig } from '../config/cliConfig';
import type { Reader } from '../disk/reader';
import { locateCheckout } from '../workspaces/locate';
import type { Endpoint, SessionRecord } from '../workItems/sessionRecord';
import type { ItemSnapshot } from '../workItems/snapshot';
import { attentionOf, problemOf, type AttentionFacts } from './attention';
import { titleOf } from './title';

/** What a row shows first: trouble, then the session, then what the records say. */
export function stateOf(item: ItemSnapshot): ItemState {
  if (item.collisions.length > 0) return 'collided';
  if (item.bad.length > 0) return 'unreadable';
  const status = item.session.kind === 'record' ? item.session.record.status : undefined;
  if (status === 'active') return 'live';
  if (status === 'paused') return 'paused';
  if (item.armed) return 'armed';
  return status === 'closed' ? 'closed' : 'remembered';
}

/** True when there is anything to show: a seal, nulls and nothing else are no state. */
export function isShown(item: ItemSnapshot): boolean {
  return item.session.kind !== 'absent' || Object.keys(item.sections).length > 0 || item.bad.length > 0;
}

/** The latest time that something happened to the item; the poller's looking does not count. */
export function lastActivityOf(item: ItemSnapshot): string | null {
  const record = item.session.kind === 'record' && item.collisions.length === 0 ? item.session.record : undefined;
  const times = [record?.lastEventAt, record?.createdAt, ...record?.pullRequests.flatMap((pull) => [pull.lastEventAt, pull.createdAt]) ?? [], item.sections.control?.facts.requestedAt];
  let latest: string | null = null;
  let latestTime = -Infinity;
  for (const time of times) {
    const value = time ? Date.parse(time) : NaN;
    if (time && value > latestTime) { latest = time; latestTime = value; }
  }
  return latest;
}

function pullRequestView(pull: Endpoint): PullRequestView {
  const { harness, sessionId, status, cwd, terminal, url } = pull;
  return { ref: pull.ref.ref, harness, sessionId, status, cwd, terminal, ...(url === undefined ? {} : { url }) };
}

function sessionView(record: SessionRecord, path: string): SessionView {
  const { harness, sessionId, status, cwd, terminal, createdAt, lastEventAt } = record;
  return { harness, sessionId, status, cwd, terminal, createdAt, lastEventAt, pullRequests: record.pullRequests.map(pullRequestView), path };
}

function filesOf(item: ItemSnapshot): string[] {
  const legacy = [item.sections.control, item.sections.poll].flatMap((section) => (section?.source === 'legacy' ? [section.path] : []));
  return [...new Set([...(item.session.kind === 'absent' ? [] : [item.sessionPath]), ...(item.portable.kind === 'absent' ? [] : [item.portablePath]), ...legacy])];
}

/**
 * One item as list and show print it. `reader` is asked for the checkout only, and the title is read for sessions that are not closed;
 * no program is started.
 */
export function itemView(reader: Reader, config: CliConfig, item: ItemSnapshot, facts: AttentionFacts): ItemView {
  const state = stateOf(item);
  const { control, poll, graph } = item.sections;
  const record = item.session.kind === 'record' && item.collisions.every(({ piece }) => piece !== 'session') ? item.session.record : undefined;
  const view: ItemView = {
    ref: item.ref.ref, state, armed: item.armed,
    sealed: item.portable.kind === 'record' && item.portable.record.sealed && item.collisions.every(({ piece }) => piece !== 'portable'),
    lastActivity: lastActivityOf(item), attention: attentionOf(item, state, facts), paths: filesOf(item),
  };
  if (item.ref.url !== undefined) view.url = item.ref.url;
  if (record) view.session = sessionView(record, item.sessionPath);
  if (control) {
    const { command, source, actor, requestedAt, note } = control.facts;
    view.control = { command, source, actor, requestedAt, note, path: control.path };
  }
  if (poll) view.poll = { seenComments: poll.facts.seenComments, lastPolledAt: poll.facts.lastPolledAt, path: poll.path };
  if (graph) view.graph = { loop: graph.facts.loop, workItem: graph.facts.workItem, nodes: graph.facts.nodes, path: graph.path };
  const title = record && record.status !== 'closed' ? titleOf(record.cwd, graph?.facts.workItem || `issue-${item.ref.number}`) : undefined;
  if (title !== undefined) view.title = title;
  const place = record ? locateCheckout(reader, config, item.ref) : undefined;
  if (place?.kind === 'place' && place.exists) view.checkout = place.path;
  const problem = problemOf(item);
  if (problem !== undefined) view.problem = problem;
  return view;
}
