import type { StepExecutor } from '../plan/executor';
import { endSessions } from './close';
import type { EndOptions } from './close';

/** Does the `endSession` steps of a plan, those of a phase together (one grace). Repeatable: a process that has ended is not looked for. */
export function endSessionExecutor(options: Omit<EndOptions, 'signal'>): StepExecutor<'endSession'> {
  return {
    repeatable: true,
    async run(steps) {
      const results = await endSessions(steps.map(({ step }) => step), { ...options, signal: steps[0]?.context.signal });
      results.forEach(({ status, kind, message }, i) => {
        steps[i]?.report(status === 'failed' ? { status, error: { kind: kind ?? 'failed', message: message ?? '' } } : { status });
      });
    },
  };
}
