import type { RunResult } from '../core/plan/engine';
import { inOrder, type Step } from '../core/plan/plan';
import type { ItemReply, PlanReply, StepView } from '../protocol/plan';
import type { Message } from '../protocol/message';
import type { Terminal } from './output';
import { plain, plural } from './output';

/** A step as it is shown: no contents, no hashes. */
export function stepView(step: Step): StepView {
  const path = 'path' in step ? step.path : step.kind === 'moveCheckout' ? step.moves[0]?.from : 'terminal' in step ? step.terminal : 'repository' in step ? step.repository : undefined;
  return { kind: step.kind, ...(path === undefined ? {} : { path }), reason: step.reason, undo: step.undo };
}

/**
 * The reply of a plan, dry or done. `removed` is what would go in a dry run, what was verified to be gone after it;
 * `extra` adds what a verb shows of an item besides.
 */
export function planReply(result: RunResult, options: { stateRoot?: string; warnings?: Message[]; extra?: (ref: string) => Partial<ItemReply>; passedOver?: PlanReply['passedOver'] } = {}): PlanReply {
  const { plan, outcome } = result;
  const outcomes = new Map(outcome?.items.map((item) => [item.ref, item]));
  const steps = new Map<string, Step[]>();
  for (const step of plan.steps) {
    const key = step.item ?? '';
    const known = steps.get(key);
    if (known) known.push(step); else steps.set(key, [step]);
  }
  const items = plan.items.map((item): ItemReply => {
    const own = steps.get(item.ref) ?? [];
    const done = outcomes.get(item.ref);
    return {
      ref: item.ref,
      found: item.found,
      live: item.live,
      removed: done?.removed ?? inOrder(plan, [...new Set(own.flatMap((step) => step.pieces ?? []))]),
      kept: item.kept,
      errors: done?.errors ?? item.errors,
      notices: item.notices,
      attention: [],
      steps: own.map(stepView),
      ...options.extra?.(item.ref),
    };
  });
  return {
    verb: plan.verb, dryRun: outcome === undefined, plan: plan.id, digest: plan.digest,
    ...(options.stateRoot === undefined ? {} : { stateRoot: options.stateRoot }),
    items, ...(options.passedOver === undefined ? {} : { passedOver: options.passedOver }),
    warnings: [...(options.warnings ?? []), ...plan.warnings, ...(outcome?.warnings ?? [])],
  };
}

/** 0 every item found and without errors · 1 otherwise, also with nothing at all · 3 when a file changed since (undo). */
export function exitCodeOf(reply: PlanReply): number {
  if (reply.verb === 'undo' && reply.items.some((item) => item.errors.some((error) => error.kind === 'changed'))) return 3;
  return reply.items.length > 0 && reply.items.every((item) => item.found && item.errors.length === 0) ? 0 : 1;
}

/** Warnings on standard error, in yellow. */
export function printWarnings(out: Terminal, warnings: readonly Message[]): void {
  for (const warning of warnings) out.error(`${out.paint('yellow', 'warning')}: ${plain(warning.message)}`);
}

/** Closing line for a person: what to do next with the plan. */
export function printNextStep(out: Terminal, reply: PlanReply, commandLine: string): void {
  const changed = reply.items.filter((item) => item.removed.length > 0);
  if (changed.length === 0) return;
  out.line();
  out.line(out.paint('dim', reply.dryRun
    ? `Nothing was changed. To apply exactly this: ${commandLine} --expect ${reply.digest}`
    : `${plural(changed.length, 'item')} done. To take it back: loopkeeper undo ${reply.plan}`));
}
