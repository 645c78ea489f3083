import { askGit, gitFailure, runGit } from './git';
import type { Git, GitCall } from './git';
import type { RunResult } from '../disk/run';

/** No hook, no maintenance in the background, paths as they are written: what is done for a person at another place runs none of their scripts. */
const quiet = ['--literal-pathspecs', '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];

/** Runs git so, whatever its code. Failures: those of `runGit`. */
export function runQuietly(git: Git, args: readonly string[], call: GitCall = {}): Promise<RunResult> {
  return runGit(git, [...quiet, ...args], call);
}

/** What git prints, without the line end. Failures: `no-repository`, `git-failed`, those of `runGit`. */
export async function askQuietly(git: Git, args: readonly string[], call: GitCall = {}): Promise<string> {
  const result = await runQuietly(git, args, call);
  if (result.code === 0) return result.stdout.toString('utf8').replace(/\n$/, '');
  // Says it better where there is no repository at all.
  await askGit(git, ['rev-parse', '--git-dir']);
  throw gitFailure(args, result);
}
