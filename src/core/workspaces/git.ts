import { Failure } from '../disk/failure';
import { runProgram } from '../disk/run';
import type { RunResult } from '../disk/run';

/** Which git, where, and in whose environment. */
export interface Git {
  command: string;
  /** A folder in the repository. Absolute. */
  cwd: string;
  env: Record<string, string | undefined>;
  signal?: AbortSignal;
}

export interface GitCall {
  /** Added to the environment of this call alone. */
  env?: Record<string, string | undefined>;
  input?: string;
}

const TIMEOUT_MS = 120_000;

// What git itself counts as belonging to one repository (git rev-parse --local-env-vars): inside a hook it would lead to another one.
const local = new Set(['GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_CONFIG', 'GIT_CONFIG_PARAMETERS', 'GIT_CONFIG_COUNT', 'GIT_OBJECT_DIRECTORY', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE', 'GIT_INDEX_FILE', 'GIT_NO_REPLACE_OBJECTS', 'GIT_REPLACE_REF_BASE', 'GIT_PREFIX', 'GIT_SHALLOW_FILE', 'GIT_COMMON_DIR', 'GIT_NAMESPACE', 'GIT_QUARANTINE_PATH']);

/** The environment for git: messages in English, no question on the terminal, nothing that points at another repository. */
export function gitEnvironment(env: Record<string, string | undefined>): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !local.has(name) && !/^GIT_CONFIG_(?:KEY|VALUE)_\d+$/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', LANGUAGE: 'C', GIT_TERMINAL_PROMPT: '0' };
}

/** Runs git without optional locks and without the repository's file monitor. A non-zero code is a result. Failures: those of `runProgram`. */
export function runGit(git: Git, args: readonly string[], call: GitCall = {}): Promise<RunResult> {
  return runProgram(git.command, ['-c', 'core.fsmonitor=false', '--no-optional-locks', ...args], {
    cwd: git.cwd, env: { ...gitEnvironment(git.env), ...call.env }, timeoutMs: TIMEOUT_MS,
    ...(call.input === undefined ? {} : { input: call.input }), ...(git.signal ? { signal: git.signal } : {}),
  });
}

/** What git prints, without the newline at its end. Failures: `no-repository`, `git-failed`, those of `runProgram`. */
export async function askGit(git: Git, args: readonly string[], call: GitCall = {}): Promise<string> {
  const result = await runGit(git, args, call);
  if (result.code === 0) return result.stdout.toString('utf8').replace(/\n+$/, '');
  if (/not a git repository/i.test(result.stderr)) throw new Failure('no-repository', `${git.cwd} is in no git repository.`, 'Run the command in a checkout.');
  throw gitFailure(args, result);
}

/** The failure of a git command, in git's own words. */
export function gitFailure(args: readonly string[], result: RunResult): Failure {
  const said = result.stderr.trim().split('\n').filter((line) => line !== '').slice(-3).join(' · ').slice(0, 600);
  return new Failure('git-failed', `git ${args.find((arg) => !arg.startsWith('-')) ?? ''} failed (code ${String(result.code)}): ${said || 'it gave no reason'}`, 'Run it by hand to see why.');
}
