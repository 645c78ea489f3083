// Writes one loop state file many times, as one of several programs that do so at once.
// usage: stateWriter.ts DIRECTORY NAME WRITES
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { runPlan } from '../../src/core/plan/engine';
import { fileExecutors } from '../../src/core/plan/fileSteps';
import { planWrite } from '../../src/core/retention/writePlans';

async function main(directory: string, name: string, writes: number): Promise<void> {
  const now = (): string => new Date().toISOString();
  for (let i = 0; i < writes; i += 1) {
    // The shared counter goes up by one for each write; the target of our own says whose write was the last.
    const target = i % 10 === 9 ? `integration:${name}` : 'integration:shared';
    const { outcome } = await runPlan({
      store: { directory: path.join(directory, '.loop/loopkeeper'), root: path.join(directory, '.loop') }, verb: 'loop-state-write', dryRun: false,
      build: (reader) => planWrite(reader, { directory, now: new Date() }, 'a', { target, outcome: 'rejected', mode: 'metadata' }).draft,
      executors: fileExecutors, clock: { now, real: now }, random: randomBytes(16).toString('hex'), pid: process.pid, lockWaitMs: 300_000,
    });
    const errors = outcome?.items.flatMap((item) => item.errors) ?? [];
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('; '));
  }
}

const [directory = '', name = '', writes = ''] = process.argv.slice(2);
main(directory, name, Number(writes)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
