import * as assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pruneRuns } from '../../src/core/retention/runLedger';
import { logLines, pruneLog } from '../../src/core/retention/runLog';
import { pruneTargets } from '../../src/core/retention/targets';
import { writeTarget } from '../../src/core/retention/writeTarget';

const folder = join(__dirname, '..', 'support', 'loop-state');
const sample = (name: string): string => readFileSync(join(folder, name), 'utf8');
const plan = (decisions: { key: string; action: string; reason: string }[]): string[] => decisions.map(({ key, action, reason }) => `${key} ${action} ${reason}`);

/** What the rules say of the real entries, worked out by hand from their outcome, pending and last_run. */
const always = {
  'state-changelog.json': ['integration:main keep pending'],
  'state-docs-updater.json': ['integration:main keep unknown-outcome'],
  'state-github-issue-autofix.json': ['integration:main keep unknown-outcome'],
  'state-github-issue-triage.json': [],
  'state-github-pr-revise.json': ['integration:main keep unknown-outcome'],
  'state-tech-debt.json': ['integration:main keep unknown-outcome'],
};
const sweeper = (main: string, pr452: string): string[] =>
  [`integration:main ${main}`, `pull_request:452 ${pr452}`, 'pull_request:538 keep unknown-outcome', 'pull_request:629 keep unknown-outcome'];
const dates: { now: string; plans: Record<string, string[]>; runsGone: number; cutoff: string }[] = [
  // The first moment of its own prunes: nothing here is a month old.
  { now: '2026-08-13T04:13:36Z', cutoff: '2026-07-14', runsGone: 0, plans: { ...always, 'state-ci-sweeper.json': sweeper('keep recent', 'keep recent'), 'state-refactor.json': ['integration:main keep recent'] } },
  // 452 ran on 22 July: on the date of the cutoff, so not before it. The runs are judged to the second.
  { now: '2026-08-21T10:00:00Z', cutoff: '2026-07-22', runsGone: 14, plans: { ...always, 'state-ci-sweeper.json': sweeper('keep recent', 'keep recent'), 'state-refactor.json': ['integration:main cooldown expired'] } },
  { now: '2026-08-22T10:00:00Z', cutoff: '2026-07-23', runsGone: 15, plans: { ...always, 'state-ci-sweeper.json': sweeper('keep recent', 'delete expired'), 'state-refactor.json': ['integration:main cooldown expired'] } },
  { now: '2026-09-17T00:00:00Z', cutoff: '2026-08-18', runsGone: 15, plans: { ...always, 'state-ci-sweeper.json': sweeper('cooldown expired', 'delete expired'), 'state-refactor.json': ['integration:main cooldown expired'] } },
];

describe('retention: the real files', () => {
  for (const { now, plans, runsGone, cutoff } of dates) {
    it(`entry by entry at ${now}`, () => {
      const at = new Date(now);
      const names = readdirSync(folder).filter((name) => /^state-.*\.json$/.test(name) && !name.includes('ledger'));
      assert.deepEqual(names.sort(), Object.keys(plans).sort());
      for (const name of names) {
        const text = sample(name);
        const pruned = pruneTargets(text, at);
        assert.deepEqual(plan(pruned.decisions), plans[name], name);
        const goes = plans[name]?.some((line) => !line.includes(' keep ')) ?? false;
        assert.equal(pruned.text === text, !goes, name);
        // Pretty files stay as JSON.stringify writes them: no comma, line or space is left over.
        assert.equal(pruned.text, `${JSON.stringify(JSON.parse(pruned.text), null, 2)}\n`, name);
      }
    });

    it(`ledger and run log at ${now}`, () => {
      const at = new Date(now);
      const ledger = pruneRuns(sample('state-ci-sweeper-run-ledger.json'), at);
      assert.equal(ledger.decisions.length, 15);
      assert.equal(ledger.decisions.filter(({ action }) => action === 'delete').length, runsGone);
      const log = sample('loop-run-log.md');
      const kept = log.split('\n').filter((line) => !line.startsWith('{') || line.slice('{"run_id":"'.length, '{"run_id":"'.length + 10) >= cutoff);
      assert.equal(pruneLog(log, at).text, kept.join('\n'));
      assert.equal(logLines(log).length, 90);
    });
  }

  it('reproduces the prune of 13 August 2026: pull request 355 goes, main is rejected for the third time', () => {
    const written = writeTarget(sample('history/state-ci-sweeper.before-ff3d62aa.json'), { target: 'integration:main', outcome: 'rejected', mode: 'metadata', rejectReason: 'No file changes produced' }, new Date('2026-08-13T04:13:36Z'));
    assert.equal(written.text, sample('history/state-ci-sweeper.after-ff3d62aa.json'));
    assert.deepEqual(written.decisions.filter(({ action }) => action !== 'keep').map(({ key }) => key), ['pull_request:355']);
  });

  it('reproduces the prune of 17 August 2026: 401, 409 and 265 go, main waits for pull request 700', () => {
    const after = sample('history/state-ci-sweeper.after-4f117a98.json');
    const reason = 'Minimal allowlisted doc link fix directly resolves the logged mkdocs strict-mode broken-link failure; report and validation evidence are complete.';
    const written = writeTarget(sample('history/state-ci-sweeper.before-4f117a98.json'), {
      target: 'integration:main', outcome: 'pr-created', mode: 'pending', sha: 'b874a1e0baf564a4c56770f19b5baabc319c7b13', pendingPr: 700,
      pendingPrUrl: 'https://github.com/y-miyazaki/config/pull/700', loopName: 'ci-sweeper', rejectReason: reason,
    }, new Date('2026-08-17T06:15:29Z'));
    assert.equal(written.text, after);
    assert.deepEqual(written.decisions.filter(({ action }) => action !== 'keep').map(({ key }) => key), ['pull_request:401', 'pull_request:409', 'pull_request:265']);
  });

  it('leaves the legacy flat state alone', () => {
    const flat = sample('history/legacy-flat-state-docs-triage.json');
    const pruned = pruneTargets(flat, new Date('2028-01-01T00:00:00Z'));
    assert.equal(pruned.skipped, 'not-an-object');
    assert.ok(Object.is(pruned.text, flat));
  });
});
