import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../../src/core/retention/decision';
import { pruneRuns } from '../../src/core/retention/runLedger';
import { appendRun } from '../../src/core/retention/runLog';
import { pruneTargets } from '../../src/core/retention/targets';
import { fixtureNow, ledgerFixture, logFixture, stateFixture } from '../support/retentionFixtures';

interface Row { fixture: string; n: number; plan: string; before: { bytes: number; sum: string }; after: { bytes: number; sum: string } }

/** The table of the README beside the cases: the sums there are the expectation, not a copy of them here. */
function table(): Row[] {
  const readme = readFileSync(join(__dirname, 'retention', 'README.md'), 'utf8');
  return [...readme.matchAll(/^\| (P[123]) \| ([\d ]+) \| ([^|]+) \| (\d+) \| `(\w{64})` \| (\d+) \| `(\w{64})` \|$/gm)].map((cells) => ({
    fixture: cells[1] ?? '', n: Number((cells[2] ?? '').replaceAll(' ', '')), plan: cells[3] ?? '',
    before: { bytes: Number(cells[4]), sum: cells[5] ?? '' }, after: { bytes: Number(cells[6]), sum: cells[7] ?? '' },
  }));
}

/** The entry that the run log cases append. */
function appendedEntry(): string {
  const folder = join(__dirname, 'retention', 'runlog');
  const first = readdirSync(folder)[0] ?? '';
  return (JSON.parse(readFileSync(join(folder, first), 'utf8')) as { command: { args: { entry: string } } }).command.args.entry;
}

function sumOf(text: string): { bytes: number; sum: string } {
  return { bytes: Buffer.byteLength(text), sum: createHash('sha256').update(text).digest('hex') };
}

function countDecisions(decisions: readonly Decision[]): string {
  const counts = new Map<string, number>();
  for (const { action, reason } of decisions) counts.set(`${action} ${reason}`, (counts.get(`${action} ${reason}`) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).sort().join(', ');
}

const fixtures: Record<string, { build(n: number): string; run(text: string): { text: string | null; decisions: Decision[] } }> = {
  P1: { build: stateFixture, run: (text) => pruneTargets(text, fixtureNow) },
  P2: { build: ledgerFixture, run: (text) => pruneRuns(text, fixtureNow) },
  P3: { build: logFixture, run: (text) => appendRun(text, appendedEntry(), fixtureNow) },
};

describe('performance fixtures: retention', function () {
  this.timeout(120_000);

  it('are all in the table', () => { assert.equal(table().length, 8); });

  for (const row of table()) {
    it(`${row.fixture} with ${row.n} entries`, () => {
      const fixture = fixtures[row.fixture];
      assert.ok(fixture);
      const text = fixture.build(row.n);
      assert.deepEqual(sumOf(text), row.before);
      const started = performance.now();
      const result = fixture.run(text);
      const seconds = (performance.now() - started) / 1000;
      assert.equal(countDecisions(result.decisions), row.plan);
      assert.deepEqual(sumOf(result.text ?? ''), row.after);
      if (process.env['RETENTION_TIMES']) process.stdout.write(`      ${seconds.toFixed(2)} s\n`);
    });
  }

  it('a file with nothing to prune is the very same string', () => {
    const once = pruneTargets(stateFixture(200), fixtureNow).text;
    assert.ok(Object.is(pruneTargets(once, fixtureNow).text, once));
  });
});
