import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { control, poll, portable, session } from '../test/support/state';

export interface SessionsFigures {
  items: number;
  /** Milliseconds, the median of some turns: an empty Node program, `sessions list` and `sessions reset --all`, turn and turn about. */
  empty: number;
  list: number;
  reset: number;
  /** The most memory each held, in MB. */
  emptyMemory: number;
  listMemory: number;
  resetMemory: number;
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** A state root with this many items as a loop leaves them: every third live, all with control and poll, a log that has grown. */
function fill(directory: string, items: number): void {
  fs.rmSync(path.join(directory, '.the-loop'), { recursive: true, force: true });
  for (const folder of ['local', 'portable', 'logs']) fs.mkdirSync(path.join(directory, '.the-loop', folder), { recursive: true });
  fs.writeFileSync(path.join(directory, '.the-loop/cli-config.yaml'), 'version: "0.5.0"\nrouting:\n  tmux:\n    keepSessionOnClose: true\n');
  for (let n = 1; n <= items; n += 1) {
    const ref = `github:octo/repo#${String(n)}`;
    fs.writeFileSync(path.join(directory, `.the-loop/local/github-octo-repo-${String(n)}.json`), session(ref, { status: n % 3 === 0 ? 'active' : 'closed', cwd: '/nowhere' }));
    fs.writeFileSync(path.join(directory, `.the-loop/portable/github-octo-repo-${String(n)}.json`), portable(ref, { control: control(ref, 'none'), poll: poll('IC_1', 'IC_2') }));
  }
  fs.writeFileSync(path.join(directory, '.the-loop/logs/events.jsonl'), `${JSON.stringify({ ts: '2026-08-04T09:00:00.000Z', source: 'poll', event: 'poll.cycle', level: 'info', pid: 1 })}\n`.repeat(items));
}

/**
 * list and reset --all of so many items, beside an empty Node program in the same turns. `program`: the built dist/cli.js.
 * Throws when a command does not end well or does not do its work.
 */
export function sessionsAgainstEmpty(program: string, items: number, turns: number): SessionsFigures {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'lk-bench-')));
  try {
    const emptyProgram = path.join(directory, 'empty.js');
    const meter = path.join(directory, 'meter.js');
    const report = path.join(directory, 'memory');
    fs.writeFileSync(emptyProgram, '');
    fs.writeFileSync(meter, `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`);
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, USER: 'bench' };
    const run = (args: string[]): number => {
      const started = performance.now();
      const ran = spawnSync(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 1 << 28 });
      const taken = performance.now() - started;
      if (ran.status !== 0) throw new Error(`${args.join(' ')} ended with ${String(ran.status)}: ${ran.stderr.toString('utf8').slice(-500)}`);
      return taken;
    };
    const list = [program, 'sessions', 'list', '--json'];
    const reset = [program, 'sessions', 'reset', '--all', '--no-exec'];
    const times: Record<'empty' | 'list' | 'reset', number[]> = { empty: [], list: [], reset: [] };
    for (let turn = 0; turn < turns; turn += 1) {
      fill(directory, items);
      times.empty.push(run([emptyProgram]));
      times.list.push(run(list));
      times.reset.push(run(reset));
      if (fs.readdirSync(path.join(directory, '.the-loop/local')).length > 0) throw new Error('the reset left records');
    }
    const memory = (args: string[]): number => { run(['--require', meter, ...args]); return Number(fs.readFileSync(report, 'utf8')) / 1024; };
    fill(directory, items);
    return {
      items, empty: median(times.empty), list: median(times.list), reset: median(times.reset),
      emptyMemory: memory([emptyProgram]), listMemory: memory(list), resetMemory: memory(reset),
    };
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
