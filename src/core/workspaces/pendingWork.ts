import fs from 'node:fs';
import path from 'node:path';
import { Failure } from '../disk/failure';
import { isInside } from '../disk/reader';
import { gitFailure, runGit } from './git';
import type { Git } from './git';

/** What git says is not committed in a checkout. Paths are relative to `repository`, with `/`. */
export interface PendingWork {
  /** The top folder of the checkout. */
  repository: string;
  /** Tracked files that differ from the last commit, both names of a renamed one. */
  changed: string[];
  /** Files git does not know; a folder of only such files is one entry that ends in `/`. */
  untracked: string[];
  /** Files in conflict. */
  conflicted: string[];
  /** Submodules with uncommitted work of their own: a commit here cannot hold it. */
  nested: string[];
  /** Null when no branch is checked out. */
  branch: string | null;
  /** An operation that is under way and in which nothing is committed: `merge`, `rebase`, … */
  busy: string | null;
}

export interface PendingWorkOptions {
  /** Folders whose untracked files are listed one by one. Absolute. */
  listed?: readonly string[];
  /** Files and folders that programs rewrite while they run: left out. Absolute. */
  generated?: readonly string[];
}

/** The lock beside the-loop's graph-state.json, which is not ignored by git and says nothing about the work. */
export const isNoise = (file: string): boolean => file === 'graph-state.lock' || file.endsWith('/graph-state.lock');

/**
 * Asks git for the uncommitted work in the checkout `git.cwd`, in the whole repository around it. Reading only.
 * Failures: `no-repository`, `not-utf8` (a file name), and those of `askGit`.
 */
export async function pendingWork(git: Git, options: PendingWorkOptions = {}): Promise<PendingWork> {
  const [repository = git.cwd, gitDirectory = ''] = (await ask(git, ['rev-parse', '--show-toplevel', '--absolute-git-dir'])).trimEnd().split('\n');
  const top = { ...git, cwd: repository };
  const work = parseStatus(await ask(top, statusArguments('normal', [])));
  const inside = (files: readonly string[] | undefined) => repositoryPaths(repository, files ?? []);
  const special = inside([...(options.listed ?? []), ...(options.generated ?? [])]);
  // A folder of only untracked files hides the single ones that matter here.
  const opened = work.untracked.filter((entry) => entry.endsWith('/') && special.some((file) => `${file}/`.startsWith(entry) || entry.startsWith(`${file}/`)));
  const untracked = opened.length === 0 ? work.untracked
    : [...work.untracked.filter((entry) => !opened.includes(entry)), ...parseStatus(await ask(top, statusArguments('all', opened))).untracked].sort();
  const generated = inside(options.generated);
  const counts = (file: string) => !isNoise(file) && !generated.some((each) => file === each || file.startsWith(`${each}/`));
  return {
    repository, ...work, changed: work.changed.filter(counts), untracked: untracked.filter(counts),
    busy: busyWith(path.resolve(repository, gitDirectory)),
  };
}

/** `git status` in the form that `parseStatus` reads, of the whole repository or of some paths in it. */
export function statusArguments(untracked: 'normal' | 'all', paths: readonly string[]): string[] {
  return ['--literal-pathspecs', 'status', '--porcelain=v2', '--branch', '-z', `--untracked-files=${untracked}`, ...(paths.length > 0 ? ['--', ...paths] : [])];
}

async function ask(git: Git, args: readonly string[]): Promise<string> {
  const result = await runGit(git, args);
  if (result.code !== 0) {
    if (/not a git repository/i.test(result.stderr)) throw new Failure('no-repository', `${git.cwd} is in no git repository.`, 'Work that is not committed cannot be told apart there.');
    throw gitFailure(args, result);
  }
  const text = result.stdout.toString('utf8');
  if (text.includes('\uFFFD') && !Buffer.from(text).equals(result.stdout)) throw new Failure('not-utf8', `A file name in ${git.cwd} is not UTF-8.`, 'Rename it, or commit by hand.');
  return text;
}

/** `file` relative to `root` with `/`, links resolved as far as `root` is concerned; undefined outside of it. */
function relativeTo(root: string, file: string): string | undefined {
  let real = file;
  try {
    // git names the top with links resolved; a folder that is not there yet has none below its nearest parent.
    let existing = file;
    while (!fs.existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
    real = path.join(fs.realpathSync(existing), path.relative(existing, file));
  } catch { /* compared as it is written */ }
  if (!isInside(root, real) || real === root) return undefined;
  return path.relative(root, real).split(path.sep).join('/');
}

/** The paths of a repository for files named by absolute path; those outside are left out. */
export function repositoryPaths(repository: string, files: readonly string[]): string[] {
  return files.flatMap((file) => relativeTo(repository, file) ?? []);
}

/** Reads `git status --porcelain=v2 --branch -z`. */
export function parseStatus(text: string): Omit<PendingWork, 'repository' | 'busy'> {
  const work = { changed: new Set<string>(), untracked: [] as string[], conflicted: [] as string[], nested: [] as string[], branch: null as string | null };
  const entries = text.split('\0');
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index] ?? '';
    const fields = entry.split(' ');
    const kind = fields[0];
    if (kind === '?') work.untracked.push(entry.slice(2));
    else if (kind === '#' && fields[1] === 'branch.head') work.branch = entry.slice('# branch.head '.length) === '(detached)' ? null : entry.slice('# branch.head '.length);
    else if (kind === 'u') {
      const file = fields.slice(10).join(' ');
      work.conflicted.push(file);
      work.changed.add(file);
    } else if (kind === '1' || kind === '2') {
      const file = fields.slice(kind === '1' ? 8 : 9).join(' ');
      const [, xy = '', sub = ''] = fields;
      // A submodule whose commit is the recorded one, with work inside: nothing here can commit it.
      if (sub.startsWith('S.') && xy[0] === '.') work.nested.push(file);
      else work.changed.add(file);
      if (kind === '2') {
        index += 1;
        if (xy.includes('R')) work.changed.add(entries[index] ?? '');
      }
    }
  }
  return { ...work, changed: [...work.changed].sort(), untracked: work.untracked.sort() };
}

function busyWith(gitDirectory: string): string | null {
  const marks: [string, string][] = [['MERGE_HEAD', 'merge'], ['rebase-merge', 'rebase'], ['rebase-apply', 'rebase'], ['CHERRY_PICK_HEAD', 'cherry-pick'], ['REVERT_HEAD', 'revert']];
  return marks.find(([name]) => fs.existsSync(path.join(gitDirectory, name)))?.[1] ?? null;
}
