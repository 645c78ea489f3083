import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, makePlace, root, runCli, type Place, type Ran } from './program';

export type FaultMode = 'kill' | 'EIO' | 'ENOSPC' | 'short' | 'full';
export const faultModes: readonly FaultMode[] = ['kill', 'EIO', 'ENOSPC', 'short', 'full'];

/** Runs the built program with the Nth operation that changes the disk killed or failed (`full`: a short write, then none at all). */
export function runWithFault(args: readonly string[], place: Place, mode: FaultMode | 'count', at: number, env: Record<string, string> = {}): Promise<Ran> {
  const report = path.join(place.top, 'operations');
  const fault = { mode: mode === 'full' ? 'short' : mode, full: mode === 'full', at, report };
  return runCli(args, { cwd: place.work, env: cleanEnv(place.home, { ...env, LK_FAULT: JSON.stringify(fault) }), nodeArgs: ['--require', path.join(root, 'test/support/faultPreload.cjs')] });
}

export interface FaultTest {
  /** Makes the state before the command; called once, the result is copied for each point. */
  prepare(place: Place): Promise<void> | void;
  args(place: Place): string[];
  /** Looks at the state right after the fault. */
  afterFault(place: Place, ran: Ran, point: string): void;
  /** What a person does next; its state is then looked at by `afterNext`. */
  next: string[];
  afterNext(place: Place, first: Ran, point: string): Promise<void> | void;
  env?: Record<string, string>;
  modes?: readonly FaultMode[];
}

/** Visits every operation of the command in every mode, several at a time. Gives how many points were visited and how many operations there are. */
export async function visitFaults(test: FaultTest): Promise<{ points: number; operations: number }> {
  const template = makePlace();
  try {
    await test.prepare(template);
    const counted = copyPlace(template);
    await runWithFault(test.args(counted), counted, 'count', 0, test.env);
    const operations = Number(fs.readFileSync(path.join(counted.top, 'operations'), 'utf8'));
    counted.remove();
    const points = (test.modes ?? faultModes).flatMap((mode) => Array.from({ length: operations }, (_, index) => ({ mode, at: index + 1 })));
    const queue = [...points];
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point; point = queue.shift()) {
        const place = copyPlace(template);
        const name = `${point.mode} at ${String(point.at)} of ${String(operations)}`;
        try {
          const ran = await runWithFault(test.args(place), place, point.mode, point.at, test.env);
          test.afterFault(place, ran, name);
          await runCli(test.next, { cwd: place.work, env: cleanEnv(place.home, test.env) });
          await test.afterNext(place, ran, name);
        } finally {
          place.remove();
        }
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    return { points: points.length, operations };
  } finally {
    template.remove();
  }
}

/** A copy of a place elsewhere; absolute paths in its state keep naming the template unless the state has none. */
export function copyPlace(place: Place): Place {
  const copy = makePlace();
  fs.cpSync(place.work, copy.work, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return copy;
}
