import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../../src/core/disk/processes';
import { processTree, readProcessTable } from '../../src/core/disk/processTable';
import type { Tmux } from '../../src/core/harness/terminal';
import { cleanEnv } from '../support/program';

const SCRIPT = path.join(__dirname, 'scripts', 'agent.sh');

/** One process of an agent stand-in. */
export interface Member { role: string; pid: number; startTime: string }

/** Gives `check`'s value as soon as it has one; fails after 20 s. */
export async function until<T>(what: string, check: () => T | undefined | false): Promise<T> {
  for (let i = 0; i < 800; i += 1) {
    const value = check();
    if (value !== undefined && value !== false) return value;
    await sleep(25);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** A private tmux server with agents in it. `close` ends every process it started, each by its pid. */
export class PrivateServer {
  readonly tmux: Tmux;
  readonly directory = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'loopkeeper-tmux-'));
  private readonly started: Member[] = [];
  private count = 0;

  /** `home`: the server's socket is in this folder, as TMUX_TMPDIR says; otherwise it is a named one of the user's. */
  constructor(name: string, private readonly home?: string) {
    this.tmux = home === undefined ? { command: 'tmux', socket: `lk-test-${String(process.pid)}-${name}` } : { command: 'tmux' };
  }

  private get call(): { before: string[]; env: NodeJS.ProcessEnv } {
    // What runs in the terminals has nothing of the person who runs the tests, nor TMUX, which would name another server.
    const env: NodeJS.ProcessEnv = this.home === undefined ? process.env : cleanEnv(this.home);
    return { before: this.tmux.socket === undefined ? [] : ['-L', this.tmux.socket], env };
  }

  /** Runs tmux on the private server and gives its output. */
  run(...args: string[]): string {
    const { before, env } = this.call;
    return execFileSync('tmux', [...before, '-f', '/dev/null', ...args], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** A directory that stands for a checkout. */
  checkout(name = `checkout ${String(this.count += 1)}`): string {
    const directory = path.join(this.directory, name);
    fs.mkdirSync(directory, { recursive: true });
    return directory;
  }

  /** Starts an agent of these roles in a new terminal and waits until all of it runs. */
  async agent(terminal: string, roles: string[], options: { cwd?: string; args?: string[]; keep?: boolean } = {}): Promise<{ cwd: string; notes: string; members: Member[] }> {
    const cwd = options.cwd ?? this.checkout();
    const notes = path.join(this.directory, `notes-${String(this.count += 1)}`);
    fs.mkdirSync(notes);
    const command = ['bash', SCRIPT, roles.join(','), notes, ...(options.args ?? [])];
    if (options.keep) {
      // Started with remain-on-exit already in force, so that what ends at once leaves a dead pane.
      this.run('new-session', '-d', '-s', terminal, '-c', cwd, '--', 'sleep', '60');
      this.run('set-option', '-w', '-t', `=${terminal}:`, 'remain-on-exit', 'on');
      this.run('respawn-pane', '-k', '-c', cwd, '-t', `=${terminal}:`, '--', ...command);
    } else this.run('new-session', '-d', '-s', terminal, '-c', cwd, '--', ...command);
    const silent = ['forking', 'daemonizing', 'self-ignoring'];
    const expected = ['agent', ...roles.filter((role) => !silent.includes(role)), ...(roles.includes('ignoring') ? ['ignoring-parent'] : [])];
    const members = await until(`the agent in ${terminal}`, () => {
      const found = this.members(notes);
      return expected.every((role) => found.some((member) => member.role === role)) && found;
    });
    return { cwd, notes, members };
  }

  /** The processes that wrote their pids, with their start times; those that have ended meanwhile have none and are left out. */
  members(notes: string): Member[] {
    let text = '';
    try { text = fs.readFileSync(path.join(notes, 'pids'), 'utf8'); } catch { /* none yet */ }
    const members = text.split('\n').slice(0, -1).flatMap((line) => {
      const [role = '', pid] = line.split(' ');
      const startTime = startTimeOf(Number(pid));
      return startTime === undefined ? [] : [{ role, pid: Number(pid), startTime }];
    });
    for (const member of members) if (!this.started.some((known) => known.pid === member.pid && known.startTime === member.startTime)) this.started.push(member);
    return members;
  }

  paneStates(terminal: string): string[] {
    return this.run('list-panes', '-s', '-t', `=${terminal}:`, '-F', '#{pane_dead}').split('\n');
  }

  hasTerminal(terminal: string): boolean {
    const { before, env } = this.call;
    return spawnSync('tmux', [...before, 'has-session', '-t', `=${terminal}`], { env }).status === 0;
  }

  async close(): Promise<void> {
    try {
      const pid = Number(this.run('display-message', '-p', '#{pid}'));
      for (const row of processTree(readProcessTable(), pid).slice(1)) this.started.push({ role: row.name, pid: row.pid, startTime: row.startTime });
      this.run('kill-server');
      await until('the end of tmux', () => startTimeOf(pid) === undefined);
    } catch { /* no server was started, or it has ended */ }
    for (const { pid, startTime } of this.started) if (startTimeOf(pid) === startTime) process.kill(pid, 'SIGKILL');
    if (this.tmux.socket !== undefined) fs.rmSync(path.join(process.env['TMUX_TMPDIR'] ?? '/tmp', `tmux-${String(process.getuid?.())}`, this.tmux.socket), { force: true });
    fs.rmSync(this.directory, { recursive: true, force: true });
  }
}
