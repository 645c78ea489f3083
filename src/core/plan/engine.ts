import fs from 'node:fs';
import { flushDirectories } from '../disk/durable';
import { codeOf, Failure, messageOf } from '../disk/failure';
import { sweepLockFiles, takeLock } from '../disk/lock';
import { pidSpace, type PidSpace } from '../disk/processes';
import { diskReader, type Reader } from '../disk/reader';
import type { Message } from '../../protocol/message';
import { digestOf } from './digest';
import { appendEvents, assertLogs, eventFailure } from './events';
import type { Executors, StepContext, StepExecutor } from './executor';
import { begunFile, sweepTemporary, closedPlan, closeJournal, dropJournal, failJournal, isClosed, openJournal, unfinishedPlans, type Outcome, type StepOutcome, type Unfinished } from './journal';
import { fileState } from './fileSteps';
import { afterOf, inOrder, type Plan, type Step, type StepKind } from './plan';
import { projectedReader } from './projection';
import { ensureStore, lockFile, planIdOf, type Store } from './store';
import { eraseTrash } from './trash';

/** What a planner decides; the engine adds id, time and digest. */
export type PlanDraft = Omit<Plan, 'id' | 'verb' | 'createdAt' | 'digest'>;

/** `now`: the clock in force (may be set for rehearsals). `real`: the true time, for the event log and the lock. RFC 3339. */
export interface Clock { now(): string; real(): string }

export interface RunRequest {
  store: Store;
  verb: string;
  /** Looks through `reader` and decides. Called under the lock, but for a dry run. */
  build(reader: Reader, planId: string): PlanDraft | Promise<PlanDraft>;
  dryRun: boolean;
  /** Apply only if the plan made now has this digest. */
  expect?: string;
  executors: Executors;
  clock: Clock;
  /** 8 hex digits and more, used by no other call. */
  random: string;
  pid: number;
  signal?: AbortSignal;
  onProgress?(done: number, total: number, item?: string): void;
  /** How long to wait for another Loopkeeper, beyond the longest grace in force. Default 10 s. */
  lockWaitMs?: number;
}

export interface RunResult {
  plan: Plan;
  /** Absent in a dry run. */
  outcome?: Outcome;
  /** Plans of a killed program that were finished first. */
  recovered: string[];
}

/**
 * The one way in which a verb changes files (design §3): lock → recover → snapshot → plan → compare → journal → steps → verify → event → close.
 * A dry run stops after the plan, takes no lock and creates nothing.
 * Failures: `locked`, `stale-plan` (exit 3), `unsafe-path` or `io` before anything was changed, `event-not-written`, and what `build` throws.
 */
export async function runPlan(request: RunRequest): Promise<RunResult> {
  const createdAt = request.clock.now();
  const id = planIdOf(createdAt, request.random.slice(0, 8));
  if (request.dryRun) {
    const unfinished = unfinishedPlans(request.store);
    const pending = unfinished.flatMap((entry) => (entry.plan ? [entry.plan] : []));
    const draft = await request.build(pending.length > 0 ? projectedReader(diskReader, pending) : diskReader, id);
    const plan = finishDraft(request.verb, id, createdAt, draft);
    // Not part of the digest: the real run finishes those plans before it plans.
    if (unfinished.length > 0) plan.warnings.push({ kind: 'unfinished-plan', message: `${plural(unfinished.length, 'plan')} of a stopped Loopkeeper will be finished first; this is planned on what they will leave.` });
    return { plan, recovered: [] };
  }
  ensureStore(request.store);
  const lock = await takeLock({
    file: lockFile(request.store), verb: request.verb, since: request.clock.real(), nonce: request.random, waitMs: request.lockWaitMs ?? 10_000, signal: request.signal,
  });
  try {
    sweepLockFiles(lockFile(request.store));
    const { recovered, warnings } = await recover(request);
    const draft = await request.build(diskReader, id);
    const plan = finishDraft(request.verb, id, createdAt, draft);
    if (request.expect !== undefined && request.expect !== plan.digest) {
      throw new Failure('stale-plan', 'What is on disk is no longer what was shown; nothing was changed.', 'Look at a new dry run, then apply that.', 3, { digest: plan.digest });
    }
    plan.warnings.push(...warnings);
    const outcome = await applyPlan(request, plan);
    return { plan, outcome, recovered };
  } finally {
    lock.release();
  }
}

function finishDraft(verb: string, id: string, createdAt: string, draft: PlanDraft): Plan {
  const plan: Plan = { id, verb, createdAt, ...draft, digest: '' };
  plan.digest = digestOf(plan);
  assertLogs(plan);
  return plan;
}

async function applyPlan(request: RunRequest, plan: Plan): Promise<Outcome> {
  if (plan.steps.length === 0 && plan.events.length === 0) return outcomeOf(plan, [], request.clock.real());
  try {
    await openJournal(request.store, plan);
  } catch (error) {
    throw new Failure('io', `The plan could not be written to the journal: ${messageOf(error)}. Nothing was changed.`, 'Check space and permissions of the state root, then try again.');
  }
  return finishPlan(request, plan);
}

/** Does what is left of a journaled plan, writes its events and files it. */
async function finishPlan(request: RunRequest, plan: Plan, left?: Unfinished): Promise<Outcome> {
  const results = await runSteps(request, plan, left);
  const outcome = outcomeOf(plan, results, request.clock.real());
  try {
    await appendEvents(request.store, plan, outcome, { ts: request.clock.real(), pid: request.pid });
  } catch (error) {
    if (!(error instanceof Failure) && codeOf(error) === undefined) throw error;
    throw eventFailure(error);
  }
  await closeJournal(request.store, plan, outcome, () => { eraseFinished(request.store, plan, outcome); });
  return outcome;
}

/** Trash that nobody needs any more: of a plan that keeps none, and of one whose undo brought everything back. */
function eraseFinished(store: Store, plan: Plan, outcome: Outcome): void {
  if (!plan.keepTrash) eraseTrash(store, plan);
  const undone = plan.undoes === undefined ? undefined : closedPlan(store, plan.undoes);
  if (undone && outcome.items.every((item) => item.errors.length === 0)) eraseTrash(store, undone.plan);
}

/** Runs the steps phase by phase; in a phase those of one kind run together, in the order of the plan. */
async function runSteps(request: RunRequest, plan: Plan, left?: Unfinished): Promise<StepOutcome[]> {
  const recovering = left !== undefined;
  const lost = left?.space ? sessionsLost(left.space) : undefined;
  const results = new Array<StepOutcome | undefined>(plan.steps.length);
  const overtaken = recovering ? overtakenSteps(plan) : new Set<number>();
  const begun = new Set(recovering ? readBegun(request.store, plan.id) : []);
  let done = 0;
  for (let start = 0; start < plan.steps.length;) {
    const first = plan.steps[start] as Step;
    let end = start + 1;
    // What waits for a step of this batch is of the next one.
    const joins = (step: Step | undefined): boolean => step?.phase === first.phase && step.kind === first.kind && !(step.requires ?? []).some((needed) => needed >= start);
    while (joins(plan.steps[end])) end += 1;
    const touched = new Set<string>();
    const batch: { step: Step; context: StepContext; report(outcome: StepOutcome): void }[] = [];
    for (let index = start; index < end; index += 1) {
      const step = plan.steps[index] as Step;
      const report = (outcome: StepOutcome): void => {
        results[index] = outcome;
        done += 1;
        request.onProgress?.(done, plan.steps.length, step.item);
      };
      if (step.kind === 'endSession' && lost) { report(lost); continue; }
      if (overtaken.has(index)) { report({ status: 'already' }); continue; }
      const missing = (step.requires ?? []).some((needed) => !isEffective(results[needed]));
      if (missing || step.requiresAny?.every((needed) => !isEffective(results[needed]))) report({ status: 'skipped' });
      else if (begun.has(index)) report({ status: 'interrupted', error: { kind: 'interrupted', message: `It is not known whether this happened, and it is not repeated: ${step.reason}` } });
      else {
        const context: StepContext = { store: request.store, planId: plan.id, index, keepTrash: plan.keepTrash, signal: request.signal, touch: (directory) => touched.add(directory) };
        batch.push({ step, context, report });
      }
    }
    if (batch.length > 0) await runBatch(request, plan, first.kind, batch, recovering);
    try { flushDirectories(touched); } catch (error) {
      // The renames happened; only their durability over a power cut is in doubt.
      for (const { step, context } of batch) if (isEffective(results[context.index])) results[context.index] = { status: 'done', error: { kind: 'io', message: `Done, but the folder could not be flushed, so a power cut now may bring it back (${step.reason}): ${messageOf(error)}` } };
    }
    start = end;
  }
  return results.map((result) => result ?? { status: 'failed', error: { kind: 'internal', message: 'The step gave no result.' } });
}

/** What became of the processes of a plan that was begun elsewhere or before the machine started anew: there its pids name nothing. */
function sessionsLost(space: PidSpace): StepOutcome | undefined {
  const here = pidSpace();
  if (space.host !== here.host) return { status: 'interrupted', error: { kind: 'interrupted', message: 'The agent was to be ended on another host or in another container, which cannot be reached from here.' } };
  return space.boot === here.boot ? undefined : { status: 'already' };
}

/**
 * The steps that a crash cannot have left undone: a later step on the same file is done, as its state shows, and a file goes through its
 * states in the order of the plan.
 */
function overtakenSteps(plan: Plan): Set<number> {
  const overtaken = new Set<number>();
  const chains = new Map<string, { index: number; after: string }[]>();
  plan.steps.forEach((step, index) => {
    if (step.kind !== 'deleteFile' && step.kind !== 'writeFile') return;
    const chain = chains.get(step.path) ?? [];
    chain.push({ index, after: afterOf(step) });
    chains.set(step.path, chain);
  });
  for (const [file, chain] of chains) {
    if (chain.length < 2) continue;
    let state: string;
    try { state = fileState(file); } catch { continue; } // the step itself will say what is wrong
    const reached = chain.findLastIndex(({ after }) => after === state);
    for (const { index } of chain.slice(0, Math.max(0, reached))) overtaken.add(index);
  }
  return overtaken;
}

async function runBatch(request: RunRequest, plan: Plan, kind: StepKind, batch: { step: Step; context: StepContext; report(outcome: StepOutcome): void }[], recovering: boolean): Promise<void> {
  const executor = request.executors[kind] as StepExecutor | undefined;
  if (!executor) throw new Failure('internal', `No program part does ${kind}.`, 'Report this as a fault of Loopkeeper.');
  if (!executor.repeatable) {
    if (recovering) {
      for (const { step, report } of batch) report({ status: 'interrupted', error: { kind: 'interrupted', message: `Stopped before this was done, and it is not repeated: ${step.reason}` } });
      return;
    }
    appendBegun(request.store, plan.id, batch.map(({ context }) => context.index));
  }
  await executor.run(batch);
}

function isEffective(outcome: StepOutcome | undefined): boolean {
  return outcome?.status === 'done' || outcome?.status === 'already';
}

function appendBegun(store: Store, id: string, indices: number[]): void {
  const fd = fs.openSync(begunFile(store, id), 'a', 0o600);
  try { fs.writeSync(fd, indices.map((index) => `${String(index)}\n`).join('')); fs.fsyncSync(fd); } finally { fs.closeSync(fd); }
}

function readBegun(store: Store, id: string): number[] {
  try { return fs.readFileSync(begunFile(store, id), 'utf8').split('\n').filter(Boolean).map(Number); } catch { return []; }
}

/** Gathers per item what was verified and what failed. A piece is gone when every step that takes a part of it is verified. */
function outcomeOf(plan: Plan, steps: StepOutcome[], closedAt: string): Outcome {
  const items = new Map(plan.items.map((item) => [item.ref, { ref: item.ref, gone: new Set<string>(), there: new Set<string>(), errors: [...item.errors] }]));
  const warnings: Message[] = [];
  plan.steps.forEach((step, index) => {
    const outcome = steps[index];
    const item = step.item === undefined ? undefined : items.get(step.item);
    for (const piece of step.pieces ?? []) (isEffective(outcome) ? item?.gone : item?.there)?.add(piece);
    if (outcome?.error) {
      const { kind, message } = outcome.error;
      const error = { kind, message: step.onFailure === undefined ? message : `${step.onFailure}: ${message}` };
      if (item) item.errors.push(error); else warnings.push(error);
    }
  });
  return {
    steps, warnings, closedAt,
    items: [...items.values()].map(({ ref, gone, there, errors }) => ({ ref, removed: inOrder(plan, [...gone].filter((piece) => !there.has(piece))), errors })),
  };
}

/** Finishes what a killed program left, oldest first. A plan that cannot be finished is set aside and blocks nobody. */
async function recover(request: RunRequest): Promise<{ recovered: string[]; warnings: Message[] }> {
  const recovered: string[] = [];
  const warnings: Message[] = [];
  sweepTemporary(request.store);
  for (const unfinished of unfinishedPlans(request.store)) {
    const { id, plan, problem } = unfinished;
    if (isClosed(request.store, id)) {
      const closed = closedPlan(request.store, id);
      if (closed) eraseFinished(request.store, closed.plan, closed.outcome);
      dropJournal(request.store, id);
      continue;
    }
    try {
      if (!plan) throw new Failure('unreadable', problem ?? 'unreadable', '');
      await finishPlan({ ...request, onProgress: undefined }, plan, unfinished);
      recovered.push(id);
      warnings.push({ kind: 'plan-finished', message: `The unfinished plan ${id} (${plan.verb}) was finished first.` });
    } catch (error) {
      failJournal(request.store, id, messageOf(error));
      warnings.push({ kind: 'plan-failed', message: `The unfinished plan ${id} could not be finished: ${messageOf(error)} It was set aside; run \`loopkeeper doctor\`.` });
    }
  }
  return { recovered, warnings };
}

function plural(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
