// Resets and undoes many times, as one of several programs that do so at once; the built core in one process, so that starting does not cost.
// usage: resetDriver.js DIRECTORY SEED OPERATIONS
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { resolveCliConfig } from '../../src/core/config/cliConfig';
import { Failure } from '../../src/core/disk/failure';
import { executorsFor } from '../../src/core/executors';
import { runPlan, type RunRequest } from '../../src/core/plan/engine';
import { closedPlan, closedPlanIds } from '../../src/core/plan/journal';
import { planUndo } from '../../src/core/plan/undo';
import { gatherReset } from '../../src/core/sessions/resetFacts';
import { planReset } from '../../src/core/sessions/resetPlan';

async function main(directory: string, seed: number, operations: number): Promise<void> {
  const config = resolveCliConfig(undefined, null, { cwd: directory, home: directory });
  const store = { directory: path.join(config.stateRoot, 'loopkeeper'), root: config.stateRoot };
  const now = (): string => new Date().toISOString();
  const told: { plan: string; verb: string; events: number }[] = [];
  const effective: string[] = [];
  let state = seed;
  const below = (limit: number): number => { state = (state * 48_271) % 2_147_483_647; return state % limit; };
  const run = (verb: string, build: RunRequest['build']) => runPlan({
    store, verb, build, dryRun: false, executors: executorsFor({ git: { command: 'no-git', env: {} }, clock: { milliseconds: () => performance.now(), sleep: () => Promise.resolve() }, callerPid: process.pid }),
    clock: { now, real: now }, random: randomBytes(16).toString('hex'), pid: process.pid, lockWaitMs: 300_000,
  });
  const reset = () => {
    const refs = Array.from({ length: 1 + below(3) }, () => `github:octo/repo#${String(1 + below(50))}`);
    return run('reset', async (reader, planId) => planReset((await gatherReset({
      config, selection: { refs }, includeGraph: below(2) === 0, keepTrash: true, actor: 'driver', mayExecute: false, git: 'no-git', env: {}, tmux: { command: 'no-tmux' },
      caller: { pid: process.pid }, trash: { storeDirectory: store.directory, planId },
    }, reader)).facts, reader));
  };
  const undo = () => {
    // Its own last reset that removed something, or any plan, also one that another program undoes at this moment.
    const own = below(4) > 0 ? effective.pop() : undefined;
    const ids = closedPlanIds(store).slice(-30);
    const closed = closedPlan(store, own ?? ids[below(ids.length)] ?? '');
    return closed ? run('undo', (reader) => planUndo(store, closed, reader, 'driver')) : reset();
  };
  let refused = 0;
  for (let i = 0; i < operations; i += 1) {
    try {
      const { plan, outcome } = await (below(5) < 3 ? reset() : undo());
      told.push({ plan: plan.id, verb: plan.verb, events: plan.events.length });
      if (plan.verb === 'reset' && outcome?.items.some(({ removed }) => removed.length > 0)) effective.push(plan.id);
    } catch (error) {
      // Another program was quicker: nothing of that plan is left to undo.
      if (!(error instanceof Failure) || error.kind !== 'nothing-to-undo') throw error;
      refused += 1;
    }
  }
  process.stdout.write(JSON.stringify({ told, refused }));
}

const [directory = '', seed = '', operations = ''] = process.argv.slice(2);
main(directory, Number(seed), Number(operations)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
