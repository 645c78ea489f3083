import { Failure, messageOf } from '../disk/failure';
import { runProgram } from '../disk/run';
import type { RunResult } from '../disk/run';
import { failed } from '../plan/executor';
import type { StepExecutor } from '../plan/executor';
import type { StepOutcome } from '../plan/journal';
import type { GitCommitStep } from '../plan/plan';
import { gitEnvironment, runGit } from './git';
import type { Git } from './git';
import { isNoise, parseStatus, pendingWork, statusArguments } from './pendingWork';

/** Hooks may run a whole test suite. */
const COMMIT_TIMEOUT_MS = 30 * 60 * 1000;

/**
 * Does `gitCommit`: commits exactly the named paths as they are now, whatever else is staged, and looks at what came of it.
 *
 * The repository's hooks run, and its signing and identity hold, as in a commit that the person makes by hand: they asked for a commit, and a
 * commit that skips the repository's own rules would be another thing. A hook that refuses is the step's failure (`commit-refused`), in its own
 * words; then nothing is committed and what was staged for it is unstaged again. Never repeated after a crash, never pushed.
 */
export function commitExecutor(git: Pick<Git, 'command' | 'env'>): StepExecutor<'gitCommit'> {
  return {
    repeatable: false,
    async run(steps) {
      for (const { step, context, report } of steps) {
        try {
          report(await commit({ ...git, cwd: step.repository, ...(context.signal ? { signal: context.signal } : {}) }, step));
        } catch (error) {
          report(failed(error instanceof Failure ? error.kind : 'git-failed', messageOf(error)));
        }
      }
    },
  };
}

async function commit(git: Git, step: GitCommitStep): Promise<StepOutcome> {
  // As the person would run it: their environment and language, so that hooks behave; only what points at another repository is left out.
  const env = Object.fromEntries(Object.entries({ ...gitEnvironment(git.env), LC_ALL: git.env['LC_ALL'], LANGUAGE: git.env['LANGUAGE'] }).filter(([, value]) => value !== undefined));
  const run = (args: readonly string[], input: string): Promise<RunResult> =>
    runProgram(git.command, ['--literal-pathspecs', ...args, '--pathspec-from-file=-', '--pathspec-file-nul'], { cwd: git.cwd, env, timeoutMs: COMMIT_TIMEOUT_MS, input, ...(git.signal ? { signal: git.signal } : {}) });
  const head = async (): Promise<string> => (await runGit(git, ['rev-parse', '--verify', '-q', 'HEAD'])).stdout.toString('utf8').trim();

  const work = await pendingWork(git);
  if (work.busy !== null || work.conflicted.length > 0) return failed('git-busy', `A ${work.busy ?? 'conflict'} is under way in ${step.repository}; nothing was committed.`);
  const now = parseStatus((await runGit(git, statusArguments('all', step.paths))).stdout.toString('utf8'));
  const untracked = now.untracked.filter((file) => !isNoise(file));
  const paths = [...now.changed, ...untracked];
  if (paths.length === 0) return { status: 'already' };
  const before = await head();
  const named = (list: readonly string[]) => list.map((file) => `${file}\0`).join('');
  if (untracked.length > 0) {
    const added = await run(['add'], named(untracked));
    if (added.code !== 0) return failed('git-failed', `git add failed: ${lastLines(added.stderr)}`);
  }
  // --only: what else is staged stays staged and is not committed.
  const done = await run(['commit', '--quiet', '--only', '-m', step.message], named(paths)).catch((error: unknown) => ({ code: 1, stdout: Buffer.alloc(0), stderr: messageOf(error) }));
  const after = await head();
  if (done.code === 0 && after !== before && after !== '') return { status: 'done' };
  // A commit that was stopped just after it was made is one all the same.
  if (after !== before && after !== '') return { status: 'done', error: { kind: 'git-failed', message: `The commit was made, but git did not end well: ${lastLines(done.stderr)}` } };
  if (untracked.length > 0) await run(['rm', '--cached', '--quiet', '--ignore-unmatch'], named(untracked));
  return failed('commit-refused', `Nothing was committed in ${step.repository}: ${lastLines(done.stderr + done.stdout.toString('utf8')) || 'git gave no reason'}`);
}

/** The last lines of what a program said, on one line. */
function lastLines(text: string): string {
  const joined = text.trim().split('\n').map((line) => line.trim()).filter((line) => line !== '').slice(-4).join(' · ');
  return joined.length > 600 ? `…${joined.slice(-600)}` : joined;
}
