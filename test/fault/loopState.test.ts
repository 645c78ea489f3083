import * as assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, readTree, runCli, writeFiles, type Place } from '../support/program';
import { copyPlace, visitFaults } from '../support/faults';

const env = { LOOPKEEPER_NOW: '2026-08-22T10:00:00Z' };
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const old = { last_run: '2026-07-01T00:00:00Z', outcome: 'rejected', consecutive_failures: 3, last_reject_reason: 'r' };
const files = {
  '.loop/state-a.json': pretty({ targets: { 'integration:main': { ...old, last_sha: 's' }, 'pull_request:7': old, 'integration:dev': { last_sha: 'd' } } }),
  '.loop/state-ci-sweeper-run-ledger.json': pretty({ runs: { 1: { updated_at: '2026-07-01T00:00:00Z' }, 2: { updated_at: '2026-08-20T00:00:00Z' } } }),
  '.loop/loop-run-log.md': '# Loop Run Log\n\n{"run_id":"2026-07-01"}\n{"run_id":"2026-08-20"}\n',
};
/** A changing command on another loop: it finishes what is unfinished. */
const next = ['loop-state', 'write', '--loop', 'other', '--target', 't', '--outcome', 'watch', '--mode', 'metadata', '--json'];
const verbs: Record<string, string[]> = {
  write: ['loop-state', 'write', '--loop', 'a', '--target', 'integration:main', '--outcome', 'rejected', '--mode', 'metadata', '--json'],
  prune: ['loop-state', 'prune', '--json'],
};

/** The state files alone: ours, temporary files and the one of `next` left out. */
const stateOf = (place: Place): Record<string, string> => readTree(place.work, (name) => name === '.loop/loopkeeper' || name === '.loop/state-other.json' || path.basename(name).startsWith('.lk-'));

function assertSettled(place: Place, point: string): void {
  assert.deepEqual(fs.readdirSync(path.join(place.work, '.loop')).filter((name) => name.startsWith('.lk-')), [], `${point}: left behind`);
  assert.deepEqual(fs.readdirSync(path.join(place.work, '.loop/loopkeeper/journal')).filter((name) => name !== 'failed'), [], `${point}: the journal is not empty`);
}

describe('faults at every file operation of loop state', function () {
  this.timeout(30 * 60_000);

  for (const [name, args] of Object.entries(verbs)) {
    it(`of ${name}: each file old or new, never torn; finished by the next command`, async () => {
      let before: Record<string, string> = {};
      let done: Record<string, string> = {};
      const counts = { untouched: 0, finished: 0, said: 0 };
      const { points, operations } = await visitFaults({
        env,
        async prepare(place) {
          writeFiles(place.work, files);
          before = stateOf(place);
          const copy = copyPlace(place);
          assert.equal((await runCli(args, { cwd: copy.work, env: cleanEnv(copy.home, env) })).code, 0);
          done = stateOf(copy);
          copy.remove();
          assert.notDeepEqual(before, done);
        },
        args: () => args,
        next,
        afterFault(place, _ran, point) {
          for (const [file, text] of Object.entries(stateOf(place))) assert.ok(text === before[file] || text === done[file], `${point}: ${file} is neither old nor new:\n${text}`);
        },
        async afterNext(place, first, point) {
          assertSettled(place, point);
          const state = stateOf(place);
          const changed = Object.keys(done).filter((file) => before[file] !== done[file]);
          const finished = changed.filter((file) => state[file] === done[file]);
          for (const [file, text] of Object.entries(state)) assert.ok(text === before[file] || text === done[file], `${point}: ${file} is neither old nor new`);
          if (finished.length === changed.length) { counts.finished += 1; return; }
          if (finished.length === 0) counts.untouched += 1;
          if (first.signal === null) {
            assert.notEqual(first.code, 0, `${point}: not done, and not said`);
            counts.said += 1;
          } else {
            assert.equal(finished.length, 0, `${point}: a killed program leaves a plan that the next one finishes`);
          }
          await runCli(args, { cwd: place.work, env: cleanEnv(place.home, env) });
          assert.deepEqual(stateOf(place), done, `${point}: run again`);
        },
      });
      console.log(`      ${name}: ${String(points)} points visited (${String(operations)} operations × 5 faults): ${String(counts.untouched)} untouched, ${String(counts.finished)} finished, ${String(counts.said)} said`);
      assert.ok(operations > 15 && counts.finished > 15 && counts.untouched > 10, JSON.stringify({ operations, ...counts }));
    });
  }

  it('of the undo of a prune: each file pruned or as it was', async () => {
    let pruned: Record<string, string> = {};
    let plan = '';
    const { operations } = await visitFaults({
      env,
      async prepare(place) {
        writeFiles(place.work, files);
        plan = (JSON.parse((await runCli(verbs['prune'] ?? [], { cwd: place.work, env: cleanEnv(place.home, env) })).stdout) as { plan: string }).plan;
        pruned = stateOf(place);
      },
      args(place) {
        rebase(place, plan);
        return ['undo', plan, '--json'];
      },
      next,
      afterFault(place, _ran, point) {
        for (const [file, text] of Object.entries(stateOf(place))) assert.ok(text === files[file as keyof typeof files] || text === pruned[file], `${point}: ${file} is neither pruned nor as it was`);
      },
      async afterNext(place, _first, point) {
        assertSettled(place, point);
        if (Object.entries(files).some(([file, text]) => stateOf(place)[file] !== text)) await runCli(['undo', plan, '--json'], { cwd: place.work, env: cleanEnv(place.home, env) });
        assert.deepEqual(stateOf(place), files, point);
      },
    });
    assert.ok(operations > 15);
  });
});

/** A plan names absolute paths; in a copy of a place they are those of the copy. */
function rebase(place: Place, id: string): void {
  const file = path.join(place.work, '.loop/loopkeeper/plans', `${id}.json`);
  const text = fs.readFileSync(file, 'utf8');
  const original = /"path":"([^"]*)\/\.loop\//.exec(text)?.[1];
  if (original !== undefined) fs.writeFileSync(file, text.replaceAll(original, place.work));
}
