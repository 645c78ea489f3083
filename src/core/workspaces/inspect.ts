import fs from 'node:fs';
import path from 'node:path';
import { codeOf, Failure, messageOf } from '../disk/failure';
import { realPath } from '../disk/reader';
import { runGit, quietFilters, type GitOptions } from './checkoutGit';
import type { CheckoutPlace } from './locate';
import { newTally, walk } from './walk';

/** What is in a checkout, over all repositories in its folder. */
export interface CheckoutWork {
  /** Null where the head is detached, or there are several repositories. */
  branch: string | null;
  /** Commits that no branch holds would lose their only name with the checkout. */
  detached: boolean;
  /** Tracked files that differ from the last commit, staged or not; a rename and a conflict count once. */
  uncommitted: number;
  untracked: number;
  /** Files that git is told to ignore. */
  ignored: number;
  nestedRepositories: number;
  /** Commits on no remote: of the head in a worktree, of all branches in a clone. */
  unpushed: number;
  /** Those among them that no branch of a shared clone keeps: of a clone in the checkout, or of a detached head. They go with it. */
  unpushedHereOnly: number;
  /** Of a clone; a worktree's stashes are the shared clone's and stay. */
  stashes: number;
  /** False: the folder is so large that untracked, ignored and nested are lower bounds. */
  complete: boolean;
}

/** A worktree's record in its clone. */
export interface Worktree {
  /** `<clone>/.git/worktrees/<name>`, checked to lie there and to point back. */
  adminDir: string;
  /** The reason given when somebody locked it; null when it is not locked. */
  locked: string | null;
}

export type Inspection =
  /** No repository in it: git was not asked. */
  | { kind: 'plain'; files: number; complete: boolean }
  | {
    kind: 'git'; work: CheckoutWork;
    worktree: Worktree | null;
    /** Why the checkout's own link to its clone cannot be trusted, or null: `.git` leads elsewhere or does not lead back. */
    strangeLink: string | null;
    /** Worktrees elsewhere that belong to a clone in here: they break when it moves. */
    linkedWorktrees: string[];
  }
  /** `no-git`: git cannot be started. `failed`: it could not tell. Then nothing may be removed unseen. `why` is a clause without a full stop. */
  | { kind: 'no-git' | 'failed'; why: string };

/** Looks into a checkout that is there. Reads only; starts git only where a repository is, and never when `git` is null. Failure `aborted`. */
export async function inspectCheckout(place: Pick<CheckoutPlace, 'path' | 'strategy' | 'sharedClone'>, options: Omit<GitOptions, 'git'> & { git: string | null }): Promise<Inspection> {
  try {
    const { git } = options;
    const repositories = repositoriesIn(place);
    if (repositories.length > 0) return git === null ? { kind: 'no-git', why: 'git may not be started here' } : await inspectRepositories(place, repositories, { ...options, git });
    const tally = newTally();
    walk(place.path, tally);
    return { kind: 'plain', files: tally.files, complete: tally.left > 0 };
  } catch (error) {
    if (error instanceof Failure ? error.kind === 'aborted' : codeOf(error) === undefined) throw error;
    return { kind: error instanceof Failure && error.kind === 'program-missing' ? 'no-git' : 'failed', why: messageOf(error).replace(/\.$/, '') };
  }
}

async function inspectRepositories(place: Pick<CheckoutPlace, 'path' | 'strategy' | 'sharedClone'>, repositories: string[], options: GitOptions): Promise<Inspection> {
  const tally = newTally();
  const link = place.sharedClone === null ? null : readLink(place.path, place.sharedClone);
  const total: CheckoutWork = { branch: null, detached: false, uncommitted: 0, untracked: 0, ignored: 0, nestedRepositories: 0, unpushed: 0, unpushedHereOnly: 0, stashes: 0, complete: true };
  for (const repository of repositories) {
    const status = await readStatus(repository, options);
    total.branch = repositories.length === 1 ? status.branch : null;
    total.detached ||= status.branch === null && !status.unborn;
    total.uncommitted += status.uncommitted;
    const isClone = fs.lstatSync(path.join(repository, '.git')).isDirectory();
    const unpushed = await countUnpushed(repository, isClone, status.unborn, options);
    total.unpushed += unpushed;
    if (isClone) total.unpushedHereOnly += unpushed;
    else if (status.branch === null && unpushed > 0) total.unpushedHereOnly += await count(repository, ['rev-list', '--count', 'HEAD', '--not', '--remotes', '--branches', '--'], options);
    if (isClone) total.stashes += await count(repository, ['rev-list', '--walk-reflogs', '--count', 'refs/stash', '--'], options, true);
    for (const name of status.untracked) {
      // Every untracked file is listed by itself; only a repository is listed as a folder.
      if (name.endsWith('/')) walk(path.join(repository, name), tally);
      else total.untracked++;
    }
    for (const name of status.ignored) {
      if (name.endsWith('/')) walk(path.join(repository, name), tally);
      else total.ignored++;
    }
  }
  total.ignored += tally.files;
  total.nestedRepositories += tally.repositories;
  if (place.strategy === 'clone') {
    // Beside the clones an agent may have left files of its own.
    const beside = newTally();
    walk(place.path, beside, new Set(repositories));
    total.untracked += beside.files;
    total.nestedRepositories += beside.repositories;
    tally.left = Math.min(tally.left, beside.left);
  }
  total.complete = tally.left > 0;
  return { kind: 'git', work: total, worktree: link && 'adminDir' in link ? link : null, strangeLink: link && 'why' in link ? link.why : null, linkedWorktrees: repositories.flatMap(linkedWorktrees) };
}

function isThere(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** The worktree itself, or the clones in an item's folder: `<host>/<owner>/<repo>`. */
function repositoriesIn(place: Pick<CheckoutPlace, 'path' | 'strategy'>): string[] {
  if (place.strategy === 'worktree') return isThere(path.join(place.path, '.git')) ? [place.path] : [];
  let level = [place.path];
  for (let depth = 0; depth < 3; depth++) {
    level = level.flatMap((directory) => fs.readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => path.join(directory, entry.name)).sort());
  }
  return level.filter((directory) => isThere(path.join(directory, '.git')));
}

function readLine(file: string): string | undefined {
  try {
    const stat = fs.lstatSync(file);
    return stat.isFile() && stat.size < 64 * 1024 ? fs.readFileSync(file, 'utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}

/** The worktree's record in its clone. Null when the checkout is no worktree but a clone of its own. */
function readLink(checkout: string, sharedClone: string): Worktree | { why: string } | null {
  const dotGit = path.join(checkout, '.git');
  const stat = fs.lstatSync(dotGit);
  if (stat.isDirectory()) return null;
  if (!stat.isFile()) return { why: `${dotGit} is no plain file` };
  const target = /^gitdir: (.+)$/.exec(readLine(dotGit) ?? '')?.[1];
  if (target === undefined) return { why: `${dotGit} names no repository` };
  const adminDir = path.resolve(checkout, target);
  const expected = path.join(sharedClone, '.git', 'worktrees');
  if (realPath(path.dirname(adminDir)) !== realPath(expected) || !fs.lstatSync(adminDir, { throwIfNoEntry: false })?.isDirectory()) return { why: `${dotGit} leads to ${adminDir}, not into ${expected}` };
  const back = readLine(path.join(adminDir, 'gitdir'));
  if (back === undefined || realPath(path.resolve(adminDir, back)) !== realPath(dotGit)) return { why: `${adminDir} belongs to another worktree` };
  return { adminDir, locked: isThere(path.join(adminDir, 'locked')) ? readLine(path.join(adminDir, 'locked')) ?? '' : null };
}

/** Worktrees of a clone that are still there. */
function linkedWorktrees(repository: string): string[] {
  const directory = path.join(repository, '.git', 'worktrees');
  let names: string[];
  try {
    names = fs.readdirSync(directory).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const back = readLine(path.join(directory, name, 'gitdir'));
    if (back === undefined) return [];
    const dotGit = path.resolve(directory, name, back);
    return isThere(dotGit) ? [path.dirname(dotGit)] : [];
  });
}

interface Status { branch: string | null; unborn: boolean; uncommitted: number; untracked: string[]; ignored: string[] }

/** Asks git once for everything that is not committed. */
async function readStatus(repository: string, options: GitOptions): Promise<Status> {
  const settings = await quietFilters(repository, options);
  const args = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--untracked-files=all', '--ignored=matching', '--ignore-submodules=none', '--find-renames'];
  const { code, stdout, stderr } = await runGit(repository, args, options, settings);
  if (code !== 0) throw gitFailure(repository, stderr);
  return parseStatus(stdout.toString('utf8'));
}

/** Reads `git status --porcelain=v2 --branch -z`. Names that are no UTF-8 are only counted. */
export function parseStatus(output: string): Status {
  const status: Status = { branch: null, unborn: false, uncommitted: 0, untracked: [], ignored: [] };
  const entries = output.split('\0');
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] ?? '';
    if (entry === '# branch.oid (initial)') status.unborn = true;
    else if (entry.startsWith('# branch.head ')) status.branch = entry === '# branch.head (detached)' ? null : entry.slice('# branch.head '.length);
    else if (entry.startsWith('1 ') || entry.startsWith('u ')) status.uncommitted++;
    else if (entry.startsWith('2 ')) {
      status.uncommitted++;
      i++; // the name before the rename
    } else if (entry.startsWith('? ')) status.untracked.push(entry.slice(2));
    else if (entry.startsWith('! ')) status.ignored.push(entry.slice(2));
  }
  return status;
}

function gitFailure(repository: string, stderr: string): Failure {
  const line = stderr.split('\n').find((text) => text.trim() !== '') ?? 'it gave no reason';
  return new Failure('git-failed', `git cannot tell what is in ${repository}: ${line.replace(/^(fatal|error): /, '')}`, 'Run git status there by hand to see why.');
}

/** A count that git prints; 0 where `absentIsZero` and git says there is nothing. */
async function count(repository: string, args: string[], options: GitOptions, absentIsZero = false): Promise<number> {
  const { code, stdout, stderr } = await runGit(repository, args, options);
  if (code !== 0 && absentIsZero) return 0;
  const found = Number(stdout.toString('utf8').trim());
  if (code !== 0 || !Number.isSafeInteger(found)) throw gitFailure(repository, stderr || messageOf(stdout.toString('utf8')));
  return found;
}

async function countUnpushed(repository: string, isClone: boolean, unborn: boolean, options: GitOptions): Promise<number> {
  const from = [...(unborn ? [] : ['HEAD']), ...(isClone ? ['--branches'] : [])];
  return from.length === 0 ? 0 : count(repository, ['rev-list', '--count', ...from, '--not', '--remotes', '--'], options);
}
