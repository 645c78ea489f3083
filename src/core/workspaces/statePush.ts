import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../disk/failure';
import { startTimeOf } from '../disk/processes';
import type { Reader } from '../disk/reader';
import type { RunResult } from '../disk/run';
import { gitFailure } from './git';
import type { Git } from './git';
import { askQuietly, runQuietly } from './quietGit';
import { treeReader } from './treeReader';

/** A file as it shall stand in the commit. */
export interface CommittedFile { path: string; text: string }

export interface PushRequest<T> {
  git: Git;
  remote: string;
  branch: string;
  /** The folder whose files are read and written, absolute; it need not be in the checkout. */
  folder: string;
  /**
   * Plans on the state at the tip. Called again, on the new state, when another machine's push was first.
   * `files` empty = there is nothing to commit.
   */
  plan(reader: Reader): { files: CommittedFile[]; message: string; plan: T };
  /** Where the temporary index may be: a folder of ours. It has to be there when there is something to commit. */
  scratch: string;
  pid: number;
  /** 16 hex digits and more, used by no other call. */
  random: string;
  /** How long to go on after pushes that others won. Default 60 s. */
  patienceMs?: number;
}

export interface Pushed<T> {
  plan: T;
  /** The commit, or null when there was nothing to commit. */
  commit: string | null;
  /** The tip the plan was made on. */
  base: string;
  attempts: number;
}

/** `origin/main` → remote and branch. Remotes may have slashes in their names, so the longest that fits is taken. Failure `bad-argument`. */
export async function parseRemoteBranch(git: Git, text: string): Promise<{ remote: string; branch: string }> {
  const remotes = (await askQuietly(git, ['remote'])).split('\n').filter((name) => name !== '' && text.startsWith(`${name}/`));
  const remote = remotes.sort((a, b) => b.length - a.length)[0];
  const branch = remote === undefined ? '' : text.slice(remote.length + 1);
  if (remote === undefined || (await runQuietly(git, ['check-ref-format', `refs/heads/${branch}`])).code !== 0) {
    throw new Failure('bad-argument', `${JSON.stringify(text.slice(0, 200))} is no REMOTE/BRANCH of this repository.`, 'Give for example origin/main; `git remote` names the remotes.', 2);
  }
  return { remote, branch };
}

/**
 * Commits files on top of a remote branch and pushes, without touching the checkout, its index or its branches: fetch the tip, plan on it, build
 * the commit with an index of its own, push. A push that another machine won is planned again on what that one left, so that no update is lost.
 * Failures: `no-repository`, `no-branch`, `push-refused`, `push-race` (patience at its end), `git-failed`, `timeout`, and what `plan` throws.
 */
export async function pushFiles<T>(request: PushRequest<T>): Promise<Pushed<T>> {
  const { git, remote, branch } = request;
  const deadline = performance.now() + (request.patienceMs ?? 60_000);
  const prefix = await askQuietly(git, ['rev-parse', '--show-prefix']);
  const inside = (file: string): string => prefix + path.relative(git.cwd, file).split(path.sep).join('/');
  sweepIndexes(request.scratch);
  const committer = await identity(git);
  let base = await fetchTip(git, remote, branch);
  for (let attempts = 1; ; attempts += 1) {
    const started = performance.now();
    const { files, message, plan } = request.plan(await treeReader(git, base, inside(request.folder), request.folder));
    if (files.length === 0) return { plan, commit: null, base, attempts };
    const index = path.join(request.scratch, `index.${String(request.pid)}.${request.random.slice(0, 8)}.${String(attempts)}`);
    // Two machines that write the same on the same tip in the same second would make one and the same commit, and one of the writes would be lost.
    const unique = `${message.trimEnd()}\n\nLoopkeeper-Push: ${request.random.slice(0, 16)}\n`;
    const commit = await buildCommit(git, base, files.map((file) => ({ path: inside(file.path), text: file.text })), unique, { index, committer });
    const pushed = await runQuietly(git, ['push', '--porcelain', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no', remote, `${commit}:refs/heads/${branch}`]);
    if (pushed.code === 0) return { plan, commit, base, attempts };
    const tip = await fetchTip(git, remote, branch);
    // Where the server did not say no, the answer may have been lost after the push was taken: doing it again would count it twice.
    if (!isRejected(pushed) && tip !== base && (await runQuietly(git, ['merge-base', '--is-ancestor', commit, tip])).code === 0) return { plan, commit, base, attempts };
    if (tip === base && !isRejected(pushed) && !isLockedThere(pushed)) throw pushRefused(remote, branch, pushed);
    if (performance.now() >= deadline) {
      throw new Failure('push-race', `Others kept pushing to ${remote}/${branch}; after ${String(attempts)} attempts nothing of this was pushed.`, 'Run the command again.');
    }
    base = await pause(request, attempts, performance.now() - started) ? await fetchTip(git, remote, branch) : tip;
  }
}

/**
 * Waits unevenly, so that many machines do not meet again and again: less from attempt to attempt, so that who has lost often comes first.
 * Gives whether so long that the tip may have moved.
 */
async function pause(request: { random: string; git: Git }, attempts: number, attemptMs: number): Promise<boolean> {
  const digits = request.random.repeat(2).slice((attempts * 4) % 24, ((attempts * 4) % 24) + 4);
  const wait = Math.min(2000, attemptMs / attempts) * (parseInt(digits, 16) / 0xffff || 0);
  await sleep(wait, undefined, request.git.signal === undefined ? {} : { signal: request.git.signal })
    .catch(() => { throw new Failure('aborted', 'Stopped before it was pushed; nothing was changed.', 'Run the command again.'); });
  return wait > 50;
}

/** The commit at the tip of the remote's branch, its objects fetched; no ref, not even FETCH_HEAD, is written. */
async function fetchTip(git: Git, remote: string, branch: string): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const listed = await askQuietly(git, ['ls-remote', remote, ref]);
  const tip = listed.split('\n').map((line) => line.split('\t')).find(([, name]) => name === ref)?.[0];
  if (tip === undefined) throw new Failure('no-branch', `${remote} has no branch ${branch}.`, `Push one first: git push ${remote} HEAD:${ref}`);
  if ((await runQuietly(git, ['cat-file', '-e', `${tip}^{commit}`], { env: { GIT_NO_LAZY_FETCH: '1' } })).code === 0) return tip;
  await askQuietly(git, ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--refmap=', '--no-recurse-submodules', remote, ref]);
  return tip;
}

async function buildCommit(git: Git, parent: string, files: CommittedFile[], message: string, { index, committer }: { index: string; committer: string[] }): Promise<string> {
  const env = { GIT_INDEX_FILE: index };
  try {
    await askQuietly(git, ['read-tree', parent], { env });
    const lines: string[] = [];
    for (const file of files) {
      const id = await askQuietly(git, ['hash-object', '-w', '--stdin'], { input: file.text });
      lines.push(`100644 ${id}\t${file.path}\0`);
    }
    await askQuietly(git, ['update-index', '-z', '--index-info'], { env, input: lines.join('') });
    const tree = await askQuietly(git, ['write-tree', '--missing-ok'], { env });
    return await askQuietly(git, [...committer, 'commit-tree', tree, '-p', parent, '-F', '-'], { input: message });
  } finally {
    fs.rmSync(index, { force: true });
    fs.rmSync(`${index}.lock`, { force: true });
  }
}

/** A runner often has no name: then the commit carries ours instead of failing. */
async function identity(git: Git): Promise<string[]> {
  const known = await runQuietly(git, ['var', 'GIT_COMMITTER_IDENT']);
  return known.code === 0 ? [] : ['-c', 'user.name=loopkeeper', '-c', 'user.email=loopkeeper@localhost'];
}

/** The branch has moved on: the push was for certain not taken. */
function isRejected(result: RunResult): boolean {
  return /^!\t.*\[rejected\]/m.test(result.stdout.toString('utf8'));
}

/** Another push held the branch's lock on the server at that moment: a race, though the tip may not show it yet. */
function isLockedThere(result: RunResult): boolean {
  return /cannot lock ref|failed to update ref|incorrect old value|Unable to create '.*\.lock'/i.test(result.stdout.toString('utf8') + result.stderr);
}

function pushRefused(remote: string, branch: string, result: RunResult): Failure {
  const reason = /^!\t[^\t]*\t(.*)$/m.exec(result.stdout.toString('utf8'))?.[1];
  if (reason === undefined) return gitFailure(['push'], result);
  return new Failure('push-refused', `${remote} refused the push to ${branch}: ${reason}`, 'Look at the branch\'s protection rules and your rights; nothing was changed.');
}

/** Index files of programs that were killed. */
function sweepIndexes(scratch: string): void {
  for (const name of fs.existsSync(scratch) ? fs.readdirSync(scratch) : []) {
    const pid = /^index\.(\d+)\./.exec(name)?.[1];
    if (pid !== undefined && startTimeOf(Number(pid)) === undefined) fs.rmSync(path.join(scratch, name), { force: true });
  }
}
