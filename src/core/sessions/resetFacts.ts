import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import type { Reader } from '../disk/reader';
import { prepareEndings, refuseOwnSession, type Ending } from '../harness/prepareEndings';
import type { Caller, RecordedSession } from '../harness/ownership';
import { sharedTerminals, type Tmux } from '../harness/terminal';
import { inspectTerminals, type Inspection } from '../harness/tmux';
import { runningDaemons } from '../workItems/daemons';
import { channelBindings } from '../workItems/channels';
import { unsafePlaces, type UnsafePlace } from '../workItems/places';
import { parseRef } from '../workItems/ref';
import { isLive, isSessionFileName, readSession, type Endpoint, type SessionRecord } from '../workItems/sessionRecord';
import { isCoveredByAll, snapshotAll, snapshotItem, type ItemSnapshot } from '../workItems/snapshot';
import type { Message } from '../../protocol/message';
import { checkoutsToGo } from './resetCheckouts';
import type { ItemFacts, ResetFacts, SessionToEnd } from './resetPlan';

export interface ResetRequest {
  config: CliConfig;
  /** Refs as given, or every item that holds state. */
  selection: { refs: readonly string[] } | 'all';
  includeGraph: boolean;
  keepTrash: boolean;
  actor: string | undefined;
  /** False: no git and no tmux is started (`--no-exec`). */
  mayExecute: boolean;
  git: string;
  /** The environment git is started in. */
  env: Record<string, string | undefined>;
  tmux: Tmux;
  caller: Caller;
  /** Our directory beside the state, and the plan's id: where checkouts go. */
  trash: { storeDirectory: string; planId: string };
  signal?: AbortSignal;
}

/** Items that `--all` passes by, and why. */
export interface PassedOver { what: string; why: string }

/**
 * Looks up everything a reset is decided on; changes nothing. Failures: `invalid-ref` and `own-session` (exit 2), those of listing a folder.
 */
export async function gatherReset(request: ResetRequest, reader: Reader): Promise<{ facts: ResetFacts; passedOver: PassedOver[] }> {
  const { config } = request;
  const warnings = configWarnings(config, reader);
  const passedOver: PassedOver[] = [];
  let snapshots: ItemSnapshot[];
  if (request.selection === 'all') {
    const all = snapshotAll(reader, config);
    snapshots = all.items.filter((item) => isCoveredByAll(item, request.includeGraph));
    for (const stray of all.strays) {
      warnings.push({ kind: 'unreadable-record', message: `${stray.path} cannot be read as a record (${stray.why}); whose it is cannot be told, so it stays.` });
      passedOver.push({ what: stray.path, why: 'it cannot be read' });
    }
    for (const item of all.items) if (item.sections.graph && !isCoveredByAll(item, request.includeGraph)) passedOver.push({ what: item.ref.ref, why: 'phase choices only' });
  } else {
    // Every ref is checked before anything is looked at: one that is wrong resets none.
    const refs = new Map(request.selection.refs.map(parseRef).map((ref) => [ref.ref, ref]));
    snapshots = [...refs.values()].map((ref) => snapshotItem(reader, config, ref));
  }
  const places = unsafePlaces(config);
  snapshots = snapshots.map((snapshot) => ({ ...snapshot, bad: [...snapshot.bad, ...badPlaces(snapshot, places)] }));
  const readable = snapshots.map((snapshot) => ({ snapshot, record: ownRecord(snapshot) }));
  const endpoints = readable.map(({ record }) => (record ? liveEndpoints(record) : []));
  // Also when the record says that it is closed: it would still be the caller's own memory.
  refuseOwnSession(readable.flatMap(({ record }) => (record ? [record, ...record.pullRequests].map(recorded) : [])), request.caller);
  const needsNeighbours = endpoints.some((list) => list.length > 0);
  const neighbours = needsNeighbours ? liveRecords(reader, config) : [];
  const endings = await prepareAll(request, endpoints.flat(), neighbours);
  const goingOn = [...endings].flatMap(([endpoint, sessions]) => (sessions.some(({ ending }) => ending.problem?.kind === 'shared-terminal') ? [endpoint] : []));
  const channels = channelBindings(reader, config);
  // An item that is refused keeps its session, and so its claim on a checkout.
  const resetRefs = new Set(readable.flatMap(({ record }) => (record ? [record.ref.ref] : [])));
  const others = neighbours.filter((record) => !resetRefs.has(record.ref.ref));
  const items: ItemFacts[] = [];
  for (const [position, { snapshot }] of readable.entries()) {
    const own = endpoints[position] ?? [];
    items.push({
      snapshot,
      sessions: own.flatMap((endpoint) => endings.get(endpoint) ?? []),
      checkouts: own.length === 0 ? [] : await checkoutsToGo(request, reader, own, others, goingOn),
      channels: (channels.get(snapshot.ref.ref) ?? []).reduce((sum, { threads }) => sum + threads, 0),
    });
  }
  return { facts: { config, items, includeGraph: request.includeGraph, named: request.selection !== 'all', keepTrash: request.keepTrash, actor: request.actor, warnings }, passedOver };
}

/** An item whose records would have to be changed where a link leads out is left whole. */
function badPlaces(snapshot: ItemSnapshot, places: readonly UnsafePlace[]): ItemSnapshot['bad'] {
  const concerned = { session: snapshot.session.kind !== 'absent', portable: snapshot.portable.kind !== 'absent' || snapshot.legacyHolds };
  return places.filter(({ piece }) => concerned[piece]).map((place) => ({ ...place, cause: 'unsafe' }));
}

/** The item's own session record; undefined when there is none, or it or its neighbour is another item's. */
function ownRecord(snapshot: ItemSnapshot): SessionRecord | undefined {
  return snapshot.session.kind === 'record' && snapshot.collisions.length === 0 && snapshot.bad.every((bad) => bad.cause !== 'unsafe' && bad.cause !== 'io') ? snapshot.session.record : undefined;
}

/** The sessions that end with the item: its own when live, and those of its pull requests that are, whatever its own status. */
function liveEndpoints(record: SessionRecord): Endpoint[] {
  return [record, ...record.pullRequests].filter(isLive);
}

/** Every record with a live session in it, on this machine; standing sessions that run count too. */
function liveRecords(reader: Reader, config: CliConfig): SessionRecord[] {
  return reader.list(config.registryDir).filter(isSessionFileName).flatMap((name) => {
    const file = readSession(reader, path.join(config.registryDir, name));
    return file.kind === 'record' && liveEndpoints(file.record).length > 0 ? [file.record] : [];
  });
}

function recorded(endpoint: Endpoint): RecordedSession {
  return { ref: endpoint.ref.ref, terminal: endpoint.terminal, cwd: endpoint.cwd, harness: endpoint.harness, harnessSessionId: endpoint.sessionId };
}

async function prepareAll(request: ResetRequest, endpoints: Endpoint[], neighbours: SessionRecord[]): Promise<Map<Endpoint, SessionToEnd[]>> {
  const asked = endpoints.filter((endpoint) => endpoint.terminal !== '').map(({ terminal, cwd }) => ({ terminal, cwd }));
  // Nothing is asked where nothing may be started: every terminal is then unknown, and said to be.
  const inspection: Inspection = request.mayExecute && asked.length > 0
    ? await inspectTerminals(asked, request.tmux, request.signal === undefined ? {} : { signal: request.signal })
    : { tmux: request.tmux, server: 'missing', terminals: new Map(), processes: new Map() };
  const shared = sharedTerminals(neighbours.flatMap((record) => liveEndpoints(record).map(({ terminal }) => ({ terminal, record: record.ref.ref }))));
  const endings: Ending[] = prepareEndings(endpoints.map(recorded), inspection, { policy: request.config.tmux, endAlways: true, caller: request.caller, shared });
  return new Map(endpoints.map((endpoint, index) => {
    const ending = endings[index];
    const panes = (inspection.terminals.get(endpoint.terminal)?.panes ?? []).flatMap(({ pid, startTime }) => (startTime === undefined ? [] : [{ pid, startTime }]));
    return [endpoint, ending ? [{ ending, harness: endpoint.harness, sessionId: endpoint.sessionId, panes }] : []];
  }));
}

/** What can partly undo a reset or surprise after it: said, never refused (seed decision 050, 6). */
function configWarnings(config: CliConfig, reader: Reader): Message[] {
  const warnings: Message[] = runningDaemons(reader, config).map(({ name, pid }) => ({
    kind: 'daemon-running', message: `The ${name} runs (pid ${String(pid)}); it may write back what it holds in memory. Stop it first for a clean slate.`,
  }));
  if (!config.control.requireStartCommand && config.spawnOnUnmatched !== 'never') {
    warnings.push({ kind: 'may-respawn', message: `routing.control.requireStartCommand is false and spawnOnUnmatched is ${JSON.stringify(config.spawnOnUnmatched)}: a reset item is first sight again and may start by itself.` });
  }
  return warnings;
}
