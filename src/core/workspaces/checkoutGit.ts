import path from 'node:path';
import { Failure } from '../disk/failure';
import { runProgram, type RunResult } from '../disk/run';

export interface GitOptions {
  /** The git program; null where none may be started. */
  git: string | null;
  /** The environment to start it in; what steers git (`GIT_*`) is taken out. */
  env: Record<string, string | undefined>;
  signal?: AbortSignal;
  timeoutMs?: number;
}

/**
 * Settings that keep a repository's own configuration from starting programs or using the network while it is only looked at.
 * Filters are switched off apart, see `quietFilters`.
 */
const quiet = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'protocol.allow=never', 'core.pager=cat', 'credential.helper=', 'submodule.recurse=false'];

/** Runs git in a repository, reading only. Failures: those of `runProgram`. */
export async function runGit(repository: string, args: readonly string[], options: GitOptions, settings: readonly [string, string][] = []): Promise<RunResult> {
  const env: Record<string, string | undefined> = Object.fromEntries(Object.entries(options.env).filter(([name]) => !name.startsWith('GIT_')));
  // Where the repository is broken, git must not take the one around it for it.
  env['GIT_CEILING_DIRECTORIES'] = path.dirname(repository);
  env['GIT_NO_LAZY_FETCH'] = '1';
  env['GIT_TERMINAL_PROMPT'] = '0';
  env['LC_ALL'] = 'C';
  if (settings.length > 0) env['GIT_CONFIG_COUNT'] = String(settings.length);
  for (const [i, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${String(i)}`] = key;
    env[`GIT_CONFIG_VALUE_${String(i)}`] = value;
  }
  if (options.git === null) throw new Failure('program-missing', 'No other program may be started here (--no-exec).', 'Run it without --no-exec.');
  return runProgram(options.git, ['-C', repository, '--no-optional-locks', ...quiet.flatMap((setting) => ['-c', setting]), ...args],
    { env, timeoutMs: options.timeoutMs ?? 60_000, ...(options.signal ? { signal: options.signal } : {}) });
}

/** Settings that switch off the filters which the repository itself defines; those of the person stay. */
export async function quietFilters(repository: string, options: GitOptions): Promise<[string, string][]> {
  const { stdout } = await runGit(repository, ['config', '--show-scope', '-z', '--name-only', '--get-regexp', '^filter\\.'], options);
  const fields = stdout.toString('utf8').split('\0');
  const names = new Set<string>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = /^filter\.([\s\S]*)\.[^.]*$/.exec(fields[i + 1] ?? '')?.[1];
    if (name !== undefined && (fields[i] === 'local' || fields[i] === 'worktree')) names.add(name);
  }
  return [...names].flatMap((name): [string, string][] => [[`filter.${name}.clean`, ''], [`filter.${name}.process`, ''], [`filter.${name}.required`, 'false']]);
}
