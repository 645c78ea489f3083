import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseOutput } from '../src/core/workflow/parse';

const cli = path.join(process.cwd(), 'dist', 'cli.js');

/** The quickest of some runs, in milliseconds. */
function best(times: number, run: () => void): number {
  return Math.min(...Array.from({ length: times }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  }));
}

/** A project with these state files, for the time of a measurement. */
function withRuns<T>(runs: Record<string, unknown>, measure: (directory: string) => T): T {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'lk-bench-')));
  try {
    const state = path.join(directory, '.raymond', 'state');
    fs.mkdirSync(state, { recursive: true });
    fs.mkdirSync(path.join(directory, '.git'));
    for (const [id, run] of Object.entries(runs)) fs.writeFileSync(path.join(state, `${id}.json`), `${JSON.stringify(run, null, 2)}\n`);
    return measure(directory);
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

function runOf(id: string, depth: number): unknown {
  const stack = Array.from({ length: depth }, (_, index) => ({ session: `S${String(index)}`, state: 'AFTER.md', scope_dir: '/flows/wf', cwd: '/flows', task_folder: `/tasks/${id}/main` }));
  return {
    workflow_id: id, scope_dir: '/flows/wf', total_cost_usd: 1.25, budget_usd: 0, started_at: '2026-11-30T18:01:30.600878997Z',
    agents: [{ id: 'main', current_state: 'LOOP.md', session_id: 'S9', stack, scope_dir: '/flows/wf', ask_entered_at: '0001-01-01T00:00:00Z' }],
  };
}

function workflow(directory: string, ...args: string[]): void {
  const env = { PATH: process.env['PATH'], HOME: directory };
  execFileSync(process.execPath, [cli, 'workflow', ...args, '--json'], { cwd: directory, env, stdio: ['ignore', 'ignore', 'inherit'], maxBuffer: 1 << 28 });
}

/** Milliseconds of `show` on a run with this many frames, the start of the program included. */
export function showDeepStack(depth = 1_000, times = 3): number {
  return withRuns({ deep: runOf('deep', depth) }, (directory) => best(times, () => { workflow(directory, 'show', 'deep'); }));
}

/** Milliseconds of `list` of this many runs, the start of the program included. */
export function listManyRuns(count = 1_000, times = 3): number {
  return withRuns(Object.fromEntries(Array.from({ length: count }, (_, index) => [`run_${String(index)}`, runOf(`run_${String(index)}`, 3)])), (directory) => best(times, () => { workflow(directory, 'list'); }));
}

/** Milliseconds to parse this much of a model's output: prose with an opened tag now and then that is never closed, the worst honest case. */
export function parseModelOutput(megabytes = 10, times = 3): number {
  const paragraph = 'The loop goes on: a > b, and <goto input="round 3 the state said nothing more of it.\n'.repeat(20);
  const text = `${paragraph.repeat(Math.ceil((megabytes * 1_000_000) / paragraph.length))}<result>done</result>`;
  return best(times, () => { parseOutput(text, 'markdown'); });
}
