import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, writeFiles, type Place } from './program';

/** Runs git for a test, with nothing of the person who runs it. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'init.defaultBranch=main', '-c', 'commit.gpgsign=false', ...args], {
    cwd, encoding: 'utf8', env: cleanEnv(path.join(cwd, '..', 'home')), stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

/** A bare repository `origin.git` whose branch main holds these files, and clones of it beside it. */
export function makeOrigin(place: Place, files: Record<string, string>, clones: readonly string[]): { origin: string; clones: string[] } {
  const origin = path.join(place.top, 'origin.git');
  const seed = path.join(place.top, 'seed');
  fs.mkdirSync(seed);
  git(place.top, 'init', '--quiet', '--bare', origin);
  git(seed, 'init', '--quiet');
  writeFiles(seed, files);
  git(seed, 'add', '-A');
  git(seed, 'commit', '--quiet', '-m', 'start');
  git(seed, 'push', '--quiet', origin, 'HEAD:refs/heads/main');
  git(origin, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  return { origin, clones: clones.map((name) => { git(place.top, 'clone', '--quiet', origin, name); return path.join(place.top, name); }) };
}

/** What a person would miss: every file of the checkout, the index byte for byte, HEAD and the local branches. */
export function fingerprint(clone: string): Record<string, string> {
  const found: Record<string, string> = { status: git(clone, '--no-optional-locks', 'status', '--porcelain'), head: git(clone, 'symbolic-ref', 'HEAD'), branches: git(clone, 'for-each-ref', 'refs/heads', 'refs/tags', 'refs/stash') };
  found['index'] = createHash('sha256').update(fs.readFileSync(path.join(clone, '.git/index'))).digest('hex');
  const visit = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(clone, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (name === '.git') continue;
      if (entry.isDirectory()) visit(name); else found[name] = fs.readFileSync(path.join(clone, name), 'utf8');
    }
  };
  visit('');
  return found;
}

/** A git that runs `script` (sh; `$@` are git's arguments, `$real` the real git) before or instead of the real one. */
export function makeGit(place: Place, script: string): string {
  const file = path.join(place.top, 'git-wrapper');
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  fs.writeFileSync(file, `#!/bin/sh\nreal=${real}\n${script}\nexec "$real" "$@"\n`, { mode: 0o755 });
  return file;
}
