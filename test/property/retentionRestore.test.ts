import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { planPrune, pruneOf } from '../../src/core/retention/prunePlan';
import { reportState } from '../../src/core/retention/report';
import { restoreEntries, restoreLines } from '../../src/core/retention/restore';
import { pruneLog } from '../../src/core/retention/runLog';
import { pruneTargets } from '../../src/core/retention/targets';
import { writeTarget } from '../../src/core/retention/writeTarget';
import { memoryReader } from '../support/memoryReader';

const now = new Date('2026-08-22T10:00:00Z');
const time = fc.integer({ min: -2, max: 70 }).chain((days) => fc.nat(86_399).map((seconds) => new Date(now.getTime() - days * 86_400_000 - seconds * 1000).toISOString().replace('.000', '')));
const entry = fc.record({
  last_run: fc.oneof({ weight: 5, arbitrary: time }, { weight: 1, arbitrary: fc.constantFrom('soon', null, 3) }),
  outcome: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('rejected', 'pr-closed') }, { weight: 2, arbitrary: fc.constantFrom('merged', 'pr-created', 'watch') }),
  consecutive_failures: fc.nat(4), open_rejections: fc.array(fc.record({ attempt: fc.nat(3), issue: fc.string({ maxLength: 4 }) }), { maxLength: 2 }),
  last_reject_reason: fc.string({ maxLength: 5 }), last_sha: fc.constantFrom('a', 'b'), pending: fc.constantFrom(null, { pr: 3 }),
}, { requiredKeys: ['last_run', 'outcome', 'last_sha'] });
const key = fc.oneof(fc.nat(30).map((n) => `pull_request:${n}`), fc.nat(9).map((n) => `integration:b${n}`));
// Through JSON: fast-check's records have no prototype, parsed ones do.
const targets = fc.dictionary(key, entry, { maxKeys: 8 }).map((held) => JSON.parse(JSON.stringify(held)) as Targets);
type Targets = Record<string, Record<string, unknown>>;
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const read = (text: string): Targets => (JSON.parse(text) as { targets: Targets }).targets;

describe('property: undo of a prune, and the list', () => {
  it('nothing written since: every entry is back with its values', () => {
    fc.assert(fc.property(targets, (held) => {
      const before = pretty({ targets: held });
      const pruned = pruneTargets(before, now);
      const taken = pruned.decisions.filter(({ action }) => action !== 'keep');
      const restored = restoreEntries(before, pruned.text, 'targets', taken);
      assert.ok(restored);
      assert.deepEqual(read(restored.text), held);
      assert.deepEqual(new Set(restored.back), new Set(taken.map(({ key: name }) => name)));
      assert.equal(restored.text, pretty(JSON.parse(restored.text)));
    }), { numRuns: 500 });
  });

  it('what others wrote since stays, and only what is absent comes back', () => {
    fc.assert(fc.property(targets, fc.array(fc.tuple(key, fc.constantFrom('rejected', 'merged', 'watch')), { maxLength: 4 }), (held, writes) => {
      const before = pretty({ targets: held });
      const pruned = pruneTargets(before, now);
      const later = new Date(now.getTime() + 60_000);
      const since = writes.reduce((text, [target, outcome]) => writeTarget(text, { target, outcome, mode: 'metadata' }, later).text ?? text, pruned.text);
      const restored = restoreEntries(before, since, 'targets', pruned.decisions.filter(({ action }) => action !== 'keep'));
      assert.ok(restored);
      const after = read(restored.text);
      const there = read(since);
      const written = new Set(writes.map(([target]) => target));
      for (const { key: name, action } of pruned.decisions) {
        if (action === 'delete') assert.deepEqual(after[name], written.has(name) ? there[name] : held[name]);
        // A write of watch or error carries the counter on: the reject history is written anew, so nothing comes back.
        if (action === 'cooldown') assert.deepEqual(after[name], written.has(name) ? there[name] : held[name]);
        if (action === 'keep') assert.deepEqual(after[name], there[name]);
      }
      assert.ok([...written].every((name) => Object.hasOwn(after, name)));
    }), { numRuns: 500 });
  });

  it('the run log gets its lines back, once', () => {
    const line = time.map((at) => `{"run_id":"${at}"}`);
    fc.assert(fc.property(fc.uniqueArray(line, { maxLength: 8 }), fc.array(line, { maxLength: 3 }), (lines, since) => {
      const before = `# Loop Run Log\n\n${lines.map((text) => `${text}\n`).join('')}`;
      const pruned = pruneLog(before, now);
      const grown = pruned.text + since.map((text) => `${text}\n`).join('');
      const taken = pruned.decisions.filter(({ action }) => action !== 'keep');
      const restored = restoreLines(before, grown, taken);
      for (const text of lines) assert.ok(restored.text.split('\n').includes(text));
      const gone = taken.map(({ key: name }) => lines[Number(name.slice(5)) - 3]);
      assert.equal(restored.text.split('\n').length, grown.split('\n').length + gone.filter((text) => !since.includes(text ?? '')).length);
      assert.equal(restoreLines(before, restored.text, taken).text, restored.text);
    }), { numRuns: 500 });
  });

  it('list and prune agree: on what goes now, and on when the rest goes', () => {
    const runs = fc.dictionary(fc.nat(99).map((n) => String(29310573442 + n)), fc.record({ updated_at: time, outcome: fc.constant('rejected') }), { maxKeys: 5, noNullPrototype: true });
    const lines = fc.array(time.map((at) => `{"run_id":"${at}"}\n`), { maxLength: 5 });
    fc.assert(fc.property(targets, runs, lines, (held, ran, log) => {
      const directory = '/w';
      const files = { '/w/.loop/state-a.json': pretty({ targets: held }), '/w/.loop/state-ci-sweeper-run-ledger.json': pretty({ runs: ran }), '/w/.loop/loop-run-log.md': log.join('') };
      const report = reportState(memoryReader(files), directory, now);
      const planned = planPrune(memoryReader(files), { directory, now });
      const listed = [report.loops[0]?.targets ?? [], report.ledgers[0]?.runs ?? [], report.runLog?.entries ?? []];
      const texts = Object.values(files);
      const kinds = ['loop', 'ledger', 'log'] as const;
      planned.changes.forEach((change, i) => {
        const views = listed[i] ?? [];
        assert.deepEqual(views.map((view) => ({ key: view.key, ...view.decision })), change.decisions);
        for (const view of views) {
          const prune = pruneOf[kinds[i] ?? 'loop'];
          const actionAt = (at: number): string | undefined => prune(texts[i] ?? '', new Date(at)).decisions.find(({ key: name }) => name === view.key)?.action;
          if (view.next !== null) {
            assert.equal(actionAt(Date.parse(view.next.at)), view.next.action);
            assert.equal(actionAt(Date.parse(view.next.at) - 1000), 'keep');
          } else if (view.decision.action === 'keep') {
            assert.equal(actionAt(now.getTime() + 4000 * 86_400_000), 'keep');
          }
        }
      });
    }), { numRuns: 200 });
  });
});
