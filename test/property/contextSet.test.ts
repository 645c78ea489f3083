import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { section } from '../../src/core/config/harnessConfig';
import { changePolicyFile } from '../../src/core/context/policy';
import { planSet } from '../../src/core/context/policyPlan';
import { canonicalJson } from '../../src/core/disk/hash';
import { runPlan } from '../../src/core/plan/engine';
import { fileExecutors } from '../../src/core/plan/fileSteps';
import { planToUndo, planUndo } from '../../src/core/plan/undo';
import { setting, shape, textOf, valuesOf } from '../support/policyFiles';
import type { Json } from '../support/policyFiles';
import { makePlace } from '../support/program';

describe('context set and undo', function () {
  this.timeout(120_000);

  it('200 random legal sets and undos on disk: the intended change and no other byte, then every byte as it was', async () => {
    const place = makePlace();
    try {
      const file = path.join(place.work, '.the-loop/harness-config.yaml');
      fs.mkdirSync(path.dirname(file));
      fs.mkdirSync(path.join(place.work, '.git'));
      const store = { directory: path.join(place.work, '.the-loop/loopkeeper'), root: path.join(place.work, '.the-loop') };
      const clock = { now: () => '2026-11-30T20:00:00Z', real: () => '2026-11-30T20:00:00Z' };
      const request = () => ({ store, executors: fileExecutors, clock, random: randomBytes(16).toString('hex'), pid: process.pid, dryRun: false });
      let changed = 0;
      await fc.assert(fc.asyncProperty(shape, setting, async (each, { key, value }) => {
        const before = Buffer.from(textOf(each));
        fs.writeFileSync(file, before);
        const { plan, outcome } = await runPlan({
          ...request(), verb: 'context-set',
          build: (reader) => planSet({ item: place.work, isWorkItem: false, repository: place.work, change: changePolicyFile(reader, place.work, key, value, false), key, value, was: undefined, actor: 'tester', eventLog: undefined }),
        });
        assert.ok(outcome?.steps.every((step) => step.status === 'done'));
        const after = fs.readFileSync(file);
        // `off` without quotes is off already.
        if (plan.steps.length === 0) {
          assert.deepEqual(after, before);
          return;
        }
        const old = valuesOf(before.toString());
        assert.equal(canonicalJson(valuesOf(after.toString())), canonicalJson({ ...old, [section]: { ...(old[section] as Json | null | undefined ?? {}), [key]: value } }));
        changed += 1;
        // What differs is one stretch; before and behind it every byte is the old one.
        let start = 0;
        while (before[start] === after[start] && start < before.length) start += 1;
        let end = 0;
        while (before[before.length - 1 - end] === after[after.length - 1 - end] && end < before.length - start) end += 1;
        assert.ok(after.length - start - end <= 60 && before.length - start - end <= 10, after.toString());
        const closed = planToUndo(store, plan.id);
        assert.ok(closed);
        await runPlan({ ...request(), verb: 'undo', build: (reader) => planUndo(store, closed, reader, 'tester') });
        assert.deepEqual(fs.readFileSync(file), before);
      }), { numRuns: 200, seed: 11 });
      assert.ok(changed > 120, String(changed));
    } finally {
      place.remove();
    }
  });
});
