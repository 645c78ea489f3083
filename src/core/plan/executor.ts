import type { Step, StepKind } from './plan';
import type { Store } from './store';
import type { StepOutcome } from './journal';

export interface StepContext {
  store: Store;
  planId: string;
  /** Position in the plan: names the trash entry and the temporary file. */
  index: number;
  keepTrash: boolean;
  signal?: AbortSignal;
  /** Directories to flush at the end of the phase. */
  touch(directory: string): void;
}

/** Does one kind of step. Every step of a phase is given at once, so that what can be shared (a grace period) is. */
export interface StepExecutor<K extends StepKind = StepKind> {
  /** False: after a crash it is not known whether it happened, so it is never done again. */
  repeatable: boolean;
  /**
   * Does the steps, each checking its own file again just before, and looks at the effect afterwards.
   * `report` is called once per step; what it throws for a step is caught by the engine as that step's failure.
   */
  run(steps: { step: Extract<Step, { kind: K }>; context: StepContext; report(outcome: StepOutcome): void }[]): Promise<void>;
}

export type Executors = { [K in StepKind]?: StepExecutor<K> };

/** The outcome of a step that failed, from whatever was thrown: a kind and a sentence. */
export function failed(kind: string, message: string): StepOutcome {
  return { status: 'failed', error: { kind, message } };
}
