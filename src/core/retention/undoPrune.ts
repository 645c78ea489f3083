import * as z from 'zod/mini';
import { Failure, messageOf } from '../disk/failure';
import { sha256 } from '../disk/hash';
import { assertInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import type { PlanDraft } from '../plan/engine';
import { trashPath } from '../plan/fileSteps';
import type { ClosedPlan } from '../plan/journal';
import type { PlanItem, Step, WriteFileStep } from '../plan/plan';
import type { Store } from '../plan/store';
import type { Decision } from './decision';
import { restoreEntries, restoreLines } from './restore';
import type { Restored } from './restore';

/** The verb under which a prune by hand is filed. */
export const pruneVerb = 'loop-state-prune';

const Decided = z.looseObject({ pruned: z.array(z.object({ key: z.string(), action: z.enum(['delete', 'cooldown']) })) });

/** True for a plan whose undo goes entry by entry. */
export function isPrune(closed: ClosedPlan): boolean {
  return closed.plan.verb === pruneVerb;
}

/**
 * Plans the undo of a prune: the file as it was where nobody has written it since; else each entry that is absent is put back, and what others
 * wrote meanwhile stays. An entry that is there again is not an error: it is newer than what was pruned.
 * Failure `nothing-to-undo`.
 */
export function planPruneUndo(store: Store, closed: ClosedPlan, reader: Reader): PlanDraft {
  const { plan } = closed;
  const steps: Step[] = [];
  const items: PlanItem[] = [];
  plan.steps.forEach((step, index) => {
    const status = closed.outcome.steps[index]?.status;
    if (step.kind !== 'writeFile' || step.item === undefined || (status !== 'done' && status !== 'already')) return;
    const item: PlanItem = { ref: step.item, found: false, live: false, kept: [], errors: [], notices: [], decision: null };
    items.push(item);
    try {
      const taken = Decided.safeParse(plan.items.find(({ ref }) => ref === step.item)?.decision).data?.pruned ?? [];
      const restored = restoreFile(step, reader, trashPath({ store, planId: plan.id, index }, step.path), taken.map((entry) => ({ ...entry, reason: 'expired' as const })));
      if (restored.kept.length > 0) item.notices.push({ kind: 'written-since', message: `Written since, so left as they are: ${restored.kept.join(', ')}.` });
      item.found = restored.back.length > 0;
      item.decision = { back: restored.back };
      if (restored.text === restored.now) return;
      steps.push({
        kind: 'writeFile', item: step.item, path: step.path, root: step.root, before: sha256(restored.now), after: sha256(restored.text), content: { text: restored.text },
        reason: `${String(restored.back.length)} back`, undo: 'restore', phase: 0, pieces: restored.back,
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      item.errors.push({ kind: error.kind, message: messageOf(error) });
    }
  });
  if (steps.length === 0 && items.every(({ errors }) => errors.length === 0)) {
    throw new Failure('nothing-to-undo', `Nothing of ${plan.id} is left to undo.`, 'See `loopkeeper undo --list`.', 1);
  }
  return { items, steps, warnings: [], events: [], pieceOrder: plan.pieceOrder, keepTrash: true, undoes: plan.id };
}

function restoreFile(step: WriteFileStep, reader: Reader, kept: string, taken: Decision[]): Restored & { now: string } {
  assertInside(step.root, step.path);
  const before = reader.text(kept);
  if (before === undefined) throw new Failure('purged', `${step.path} as it was is no longer in the trash.`, '');
  const now = reader.text(step.path);
  if (now === undefined) throw new Failure('changed', `${step.path} is gone; it is not made anew.`, '');
  if (sha256(now) === step.after) return { text: before, back: taken.map(({ key }) => key), kept: [], now };
  const restored = step.path.endsWith('.md') ? restoreLines(before, now, taken) : restoreEntries(before, now, 'targets', taken) ?? restoreEntries(before, now, 'runs', taken);
  if (restored === undefined) throw new Failure('changed', `${step.path} cannot be understood any more; it is left as it is.`, '');
  return { ...restored, now };
}
