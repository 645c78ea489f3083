import path from 'node:path';
import { maxConfigBytes } from '../config/harnessConfig';
import { messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import type { PlanItem } from '../plan/plan';
import type { PendingWork } from '../workspaces/pendingWork';
import type { Verification } from './checkpoint';
import { verifyCheckpoint } from './checkpoint';
import { planCommit, plannedEntry, writeLog } from './checkpointPlan';
import type { CheckpointPlan, CheckpointRequest } from './checkpointPlan';
import { latestEntry, parseLog } from './executionLog';
import { newHandoverText } from './logTemplate';
import type { EventPlace } from './policyPlan';

/** The hand-over note of a session that belongs to no work item. `session`: a valid session id. */
export function handoverFile(stateRoot: string, session: string): string {
  return path.join(stateRoot, 'loopkeeper', 'handover', `${session}.md`);
}

export type Handover = { text: string; problem?: undefined } | { text?: undefined; problem: string } | undefined;

/** The note, or why it cannot be read; undefined when there is none. */
export function readHandover(reader: Reader, file: string): Handover {
  try {
    const text = reader.text(file, maxConfigBytes);
    return text === undefined ? undefined : { text };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

interface HandoverInput { session: string; file: string; work: PendingWork | { unknown: string }; spent?: string; now: string }

/** The two parts that a plain session's checkpoint has, `log` (the note) and `work`; the others say nothing. */
export function verifyHandover(input: HandoverInput & { text: Handover }): Verification {
  const { file, work, now, spent } = input;
  const directory = path.dirname(file);
  const verification = verifyCheckpoint({
    artifacts: { folder: { checkout: directory, id: input.session, directory }, specs: {}, log: input.text === undefined ? undefined : { file, ...input.text }, graph: undefined },
    work, tasks: [], labelPrefix: '', now, ...(spent === undefined ? {} : { spent }),
  });
  const parts = verification.parts.filter((part) => part.part === 'log' || part.part === 'work')
    .map((part) => part.part === 'log' && input.text === undefined ? { ...part, evidence: 'there is no hand-over note', file } : part);
  return { ...verification, parts };
}

/** Plans the note's entry, then the commit. The same request a second time plans nothing. Failures: those of `planCheckpoint`. */
export function planHandover(reader: Reader, input: HandoverInput & { request: CheckpointRequest; root: string; actor: string | undefined; eventLog: EventPlace | undefined }): CheckpointPlan {
  const { request, session, file } = input;
  const before = reader.text(file, maxConfigBytes);
  const base = before ?? newHandoverText(session);
  const entry = request.did === undefined || request.next === undefined ? undefined : plannedEntry(file, before, base, {
    now: input.now, phase: undefined, did: request.did, next: request.next,
    ...(request.tests === undefined ? {} : { tests: request.tests }), ...(request.blockers === undefined ? {} : { blockers: request.blockers }),
  }, { ...input, written: [], noteLog: false });
  const steps = entry ? [writeLog(session, input.root, entry)] : [];
  const commit = planCommit({ item: session, id: session.slice(0, 8), request, work: input.work, specs: undefined }, [], entry?.entry ?? latestEntry(parseLog(base), input.now));
  const item: PlanItem = {
    ref: session, found: true, live: false, kept: [], errors: [], notices: commit?.notices ?? [],
    decision: { did: entry?.entry.did, next: entry?.entry.next, noted: entry?.noted ?? [], committed: commit?.step.paths ?? [], message: commit?.step.message },
  };
  const all = [...steps, ...(commit ? [{ ...commit.step, phase: 1, requires: steps.map((_step, index) => index) }] : [])];
  return {
    draft: {
      items: [item], steps: all, warnings: [], pieceOrder: [], keepTrash: true,
      events: input.eventLog && all.length > 0 ? [{ item: session, ...input.eventLog, source: 'context', event: 'context.checkpoint', fields: { session, actor: input.actor, entry: entry?.hash, committed: commit?.step.paths.length } }] : [],
    },
    entry: entry?.entry, ticked: [], committed: commit?.step.paths ?? [], added: commit?.added ?? [], noted: entry?.noted ?? [],
  };
}
