import { homedir } from 'node:os';
import path from 'node:path';
import { WorkflowListReply, WorkflowShowReply } from '../../protocol/workflow';
import { CoreError, type CoreClient } from '../coreClient';
import { FileWatch } from '../folders';
import type { Place } from '../places';
import type { RunPlaces } from '../runPlaces';
import { Source } from '../source';
import { frameRows, runRows } from './runRows';
import type { Row } from './row';
import { RowView } from './rowView';
import { problemRow, topRows } from './topRows';

/** `workflow list` of every `.raymond`. */
export function runSource(client: CoreClient, places: RunPlaces): Source<WorkflowListReply, Place> {
  return new Source<WorkflowListReply, Place>(places, async (place) => (await client.run({ place, args: ['workflow', 'list'], schema: WorkflowListReply })).reply);
}

/** Follows the state files on disk. */
export function watchRuns(runs: Source<WorkflowListReply, Place>): FileWatch {
  const watch = new FileWatch(() => { runs.invalidate(); });
  runs.onDidLoad((loaded) => { watch.watch(loaded.flatMap(({ root }) => ['state', 'serve-state'].map((pool) => [path.join(root.stateRoot, pool), '*.json'] as const))); });
  return watch;
}

/** The Workflow Runs view: runs, their agents, the return stack of each. */
export function runsView(runs: Source<WorkflowListReply, Place>, client: CoreClient): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.workflowRuns',
    load: async () => topRows(await runs.get(), around(), (reply, place) => runRows(reply, place, around())),
    later: (row) => frames(client, row, around()),
  });
  view.follow(runs.onDidChange);
  return view;
}

async function frames(client: CoreClient, row: Row, around: { now: Date; home: string }): Promise<Row[]> {
  const { place, ref, agent } = row.subject;
  if (ref === undefined || agent === undefined) return [];
  try {
    const { reply } = await client.run({ place, args: ['workflow', 'show', ref], schema: WorkflowShowReply });
    const index = reply.run.agents.findIndex(({ name }) => name === agent);
    return frameRows(reply.stacks[index] ?? [], reply.run, agent, place, around).map((child) => ({ ...child, id: `${row.id}|${child.id}` }));
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return [{ ...problemRow(error, place), id: `${row.id}|problem` }];
  }
}
