import fs from 'node:fs';
import { Failure } from '../disk/failure';
import { sha256 } from '../disk/hash';
import type { Reader } from '../disk/reader';
import { identityOf } from '../disk/tree';
import type { PlanSummary } from '../../protocol/plan';
import { trashPath } from './fileSteps';
import { closedPlan, closedPlanIds, failedPlans, unfinishedPlans, type ClosedPlan } from './journal';
import type { PlanDraft } from './engine';
import { ABSENT, afterOf, type EventTemplate, type FileState, type Plan, type PlanItem, type Step } from './plan';
import { isPlanId, type Store } from './store';
import { hasTrash } from './trash';

type FileStep = Extract<Step, { kind: 'deleteFile' | 'writeFile' }>;

/** What a plan did to one file, taken together: the state before its first step and after its last. */
interface FileChange { path: string; root: string; before: FileState; after: FileState; kept: string; phase: number; pieces: string[] }

/** Runs over the effective steps of one item. */
function changesOf(store: Store, closed: ClosedPlan, ref: string): { files: FileChange[]; moves: { step: Extract<Step, { kind: 'moveCheckout' }> }[]; cannot: string[] } {
  const files = new Map<string, FileChange>();
  const moves: { step: Extract<Step, { kind: 'moveCheckout' }> }[] = [];
  const cannot: string[] = [];
  closed.plan.steps.forEach((step, index) => {
    if (step.item !== ref) return;
    const status = closed.outcome.steps[index]?.status;
    if (status !== 'done' && status !== 'already') return;
    if (isBeyondUndo(step)) { cannot.push(step.reason); return; }
    if (step.kind === 'moveCheckout') { moves.push({ step }); return; }
    if (step.kind !== 'deleteFile' && step.kind !== 'writeFile') return;
    const after = afterOf(step);
    const known = files.get(step.path);
    if (known) { known.after = after; known.pieces.push(...(step.pieces ?? [])); return; }
    files.set(step.path, {
      path: step.path, root: step.root, before: step.before, after, kept: trashPath({ store, planId: closed.plan.id, index }, step.path),
      phase: step.phase, pieces: [...(step.pieces ?? [])],
    });
  });
  return { files: [...files.values()], moves, cannot };
}

function stateOf(reader: Reader, file: string): FileState {
  const bytes = reader.bytes(file);
  return bytes === undefined ? ABSENT : sha256(bytes);
}

const trashGone = (what: string) => ({ kind: 'purged', message: `${what} is no longer in the trash.` });

/**
 * Plans the undo of a filed plan: files go back byte for byte where nobody has changed them since, item by item; what follows from others is
 * rebuilt. Phases run in reverse, so that an item is armed only when its session record is back (design §3).
 * Failures: `no-such-plan`, `nothing-to-undo`. An item that changed since is left whole, with the error `changed`.
 */
export function planUndo(store: Store, closed: ClosedPlan, reader: Reader, actor: string | undefined): PlanDraft {
  const original = closed.plan;
  if (!original.keepTrash) throw new Failure('nothing-to-undo', `${original.id} was made without trash; nothing was kept to bring back.`, 'There is no way back for it.', 2);
  const chains: Step[][] = [];
  const items: PlanItem[] = [];
  const events: EventTemplate[] = [];
  const lastPhase = Math.max(0, ...original.steps.map((step) => step.phase));
  for (const { ref } of original.items) {
    const { files, moves, cannot } = changesOf(store, closed, ref);
    const item: PlanItem = { ref, found: false, live: false, kept: [], errors: [], notices: cannot.map((message) => ({ kind: 'cannot-undo', message: `Not brought back: ${message}.` })), decision: null };
    const own: Step[] = [];
    for (const file of files) {
      const now = stateOf(reader, file.path);
      if (now === file.before || file.before === file.after) continue;
      if (now !== file.after) { item.errors.push({ kind: 'changed', message: `${file.path} was changed since; it is left as it is.` }); continue; }
      const common = { item: ref, path: file.path, root: file.root, before: now, phase: lastPhase - file.phase, pieces: file.pieces };
      if (file.before === ABSENT) own.push({ ...common, kind: 'deleteFile', reason: 'it was made by the plan that is undone', undo: 'restore' });
      else if (!fs.existsSync(file.kept)) item.errors.push(trashGone(file.path));
      else own.push({ ...common, kind: 'writeFile', after: file.before, content: { from: file.kept }, reason: 'back to what it was', undo: 'restore' });
    }
    for (const { step } of moves) {
      const back = step.moves.filter((move) => identityOf(move.from) === '' || identityOf(move.to) !== '').reverse();
      if (back.every((move) => identityOf(move.to) === '' && identityOf(move.from) === move.identity)) continue;
      for (const move of back) {
        if (identityOf(move.to) === '') item.errors.push(trashGone(move.from));
        else if (reader.kind(move.from) !== 'absent') item.errors.push({ kind: 'changed', message: `${move.from} is there again; it is left as it is.` });
      }
      own.push({
        kind: 'moveCheckout', item: ref, reason: 'the checkout, as it was', undo: 'restore', phase: lastPhase - step.phase, pieces: step.pieces,
        moves: back.map((move) => ({ from: move.to, to: move.from, root: move.toRoot, toRoot: move.root, identity: identityOf(move.to) })),
      });
    }
    item.found = own.length > 0;
    item.decision = own.map((step) => ({ kind: step.kind, paths: 'path' in step ? [step.path] : step.kind === 'moveCheckout' ? step.moves.map((move) => move.to) : [] }));
    if (item.errors.length === 0) chains.push(own.sort((a, b) => a.phase - b.phase));
    items.push(item);
    for (const template of original.events.filter((candidate) => candidate.item === ref)) {
      events.push({
        item: ref, log: template.log, root: template.root, source: template.source, event: `${template.event.replace(/_undone$/, '')}_undone`,
        fields: { work_item: template.fields['work_item'], actor, undoes: original.id }, piecesAs: 'restored',
      });
    }
  }
  const steps = chained(chains);
  if (steps.length > 0) steps.push(...original.steps.filter((step) => step.kind === 'rebuildIndex').map((step) => rebuiltAfter(step, steps, lastPhase + 1)));
  if (items.every((item) => !item.found && item.errors.length === 0)) {
    const notices = items.flatMap((item) => item.notices.map((notice) => notice.message));
    throw new Failure('nothing-to-undo', `Nothing of ${original.id} is left that undo can bring back.${notices.map((notice) => ` ${notice}`).join('')}`, 'See `loopkeeper undo --list`.', 1);
  }
  return { items, steps, warnings: [], events, pieceOrder: original.pieceOrder, keepTrash: true, undoes: original.id };
}

/** The same file made anew behind the steps of the undo, whatever the original waited for: its positions are those of another plan. */
function rebuiltAfter(step: Extract<Step, { kind: 'rebuildIndex' }>, steps: readonly Step[], phase: number): Step {
  return { ...step, phase, reason: 'made anew from what is there', requires: [], requiresAny: steps.map((_, position) => position) };
}

/** All steps by phase; of an item each waits for the one before it: what arms it must not come back when its session record could not. */
function chained(chains: Step[][]): Step[] {
  const order = chains.flatMap((chain) => chain.map((step, position) => ({ step, previous: chain[position - 1] }))).sort((a, b) => a.step.phase - b.step.phase);
  const positions = new Map(order.map(({ step }, position) => [step, position]));
  return order.map(({ step, previous }) => {
    const waitsFor = previous && positions.get(previous);
    return waitsFor === undefined ? step : { ...step, requires: [waitsFor] };
  });
}

/** The filed plan of this id. Failures (exit 1): `no-such-plan`; (exit 2) `invalid-plan-id`. */
export function planToUndo(store: Store, id: string): ClosedPlan | undefined {
  if (!isPlanId(id)) throw new Failure('invalid-plan-id', `${JSON.stringify(id.slice(0, 80))} is no plan id.`, 'See `loopkeeper undo --list`.', 2);
  return closedPlan(store, id);
}

/** Every plan of a store, newest first, and whether it can be undone. Reading only. */
export function listPlans(store: Store): PlanSummary[] {
  const plans = closedPlanIds(store).flatMap((id) => closedPlan(store, id) ?? []);
  const undone = new Set(plans.flatMap(({ plan, outcome }) => (plan.undoes !== undefined && outcome.items.every((item) => item.errors.length === 0) ? [plan.undoes] : [])));
  const summary = (plan: Plan, state: PlanSummary['state'], cannot: string[]): PlanSummary =>
    ({ plan: plan.id, verb: plan.verb, createdAt: plan.createdAt, items: plan.items.map((item) => item.ref), state, cannot, store: store.directory });
  const closed = plans.map(({ plan, outcome }) => {
    const effective = plan.steps.filter((_, index) => ['done', 'already'].includes(outcome.steps[index]?.status ?? ''));
    const restorable = effective.filter((step) => step.undo === 'restore' && step.kind !== 'rebuildIndex');
    const cannot = effective.filter(isBeyondUndo).map((step) => step.reason);
    const needsTrash = restorable.some((step) => (isFileStep(step) && step.before !== ABSENT) || step.kind === 'moveCheckout');
    const state = restorable.length === 0 ? 'irreversible' : undone.has(plan.id) ? 'undone' : !plan.keepTrash || (needsTrash && !hasTrash(store, plan.id, plan)) ? 'purged' : 'undoable';
    return summary(plan, state, cannot);
  });
  const unfinished = unfinishedPlans(store).flatMap(({ plan }) => (plan ? [summary(plan, 'unfinished', [])] : []));
  const failed = failedPlans(store).flatMap(({ plan }) => (plan ? [summary(plan, 'failed', [])] : []));
  return [...closed, ...unfinished, ...failed].sort((a, b) => (a.plan < b.plan ? 1 : -1));
}

/** What undo leaves as it is; where a verb is the way back, the reason names it. What follows from other files is made anew instead. */
function isBeyondUndo(step: Step): boolean {
  return step.undo === 'none' || (step.undo === 'inverse' && step.kind !== 'rebuildIndex');
}

function isFileStep(step: Step): step is FileStep {
  return step.kind === 'deleteFile' || step.kind === 'writeFile';
}
