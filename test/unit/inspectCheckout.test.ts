import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Failure } from '../../src/core/disk/failure';
import { inspectCheckout, parseStatus } from '../../src/core/workspaces/inspect';

describe('what is in a checkout', function () {
  this.timeout(60_000);
  let root: string;
  let env: Record<string, string>;
  beforeEach(() => {
    root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-checkout-')));
    env = { PATH: process.env['PATH'] ?? '', HOME: path.join(root, 'home'), GIT_AUTHOR_NAME: 'n', GIT_AUTHOR_EMAIL: 'e', GIT_COMMITTER_NAME: 'n', GIT_COMMITTER_EMAIL: 'e' };
    fs.mkdirSync(env['HOME'] ?? '');
  });
  afterEach(() => { fs.rmSync(root, { recursive: true, force: true }); });

  const git = (cwd: string, ...args: string[]) => execFileSync('git', ['-C', cwd, '-c', 'protocol.file.allow=always', ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const put = (file: string, text = file) => { fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true }); fs.writeFileSync(path.join(root, file), text); };
  const options = () => ({ git: 'git', env: { ...env, GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere' } });
  const clone = 'github.com/octo/repo';
  const tree = '.worktrees/github.com/octo/repo/github-octo-repo-15';
  const worktree = () => ({ path: path.join(root, tree), strategy: 'worktree' as const, sharedClone: path.join(root, clone) });
  const look = () => inspectCheckout(worktree(), options());

  const makeClone = (into = clone) => {
    const origin = path.join(root, 'origin');
    if (!fs.existsSync(origin)) {
      fs.mkdirSync(origin);
      git(origin, 'init', '-q', '-b', 'main');
      for (const name of ['a', 'b', 'c', 'd']) put(`origin/${name}`, `${name}\n`.repeat(20));
      put('origin/.gitignore', 'ignored/\n*.log\n');
      git(origin, 'add', '-A');
      git(origin, 'commit', '-qm', 'one');
    }
    fs.mkdirSync(path.dirname(path.join(root, into)), { recursive: true });
    git(root, 'clone', '-q', origin, path.join(root, into));
  };
  const makeWorktree = () => {
    makeClone();
    git(path.join(root, clone), 'worktree', 'add', '-q', '-b', 'work', path.join(root, tree), 'origin/main');
  };
  const spoil = (at: string) => {
    put(`${at}/a`, 'changed');
    put(`${at}/new file\nwith a break`, 'staged');
    git(path.join(root, at), 'add', 'new file\nwith a break');
    put(`${at}/new file\nwith a break`, 'staged and changed');
    git(path.join(root, at), 'mv', 'b', 'moved');
    fs.rmSync(path.join(root, at, 'c'));
    for (const name of ['untracked/1', 'untracked/2', 'x.log', 'ignored/1', 'ignored/deep/2']) put(`${at}/${name}`);
    for (const name of ['nested', 'ignored/nested', 'nested/inner']) {
      fs.mkdirSync(path.join(root, at, name), { recursive: true });
      git(path.join(root, at, name), 'init', '-q');
      put(`${at}/${name}/file`);
    }
    git(path.join(root, at), 'commit', '-q', '--allow-empty', '-m', 'unpushed', '--only');
  };
  const spoiled = { uncommitted: 4, untracked: 2, ignored: 3, nestedRepositories: 3, unpushed: 1, complete: true };

  it('is counted in a worktree, with its record in the clone', async () => {
    makeWorktree();
    const clean = await look();
    assert.deepEqual(clean, {
      kind: 'git', work: { branch: 'work', detached: false, uncommitted: 0, untracked: 0, ignored: 0, nestedRepositories: 0, unpushed: 0, unpushedHereOnly: 0, stashes: 0, complete: true },
      worktree: { adminDir: path.join(root, clone, '.git/worktrees/github-octo-repo-15'), locked: null }, strangeLink: null, linkedWorktrees: [],
    });
    spoil(tree);
    const found = await look();
    assert.ok(found.kind === 'git');
    assert.deepEqual(found.work, { ...spoiled, branch: 'work', detached: false, unpushedHereOnly: 0, stashes: 0 });
  });

  it('changes nothing by being looked at, not even git’s index', async () => {
    makeWorktree();
    spoil(tree);
    const list = () => execFileSync('find', [root, '-printf', '%p %T@ %C@ %i\n'], { encoding: 'utf8' });
    fs.utimesSync(path.join(root, tree, 'd'), 1, 1);
    const before = list();
    await look();
    assert.equal(list(), before);
  });

  it('tells a detached head, an unborn branch and a conflict', async () => {
    makeWorktree();
    const at = path.join(root, tree);
    git(at, 'checkout', '-q', '--detach');
    git(at, 'commit', '-q', '--allow-empty', '-m', 'nowhere else');
    const detached = await look();
    assert.ok(detached.kind === 'git');
    assert.deepEqual([detached.work.branch, detached.work.detached, detached.work.unpushed, detached.work.unpushedHereOnly], [null, true, 1, 1]);
    git(at, 'branch', 'keeps-it');
    const kept = await look();
    assert.ok(kept.kind === 'git' && kept.work.unpushed === 1 && kept.work.unpushedHereOnly === 0);
    put(`${tree}/a`, 'ours');
    git(at, 'commit', '-qam', 'ours');
    git(at, 'checkout', '-q', '-b', 'other', 'origin/main');
    put(`${tree}/a`, 'theirs');
    git(at, 'commit', '-qam', 'theirs');
    assert.throws(() => git(at, 'merge', '-q', '@{-1}'));
    const conflict = await look();
    assert.ok(conflict.kind === 'git');
    assert.equal(conflict.work.uncommitted, 1);
    git(at, 'reset', '-q', '--hard');
    git(at, 'checkout', '-q', '--orphan', 'empty');
    const unborn = await look();
    assert.ok(unborn.kind === 'git');
    assert.deepEqual([unborn.work.branch, unborn.work.detached, unborn.work.unpushed, unborn.work.uncommitted], ['empty', false, 0, 5]);
  });

  it('tells a lock and a link that does not lead to the clone', async () => {
    makeWorktree();
    git(path.join(root, clone), 'worktree', 'lock', '--reason', 'on a stick', path.join(root, tree));
    const locked = await look();
    assert.ok(locked.kind === 'git');
    assert.equal(locked.worktree?.locked, 'on a stick');
    put('elsewhere/.git/worktrees/x/gitdir', path.join(root, tree, '.git'));
    const link = async (text: string) => {
      put(`${tree}/.git`, text);
      const found = await look();
      return found.kind === 'git' ? [found.worktree, /leads to|belongs to|names no/.exec(found.strangeLink ?? '')?.[0]] : found.kind;
    };
    git(path.join(root, clone), 'worktree', 'add', '-q', path.join(root, 'second'), 'origin/main');
    assert.deepEqual(await link(`gitdir: ${path.join(root, clone, '.git/worktrees/second')}\n`), [null, 'belongs to']);
    assert.deepEqual(await link(`gitdir: ${path.join(root, clone, '.git')}\n`), [null, 'leads to']);
    assert.equal(await link(`gitdir: ${path.join(root, 'elsewhere/.git/worktrees/x')}\n`), 'failed');
    assert.equal(await link('nonsense\n'), 'failed');
  });

  it('does not take the repository around a broken one for it', async () => {
    git(root, 'init', '-q');
    put(`${tree}/.git/broken`);
    const found = await look();
    assert.ok(found.kind === 'failed' && /not a git repository/.test(found.why), JSON.stringify(found));
  });

  it('is summed over the clones of an item, with what lies beside them', async () => {
    const folder = '.work-items/github-octo-repo-15';
    makeClone(`${folder}/github.com/octo/repo`);
    makeClone(`${folder}/github.com/octo/other`);
    spoil(`${folder}/github.com/octo/repo`);
    const other = path.join(root, folder, 'github.com/octo/other');
    git(other, 'checkout', '-q', '-b', 'side');
    git(other, 'commit', '-q', '--allow-empty', '-m', 'unpushed on a branch');
    git(other, 'checkout', '-q', 'main');
    for (const text of ['one', 'two']) { put(`${folder}/github.com/octo/other/a`, text); git(other, 'stash', '-q'); }
    git(other, 'worktree', 'add', '-q', path.join(root, 'linked'), 'side');
    put(`${folder}/notes.txt`);
    const found = await inspectCheckout({ path: path.join(root, folder), strategy: 'clone', sharedClone: null }, options());
    assert.ok(found.kind === 'git');
    assert.deepEqual(found.work, { ...spoiled, untracked: 3, unpushed: 2, unpushedHereOnly: 2, stashes: 2, branch: null, detached: false });
    assert.deepEqual([found.linkedWorktrees, found.worktree, found.strangeLink], [[path.join(root, 'linked')], null, null]);
  });

  it('asks no git where there is none to ask', async () => {
    put(`${tree}/README.md`);
    put(`${tree}/src/wip.txt`);
    assert.deepEqual(await inspectCheckout(worktree(), { ...options(), git: '/no/such/git' }), { kind: 'plain', files: 2, complete: true });
    makeClone();
    fs.rmSync(path.join(root, tree), { recursive: true });
    git(path.join(root, clone), 'worktree', 'add', '-q', path.join(root, tree), 'origin/main');
    const missing = await inspectCheckout(worktree(), { ...options(), git: '/no/such/git' });
    assert.equal(missing.kind, 'no-git');
    assert.equal((await inspectCheckout(worktree(), { ...options(), git: null })).kind, 'no-git');
    const stopped = new AbortController();
    stopped.abort();
    await assert.rejects(inspectCheckout(worktree(), { ...options(), signal: stopped.signal }), (error: unknown) => error instanceof Failure && error.kind === 'aborted');
  });

  it('starts nothing that the repository names', async () => {
    makeWorktree();
    const at = path.join(root, tree);
    const trap = path.join(root, 'trap.sh');
    const sprung = path.join(root, 'sprung');
    fs.writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${sprung}\ncat\n`, { mode: 0o755 });
    put('github.com/octo/repo/.git/info/attributes', '* filter=evil\n');
    for (const hook of ['post-index-change', 'fsmonitor-watchman']) { put(`${clone}/.git/hooks/${hook}`, `#!/bin/sh\ntouch ${sprung}\n`); fs.chmodSync(path.join(root, clone, '.git/hooks', hook), 0o755); }
    const settings = { 'core.fsmonitor': trap, 'core.hooksPath': path.join(root, clone, '.git/hooks'), 'filter.evil.clean': trap, 'filter.evil.smudge': trap, 'filter.evil.process': trap, 'filter.evil.required': 'true',
      'core.pager': trap, 'log.showSignature': 'true', 'gpg.program': trap, 'diff.external': trap, 'core.sshCommand': trap, 'alias.status': `!${trap}`, 'credential.helper': trap, 'filter.a.b.clean': trap };
    for (const [key, value] of Object.entries(settings)) git(path.join(root, clone), 'config', key, value);
    fs.writeFileSync(path.join(at, 'a'), 'changed');
    fs.utimesSync(path.join(at, 'd'), 1, 1);
    const found = await look();
    assert.ok(found.kind === 'git');
    assert.equal(found.work.uncommitted, 1);
    assert.equal(fs.existsSync(sprung) ? fs.readFileSync(sprung, 'utf8') : '', '');
    // The trap is a real one: git asked without these precautions springs it.
    try { git(at, 'status'); } catch { /* the trap may break git, too */ }
    assert.ok(fs.existsSync(sprung));
  });

  it('is read from git’s answer, renames counted once', () => {
    const status = parseStatus(['# branch.oid abc', '# branch.head a b', '1 .M N... 1 1 1 a b x y', '2 R. N... 1 1 1 a b R100 new', '? old', 'u UU N... 1 1 1 1 a b c f', '? 1 x', '! y/', ''].join('\0'));
    assert.deepEqual(status, { branch: 'a b', unborn: false, uncommitted: 3, untracked: ['1 x'], ignored: ['y/'] });
  });
});
