import { homedir } from 'node:os';
import path from 'node:path';
import { RetestListReply, RetestShowReply } from '../../protocol/retest';
import { CoreError, type CoreClient } from '../coreClient';
import { FileWatch } from '../folders';
import type { Roots } from '../roots';
import { Source } from '../source';
import type { Transcripts } from '../transcripts';
import { historyRows, retestRows } from './retestRows';
import type { Row } from './row';
import { RowView } from './rowView';
import { problemRow, topRows } from './topRows';

/** `retest list` of every loop. */
export function retestSource(client: CoreClient, roots: Roots): Source<RetestListReply> {
  return new Source<RetestListReply>(roots, async (root) => (await client.run({ place: root, args: ['retest', 'list'], schema: RetestListReply })).reply);
}

/** Follows the transcripts on disk: the list becomes stale, documents that show one are read anew. */
export function watchRetests(retests: Source<RetestListReply>, roots: Roots, transcripts: Transcripts): FileWatch {
  const watch = new FileWatch(() => {
    retests.invalidate();
    transcripts.reread();
  });
  retests.onDidLoad(() => { watch.watch(roots.current.map(({ stateRoot }) => [path.join(stateRoot, 'loopkeeper', 'retest'), '*.jsonl'] as const)); });
  return watch;
}

/** The Retests view: findings, their sessions, the verdicts of each. */
export function retestsView(retests: Source<RetestListReply>, client: CoreClient): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.retests',
    load: async () => topRows(await retests.get(), around(), (reply, place) => retestRows(reply, place, around())),
    later: (row) => history(client, row, around()),
  });
  view.follow(retests.onDidChange);
  return view;
}

async function history(client: CoreClient, row: Row, around: { now: Date; home: string }): Promise<Row[]> {
  const { place, ref } = row.subject;
  if (ref === undefined) return [];
  try {
    const { reply } = await client.run({ place, args: ['retest', 'show', ref], schema: RetestShowReply });
    return historyRows(reply, place, around).map((child) => ({ ...child, id: `${row.id}|${child.id}` }));
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return [{ ...problemRow(error, place), id: `${row.id}|problem` }];
  }
}
