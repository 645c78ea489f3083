import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pruneTargets } from '../src/core/retention/targets';
import { fixtureNow, stateFixture } from '../test/support/retentionFixtures';

export interface RetentionFigures {
  targets: number;
  bytes: number;
  /** jq 1.6's filter over the file, one pass; null when there is no jq. */
  jqMs: number | null;
  /** JSON.parse of the same text: the least that any prune takes here. */
  parseMs: number;
  /** The planner alone, text in, text out. */
  plannerMs: number;
  /** The whole program: start, read, plan, journal, write, flush, verify. */
  programMs: number;
  /** How many times faster than jq: the program, and the planner. */
  programRatio: number | null;
  plannerRatio: number | null;
}

/** The rules of y-miyazaki/config's prune as a jq filter: keep what is pending, drop aged pull requests, cool aged watch keys down. */
const filter = `
def over: .outcome == "rejected" or .outcome == "pr-closed";
def aged: ((.last_run // "") | length) >= 10 and .last_run[0:10] < $cutoff;
.targets |= with_entries(
  if (.value.pending | type) == "object" then .
  elif (.value | over and aged | not) then .
  elif .key | startswith("pull_request:") then empty
  else .value |= (del(.last_reject_reason, .open_rejections) | .consecutive_failures = 0) end)`;

function median(times: number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function time(action: () => void): number {
  const started = performance.now();
  action();
  return performance.now() - started;
}

function run(command: string, args: string[], options: { cwd: string; env: Record<string, string>; stdout?: number }): void {
  const ran = spawnSync(command, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', options.stdout ?? 'ignore', 'pipe'] });
  if (ran.error !== undefined || ran.status !== 0) throw new Error(`${command} failed: ${ran.error?.message ?? ran.stderr.toString('utf8').slice(-500)}`);
}

/**
 * The prune of loop state files of several sizes by jq and by us, turn and turn about in one run, the median of some turns each.
 * Throws when the two leave different values. `program`: the built dist/cli.js.
 */
export function retentionAgainstJq(program: string, sizes: readonly number[] = [200, 2_000, 20_000, 200_000]): RetentionFigures[] {
  const hasJq = spawnSync('jq', ['--version']).error === undefined;
  return sizes.map((targets) => {
    const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'lk-bench-')));
    try {
      const text = stateFixture(targets);
      const file = path.join(directory, '.loop/state-bench.json');
      const byJq = path.join(directory, 'jq.json');
      fs.mkdirSync(path.dirname(file));
      const env = { PATH: process.env['PATH'] ?? '', HOME: directory, LOOPKEEPER_NOW: fixtureNow.toISOString() };
      const cutoff = new Date(fixtureNow.getTime() - 30 * 86_400_000).toISOString().slice(0, 10);
      const times: Record<'jq' | 'parse' | 'planner' | 'program', number[]> = { jq: [], parse: [], planner: [], program: [] };
      for (let turn = 0; turn < (targets > 50_000 ? 3 : 7); turn += 1) {
        fs.writeFileSync(file, text);
        if (hasJq) {
          const out = fs.openSync(byJq, 'w');
          times.jq.push(time(() => { run('jq', ['-c', '--arg', 'cutoff', cutoff, filter, file], { cwd: directory, env, stdout: out }); }));
          fs.closeSync(out);
        }
        times.program.push(time(() => { run(process.execPath, [program, 'loop-state', 'prune', '--loop', 'bench'], { cwd: directory, env }); }));
        times.parse.push(time(() => { JSON.parse(text); }));
        let left = '';
        times.planner.push(time(() => { left = pruneTargets(text, fixtureNow).text; }));
        if (turn > 0) continue;
        if (left !== fs.readFileSync(file, 'utf8')) throw new Error(`the program and the planner differ at ${String(targets)} targets`);
        // jq keeps what is pending only where it is an object, which is all there is in this file.
        if (hasJq && JSON.stringify(JSON.parse(left)) !== JSON.stringify(JSON.parse(fs.readFileSync(byJq, 'utf8')))) throw new Error(`jq and we differ at ${String(targets)} targets`);
      }
      const jqMs = hasJq ? median(times.jq) : null;
      const programMs = median(times.program);
      const plannerMs = median(times.planner);
      return {
        targets, bytes: Buffer.byteLength(text), jqMs, parseMs: median(times.parse), plannerMs, programMs,
        programRatio: jqMs === null ? null : jqMs / programMs, plannerRatio: jqMs === null ? null : jqMs / plannerMs,
      };
    } finally {
      fs.rmSync(directory, { recursive: true, force: true });
    }
  });
}
