import fs from 'node:fs';
import path from 'node:path';
import type { Knowledge } from '../../protocol/loopState';
import { Failure } from '../disk/failure';
import type { Git } from './git';
import { runQuietly } from './quietGit';

/**
 * How old the knowledge of a checkout is, from one `git status` on some of its files and one look at its last commit. Reading only, no network.
 * @param paths files to ask about, relative to `git.cwd`
 * @returns null outside of a repository and without git
 */
export async function checkoutKnowledge(git: Git, paths: readonly string[]): Promise<Knowledge | null> {
  try {
    const status = await runQuietly(git, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--', ...paths]);
    if (status.code !== 0) return null;
    const entries = status.stdout.toString('utf8').split('\0');
    const header = (name: string): string | null => entries.find((entry) => entry.startsWith(`# ${name} `))?.slice(name.length + 3) ?? null;
    const commit = header('branch.oid');
    const distance = /^\+(\d+) -(\d+)$/.exec(header('branch.ab') ?? '');
    const branch = header('branch.head');
    const upstream = header('branch.upstream');
    const last = await runQuietly(git, ['log', '-1', '--format=%cI']);
    const remotes = await runQuietly(git, ['config', '--get-regexp', '^remote\\..*\\.url$']);
    return {
      commit: commit === '(initial)' ? null : commit,
      committedAt: last.code === 0 ? last.stdout.toString('utf8').trim() : null,
      branch: branch === '(detached)' ? null : branch,
      upstream,
      behind: distance === null ? null : Number(distance[2]),
      ahead: distance === null ? null : Number(distance[1]),
      fetchedAt: await lastFetch(git),
      uncommitted: entries.filter((entry) => /^[12u?] /.test(entry)).map((entry) => (entry.startsWith('? ') ? entry.slice(2) : entry.split(' ').slice(entry.startsWith('u') ? 10 : 8).join(' '))),
      web: webAddress(remotes.stdout.toString('utf8'), upstream?.split('/')[0] ?? 'origin'),
    };
  } catch (error) {
    if (error instanceof Failure && ['program-missing', 'no-git'].includes(error.kind)) return null;
    throw error;
  }
}

/** When git last fetched anything: the age of FETCH_HEAD, which every fetch writes. A fresh clone has none. */
async function lastFetch(git: Git): Promise<string | null> {
  const asked = await runQuietly(git, ['rev-parse', '--git-path', 'FETCH_HEAD']);
  if (asked.code !== 0) return null;
  const stat = fs.statSync(path.resolve(git.cwd, asked.stdout.toString('utf8').trim()), { throwIfNoEntry: false });
  return stat === undefined ? null : stat.mtime.toISOString();
}

/** `https://github.com/owner/name` of a remote on GitHub, from `git config` lines. */
export function webAddress(lines: string, remote: string): string | null {
  const urls = new Map(lines.split('\n').map((line) => [/^remote\.(.*)\.url /.exec(line)?.[1], line.slice(line.indexOf(' ') + 1)]));
  const url = urls.get(remote) ?? urls.get('origin') ?? '';
  const found = /^(?:https?:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1];
  return found === undefined ? null : `https://github.com/${found}`;
}
