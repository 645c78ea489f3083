/** The three performance fixtures of test/cases/retention/README.md, built from a number. */

export const fixtureNow = new Date('2026-08-22T10:00:00Z');
const secondsOfDay = 86_400;

function ts(secondsBefore: number): string {
  return new Date(fixtureNow.getTime() - secondsBefore * 1000).toISOString().replace('.000Z', 'Z');
}

function hex40(i: number): string {
  return i.toString(16).padStart(40, '0');
}

function cycle<T>(values: readonly T[], i: number): T {
  const value = values[i % values.length];
  if (value === undefined) throw new Error('empty cycle');
  return value;
}

const targetOutcomes = ['rejected', 'pr-closed', 'merged', 'pr-created', 'watch', 'error', 'rejected'];
const runOutcomes = ['pr-created', 'rejected', 'watch', 'no-action'];
const logHeader = '# Loop Run Log\n\nAppend one entry per run. Prune entries older than 30 days.\n\n## Recent Runs\n\n<!-- Loop appends below this line -->\n\n';

/** P1: a loop state file of `n` targets. */
export function stateFixture(n: number): string {
  const targets: Record<string, unknown> = {};
  for (let i = 0; i < n; i++) {
    targets[i % 10 === 0 ? `integration:b${i}` : `pull_request:${i}`] = {
      last_run: ts((i % 61) * secondsOfDay + (i % 24) * 3600),
      outcome: cycle(targetOutcomes, i),
      consecutive_failures: i % 4,
      open_rejections: [],
      last_reject_reason: `reason ${i}`,
      last_sha: hex40(i),
      ...(i % 13 === 0 ? { pending: { sha: `p${i}`, pr: i } } : {}),
    };
  }
  return `${JSON.stringify({ targets }, null, 2)}\n`;
}

/** P2: a run ledger of `n` runs. */
export function ledgerFixture(n: number): string {
  const runs: Record<string, unknown> = {};
  for (let i = 0; i < n; i++) {
    runs[String(29310573442 + 1009 * i)] = {
      workflow_name: `ci-${i % 9}`,
      head_sha: hex40(i),
      outcome: cycle(runOutcomes, i),
      reject_count: i % 3,
      loop_run_id: String(29312854611 + i),
      updated_at: ts((i % 61) * secondsOfDay + (i % 3600)),
    };
  }
  return `${JSON.stringify({ runs })}\n`;
}

/** P3: a run log of `n` lines. */
export function logFixture(n: number): string {
  const lines: string[] = [];
  for (let i = 0; i < n; i++) {
    lines.push(`${JSON.stringify({
      run_id: ts((i % 61) * secondsOfDay + (i % 24) * 3600), loop_name: `loop-${i % 9}`, duration_s: i % 600, outcome: 'skipped', skip_reason: 'budget', tokens_total: i,
      workflow_run: String(29312854611 + i),
    })}\n`);
  }
  return logHeader + lines.join('');
}
