import { Failure } from '../disk/failure';
import { cutoffAt, isBefore, timestamp } from './clock';
import type { Cutoff } from './clock';
import { isObject, own, readClock } from './decision';
import type { Decision, Pruned } from './decision';
import { applyEdits, changeObject, layoutOf } from './jsonEdit';
import { readEntries } from './jsonText';
import type { Member } from './jsonText';
import { rewriteEntries } from './targets';
import { notUnderstood } from './unreadable';
import type { Written } from './writeTarget';

/** One CI run as the loop hands it over. */
export interface RunRecord { runId?: string; workflowName: string; headSha: string; outcome: string; loopRunId?: string }

const emptyFile = '{\n  "runs": {}\n}\n';
const recordedOutcomes = ['pr-created', 'rejected', 'watch', 'no-action'];

/** R4: a run goes when the instant `updated_at` is strictly before the cutoff, whatever its outcome; without a readable clock it stays. */
export function decideRun(key: string, entry: unknown, cutoff: Cutoff): Decision {
  if (!isObject(entry)) return { key, action: 'keep', reason: 'malformed-entry' };
  const clock = readClock(own(entry, 'updated_at'));
  if (typeof clock === 'string') return { key, action: 'keep', reason: clock };
  return isBefore(clock, cutoff.instant) ? { key, action: 'delete', reason: 'expired' } : { key, action: 'keep', reason: 'recent' };
}

/**
 * The prune of a run ledger.
 * @param text the file's text; @param now the clock; @param days the window
 */
export function pruneRuns(text: string, now: Date, days?: number): Pruned {
  const cutoff = cutoffAt(now, days);
  const gone = new Set<Member>();
  const file = readEntries(text, 'runs', (key, value, member) => {
    const decision = decideRun(key, value, cutoff);
    if (decision.action === 'delete') gone.add(member);
    return decision;
  });
  if ('problem' in file) return { text, decisions: [], skipped: file.problem };
  if (gone.size === 0) return { text, decisions: file.entries, skipped: null };
  return { text: rewriteEntries(file, gone, [], layoutOf(text, file.members)), decisions: file.entries, skipped: null };
}

/**
 * Records one run, then prunes (seed: "every ledger update"). An outcome that a ledger does not hold, or no run id, changes nothing.
 * @param text the file before, null when there is none
 * @throws Failure `invalid-json`, `duplicate-key`, `not-an-object`, `malformed-entry`; nothing is changed then
 */
export function recordRun(text: string | null, run: RunRecord, now: Date): Written {
  const outcome = run.outcome === 'no-changes' ? 'no-action' : run.outcome;
  const { runId } = run;
  if (runId === undefined || runId === '' || !recordedOutcomes.includes(outcome)) {
    return { text, decisions: [], skipped: 'nothing-recorded', written: false };
  }
  const pruned = pruneRuns(mergeRun(text ?? emptyFile, runId, { ...run, outcome }, now), now);
  return { text: pruned.text, decisions: pruned.decisions, skipped: null, written: true };
}

function mergeRun(text: string, runId: string, run: RunRecord, now: Date): string {
  const file = readEntries(text, 'runs', (key, value, member) => (key === runId ? { member, value } : undefined));
  if ('problem' in file) throw notUnderstood(file.problem, 'runs');
  const old = file.entries.find((entry) => entry !== undefined);
  const json = JSON.stringify({
    workflow_name: run.workflowName,
    head_sha: run.headSha,
    outcome: run.outcome,
    reject_count: (old === undefined ? 0 : rejectCount(runId, old.value)) + (run.outcome === 'rejected' ? 1 : 0),
    loop_run_id: run.loopRunId ?? '',
    updated_at: timestamp(now),
  });
  const container = { start: file.container.start, end: file.container.end, members: file.container.members ?? [] };
  const change = old === undefined ? { add: [{ key: runId, json }] } : { replace: new Map([[old.member, json]]) };
  return applyEdits(text, changeObject(text, container, change, layoutOf(text, file.members), 1));
}

function rejectCount(runId: string, entry: unknown): number {
  const count = isObject(entry) ? own(entry, 'reject_count') ?? 0 : undefined;
  if (typeof count === 'number') return count;
  throw new Failure(
    'malformed-entry', `The ledger entry of run ${JSON.stringify(runId)} is not an object with a number of rejections.`, 'Repair or remove that entry by hand, then record again.',
  );
}
