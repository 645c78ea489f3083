import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCliConfig, type CliConfig } from '../core/config/cliConfig';
import { diskReader } from '../core/disk/reader';
import type { MonotonicClock } from '../core/harness/close';
import type { RunRequest } from '../core/plan/engine';
import type { Store } from '../core/plan/store';
import type { Message } from '../protocol/message';
import type { Context, Values } from './command';
import { text } from './command';

/** The configuration in force for this call. Failures: `config-missing`, `config-unreadable`, `config-too-old`. */
export function loadConfig(context: Context, values: Values): Promise<CliConfig> {
  const configFlag = text(values, 'config');
  return readCliConfig(diskReader, { ...(configFlag === undefined ? {} : { configFlag }), env: context.env, cwd: context.cwd, home: context.home });
}

/** Our directory beside the loop's state. */
export function stateStore(config: CliConfig): Store {
  return { directory: path.join(config.stateRoot, 'loopkeeper'), root: config.stateRoot };
}

/** The nearest folder at or above `start` that has `name`, not looking above a folder that has `.git`. */
function searchUpward(start: string, name: string): string | undefined {
  for (let directory = start; ; directory = path.dirname(directory)) {
    if (fs.existsSync(path.join(directory, name))) return directory;
    if (fs.existsSync(path.join(directory, '.git')) || directory === path.dirname(directory)) return undefined;
  }
}

/** The folder git keeps its own in for the checkout around `start` (a worktree's is its own); undefined outside of one. */
export function gitDirectory(start: string): string | undefined {
  const top = searchUpward(start, '.git');
  if (top === undefined) return undefined;
  const git = path.join(top, '.git');
  if (fs.statSync(git).isDirectory()) return git;
  const pointer = /^gitdir: (.+)$/m.exec(diskReader.text(git, 4096) ?? '')?.[1];
  return pointer === undefined ? undefined : path.resolve(top, pointer);
}

/** Our directory for the loop state in `.loop`: in the repository's git folder, beside the files where there is no repository. */
export function loopStateStore(directory: string): Store {
  const git = gitDirectory(directory);
  const owner = git ?? path.join(directory, '.loop');
  return { directory: path.join(owner, 'loopkeeper'), root: owner };
}

/** Every store that the working directory has: of the loop's state, of workflow runs, of loop state in the repository. Nothing is made by looking. */
export function storesHere(context: Context, config: CliConfig): Store[] {
  const raymond = searchUpward(context.cwd, '.raymond');
  const hasLoopState = gitDirectory(context.cwd) !== undefined || fs.existsSync(path.join(context.cwd, '.loop'));
  return [
    stateStore(config),
    ...(raymond === undefined ? [] : [{ directory: path.join(raymond, '.raymond', 'loopkeeper'), root: path.join(raymond, '.raymond') }]),
    ...(hasLoopState ? [loopStateStore(context.cwd)] : []),
  ];
}

const monotonic: MonotonicClock = {
  milliseconds: () => performance.now(),
  sleep: async (milliseconds, signal) => { await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined); },
};

/** What every changing command hands to the engine besides its own planner. What does the steps is loaded here: reading commands need none of it. */
export async function runDefaults(context: Context, config?: CliConfig): Promise<Pick<RunRequest, 'executors' | 'clock' | 'random' | 'pid' | 'signal' | 'onProgress'>> {
  const { executorsFor } = await import('../core/executors');
  return {
    executors: executorsFor({ git: { command: gitOf(context, config), env: context.env }, clock: monotonic, callerPid: context.pid }), clock: context.clock, random: context.random(), pid: context.pid, signal: context.signal,
    onProgress: (done, total, item) => { context.out.progress(done, total, item); },
  };
}

/** Warnings that belong to the call and not to the plan. */
export function contextWarnings(context: Context): Message[] {
  return context.clockOverridden ? [{ kind: 'clock-overridden', message: `LOOPKEEPER_NOW sets the clock to ${context.clock.now()}; event times stay real.` }] : [];
}

/** Who asks, for the event log: the system's name of the user, or undefined when it is unknown. */
export function actorOf(context: Context): string | undefined {
  const { USER, LOGNAME, USERNAME } = context.env;
  return [USER, LOGNAME, USERNAME].find((name) => name !== undefined && name !== '') ?? context.userName();
}

/** The git to run: of the settings of the editor, else of the configuration. */
export function gitOf(context: Context, config?: CliConfig): string {
  return context.env['LOOPKEEPER_GIT'] || (config?.workspace.gitBinary ?? 'git');
}

/** The tmux to run. */
export function tmuxOf(context: Context): { command: string } {
  return { command: context.env['LOOPKEEPER_TMUX'] || 'tmux' };
}
