import fs from 'node:fs';
import path from 'node:path';
import { Failure } from '../core/disk/failure';
import { diskReader } from '../core/disk/reader';
import type { Reader } from '../core/disk/reader';
import { digestOf } from '../core/plan/digest';
import { runPlan } from '../core/plan/engine';
import type { RunResult } from '../core/plan/engine';
import type { Plan, Step } from '../core/plan/plan';
import { ensureStore, planIdOf } from '../core/plan/store';
import { pruned } from '../core/retention/changes';
import type { DraftOptions, FileChange, LoopStatePlan } from '../core/retention/changes';
import { loopDirectory, stateFiles } from '../core/retention/stateFiles';
import { askGit } from '../core/workspaces/git';
import type { Git } from '../core/workspaces/git';
import { checkoutKnowledge } from '../core/workspaces/knowledge';
import { parseRemoteBranch, pushFiles } from '../core/workspaces/statePush';
import type { LoopStateChangeReply } from '../protocol/loopState';
import type { Message } from '../protocol/message';
import { flag, planOptions, text, type Context, type Option, type Values } from './command';
import { printChange } from './loopStateText';
import { planReply } from './planReply';
import { contextWarnings, loopStateStore, runDefaults } from './state';

/** Where the files are. */
export const placeOptions = {
  dir: { type: 'string', value: 'DIR', help: 'The directory whose .loop is meant, instead of the working directory.' },
} satisfies Record<string, Option>;

/** Options of every verb that changes loop state. */
export const changeOptions = {
  commit: { type: 'boolean', help: 'Commit the state files after the change.' },
  push: { type: 'string', value: 'REMOTE/BRANCH', help: 'With --commit: plan on the tip of that branch, commit there and push. Your checkout, index and branches stay untouched.' },
  ...placeOptions,
  ...planOptions,
} satisfies Record<string, Option>;

/** What a verb is planned with. */
export interface Place { directory: string; now: Date; commit?: NonNullable<DraftOptions['commit']> }

export interface ChangeRequest {
  /** `loop-state-write`; names the plan. */
  verb: string;
  /** The command line without the options of plans, to paste. */
  line: string[];
  message: string;
  plan(reader: Reader, place: Place): LoopStatePlan;
}

export function directoryOf(context: Context, values: Values): string {
  return path.resolve(context.cwd, text(values, 'dir') ?? '.');
}

export function gitOf(context: Context, directory: string): Git {
  return { command: context.env['LOOPKEEPER_GIT'] || 'git', cwd: directory, env: context.env, signal: context.signal };
}

interface Done { result: RunResult; changes: FileChange[]; pushed: LoopStateChangeReply['pushed']; warnings: Message[] }

/** Runs one changing verb, here or at the tip of a remote branch, and prints what came of it. Gives the exit code. */
export async function changeState(context: Context, values: Values, request: ChangeRequest): Promise<number> {
  const push = text(values, 'push');
  if (push !== undefined && !flag(values, 'commit')) throw new Failure('usage', '--push needs --commit.', 'Add --commit, or leave --push out.', 2);
  const directory = directoryOf(context, values);
  const done = push === undefined ? await changeHere(context, values, request, directory) : await changeThere(context, values, request, directory, push);
  const { changes } = done;
  const counts = new Map<string, { action: string; reason: string; count: number }>();
  for (const { action, reason } of changes.flatMap(({ decisions }) => decisions)) {
    const entry = counts.get(`${action} ${reason}`) ?? { action, reason, count: 0 };
    entry.count += 1;
    counts.set(`${action} ${reason}`, entry);
  }
  const reply: LoopStateChangeReply = {
    ...planReply(done.result, { warnings: [...contextWarnings(context), ...done.warnings] }),
    pruned: changes.flatMap((change) => pruned(change).map(({ key, action, reason }) => ({ ref: change.file.ref, key, action: action === 'delete' ? 'delete' as const : 'cooldown' as const, reason }))),
    written: changes.flatMap((change) => change.written.map((key) => ({ ref: change.file.ref, key }))),
    skipped: changes.flatMap(({ file, skipped }) => (skipped === null ? [] : [{ ref: file.ref, why: skipped }])),
    counts: [...counts.values()],
    committed: committedOf(done.result),
    pushed: done.pushed,
  };
  context.out.document(reply);
  if (!context.out.json) printChange(context.out, reply, request.line);
  const isCommitMissing = reply.committed !== null && ['failed', 'interrupted'].includes(reply.committed.status);
  return isCommitMissing || reply.items.some((item) => !item.found || item.errors.length > 0) ? 1 : 0;
}

function committedOf({ plan, outcome }: RunResult): LoopStateChangeReply['committed'] {
  const index = plan.steps.findIndex(({ kind }) => kind === 'gitCommit');
  const step = plan.steps[index];
  if (step?.kind !== 'gitCommit') return null;
  return { message: step.message, paths: step.paths, status: outcome === undefined ? 'planned' : outcome.steps[index]?.status ?? 'failed' };
}

async function changeHere(context: Context, values: Values, request: ChangeRequest, directory: string): Promise<Done> {
  const expect = text(values, 'expect');
  const repository = flag(values, 'commit') ? await askGit(gitOf(context, directory), ['rev-parse', '--show-toplevel']).catch(noRepository(directory)) : undefined;
  let planned: LoopStatePlan | undefined;
  const store = loopStateStore(directory);
  const run = async (dryRun: boolean): Promise<RunResult> => runPlan({
    ...await runDefaults(context), store, verb: request.verb, dryRun, ...(expect === undefined ? {} : { expect }),
    build: (reader) => {
      const place: Place = { directory, now: new Date(context.clock.now()) };
      // Every state file goes into the commit: a ledger that was recorded before rides along.
      if (repository !== undefined) place.commit = { repository, message: request.message, paths: stateFiles(reader, directory).map(({ path: file }) => path.relative(repository, file)) };
      planned = request.plan(reader, place);
      return planned.draft;
    },
  });
  let result: RunResult | undefined;
  // Where we never were, a command that finds nothing to do leaves nothing behind.
  if (!flag(values, 'dry-run') && !fs.existsSync(store.directory)) {
    const { plan, recovered } = await run(true);
    if (plan.steps.length === 0 && expect === undefined) {
      result = { plan, recovered, outcome: { steps: [], items: plan.items.map(({ ref, errors }) => ({ ref, removed: [], errors })), warnings: [], closedAt: context.clock.real() } };
    }
  }
  result ??= await run(flag(values, 'dry-run'));
  if (!planned) throw new Error('the engine made no plan');
  return { result, changes: planned.changes, pushed: null, warnings: [] };
}

function noRepository(directory: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Failure) || error.kind !== 'no-repository') throw error;
    throw new Failure('no-repository', `${directory} is in no git repository, so nothing can be committed.`, 'Leave --commit out, or run it inside of the checkout.', 2);
  };
}

async function changeThere(context: Context, values: Values, request: ChangeRequest, directory: string, push: string): Promise<Done> {
  const git = gitOf(context, directory);
  const dryRun = flag(values, 'dry-run');
  const expect = text(values, 'expect');
  const repository = await askGit(git, ['rev-parse', '--show-toplevel']).catch(noRepository(directory));
  const { remote, branch } = await parseRemoteBranch(git, push);
  const store = loopStateStore(directory);
  if (!dryRun) ensureStore(store);
  const folder = loopDirectory(directory);
  const random = context.random();
  const done = await pushFiles({
    git, remote, branch, folder, scratch: store.directory, pid: context.pid, random,
    plan(tip) {
      const planned = request.plan(orWorkingCopy(tip), { directory, now: new Date(context.clock.now()) });
      const plan = planOf(context, request.verb, planned, { repository, remote, branch }, random);
      if (expect !== undefined && expect !== plan.digest) {
        throw new Failure('stale-plan', `What is on ${remote}/${branch} is no longer what was shown; nothing was changed.`, 'Look at a new dry run, then apply that.', 3, { digest: plan.digest });
      }
      const files = dryRun ? [] : plan.steps.flatMap((step) => (step.kind === 'writeFile' && 'text' in step.content ? [{ path: step.path, text: step.content.text }] : []));
      return { files, message: request.message, plan: { plan, changes: planned.changes } };
    },
  });
  const { plan, changes } = done.plan;
  const removed = (ref: string): string[] => plan.steps.flatMap((step) => (step.item === ref ? step.pieces ?? [] : []));
  const result: RunResult = {
    plan, recovered: [],
    ...(dryRun ? {} : { outcome: { steps: plan.steps.map(() => ({ status: 'done' as const })), items: plan.items.map((item) => ({ ref: item.ref, removed: removed(item.ref), errors: item.errors })), warnings: [], closedAt: context.clock.real() } }),
  };
  return { result, changes, pushed: done.commit === null ? null : { commit: done.commit, remote, branch, attempts: done.attempts }, warnings: await leftOut(git, directory) };
}

/** A file that is not on the branch yet is taken from the working copy, so that a first push loses no cursor. */
function orWorkingCopy(tip: Reader): Reader {
  const at = (file: string): Reader => (tip.kind(file) === 'absent' ? diskReader : tip);
  return { kind: (file) => at(file).kind(file), text: (file, limit) => at(file).text(file, limit), bytes: (file, limit) => at(file).bytes(file, limit), list: (directory) => tip.list(directory) };
}

function planOf(context: Context, verb: string, planned: LoopStatePlan, target: { repository: string; remote: string; branch: string }, random: string): Plan {
  const createdAt = context.clock.now();
  const writes = planned.draft.steps.map((step): Step => ({ ...step, reason: `in the commit on ${target.remote}/${target.branch}: ${step.reason}`, undo: 'none' }));
  const push: Step[] = writes.length === 0 ? [] : [{ kind: 'gitPush', ...target, reason: 'the commit stays; git revert takes it back', undo: 'none', phase: 1 }];
  const plan: Plan = { id: planIdOf(createdAt, random.slice(0, 8)), verb, createdAt, ...planned.draft, keepTrash: false, steps: [...writes, ...push], digest: '' };
  return { ...plan, digest: digestOf(plan) };
}

/** Changes of the working copy that a push from the tip does not hold. */
async function leftOut(git: Git, directory: string): Promise<Message[]> {
  const files = stateFiles(diskReader, directory).map(({ ref }) => ref);
  const uncommitted = files.length === 0 ? [] : (await checkoutKnowledge(git, files))?.uncommitted ?? [];
  return uncommitted.length === 0 ? [] : [{ kind: 'uncommitted-state', message: `The working copy of ${uncommitted.join(', ')} has changes of its own; they were not pushed.` }];
}
