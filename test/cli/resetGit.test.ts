import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PlanReply, type ItemReply } from '../../src/protocol/plan';
import { cleanEnv, makePlace, readTree, runCli, writeFiles, type Place } from '../support/program';
import { git } from '../support/repositories';
import { endpoint, poll, portable, session } from '../support/state';

const ref = 'github:octo/repo#15';
const slug = 'github-octo-repo-15';
const work = { uncommitted: 4, untracked: 3, ignored: 2, nestedRepositories: 2, unpushed: 2 };

/** A loop's working directory with one live item that has a checkout full of work. */
describe('a reset of an item with a git checkout', function () {
  this.timeout(60_000);
  let place: Place;
  let ws: string;
  let clone: string;
  let checkout: string;
  beforeEach(() => {
    place = makePlace();
    ws = path.join(place.work, 'ws');
  });
  afterEach(() => { place.remove(); });

  const write = (strategy: 'worktree' | 'clone', more = '') => {
    clone = path.join(ws, strategy === 'clone' ? `.work-items/${slug}/github.com/octo/repo` : 'github.com/octo/repo');
    checkout = strategy === 'clone' ? path.join(ws, '.work-items', slug) : path.join(ws, '.worktrees/github.com/octo/repo', slug);
    writeFiles(place.work, {
      '.the-loop/cli-config.yaml': `version: "0.5.0"\nrouting:\n  workspace:\n    root: ${ws}\n    strategy: ${strategy}\n${more}`,
      [`.the-loop/local/${slug}.json`]: session(ref, { status: 'active', cwd: strategy === 'clone' ? clone : checkout }),
      [`.the-loop/portable/${slug}.json`]: portable(ref, { poll: poll('IC_1') }),
    });
  };
  /** The repository that holds the checkout: a worktree itself, or the clone in the item's folder. */
  const repository = (strategy: 'worktree' | 'clone') => (strategy === 'clone' ? clone : checkout);

  /** An origin, the clone of it, and for a worktree the item's own on the branch `work`. */
  const makeCheckout = (strategy: 'worktree' | 'clone', more = '') => {
    write(strategy, more);
    const origin = path.join(place.top, 'origin');
    writeFiles(origin, { a: 'a\n'.repeat(20), b: 'b\n'.repeat(20), c: 'c\n', '.gitignore': 'ignored/\n*.log\n' });
    git(origin, 'init', '--quiet');
    git(origin, 'add', '-A');
    git(origin, 'commit', '--quiet', '-m', 'one');
    fs.mkdirSync(path.dirname(clone), { recursive: true });
    git(place.top, 'clone', '--quiet', origin, clone);
    if (strategy === 'clone') git(clone, 'switch', '--quiet', '-c', 'work');
    else git(clone, 'worktree', 'add', '--quiet', '-b', 'work', checkout, 'origin/main');
  };
  /** Every kind of work that a person can lose: `work` counts it. */
  const fill = (at: string) => {
    for (const name of ['one', 'two']) git(at, 'commit', '--quiet', '--allow-empty', '-m', name);
    writeFiles(at, { a: 'modified\n', staged: 'staged\n', 'untracked/1': '1', 'x.log': 'log', 'ignored/deep/2': '2', 'nested/file': 'f', 'ignored/nested/file': 'f' });
    git(at, 'add', 'staged');
    fs.writeFileSync(path.join(at, 'staged'), 'staged, then modified\n');
    git(at, 'mv', 'b', 'moved');
    fs.rmSync(path.join(at, 'c'));
    for (const name of ['nested', 'ignored/nested']) git(path.join(at, name), 'init', '--quiet');
    fs.symlinkSync('/nowhere', path.join(at, 'untracked/link'));
    fs.writeFileSync(path.join(at, 'untracked/run.sh'), '#!/bin/sh\n', { mode: 0o750 });
    fs.chmodSync(path.join(at, 'untracked/1'), 0o400);
    fs.mkdirSync(path.join(at, 'empty'), { mode: 0o711 });
  };

  const run = (args: string[], env: Record<string, string> = {}) => runCli([...args, '--json'], { cwd: place.work, env: cleanEnv(place.home, env) });
  const reset = async (args: string[] = [], env: Record<string, string> = {}): Promise<{ code: number | null; reply: PlanReply; item: ItemReply }> => {
    const { code, stdout, stderr } = await run(['sessions', 'reset', '--work-item', ref, ...args], env);
    const reply = PlanReply.parse(JSON.parse(stdout), { error: () => stdout + stderr });
    return { code, reply, item: reply.items[0] as ItemReply };
  };
  /** Every path with its kind, mode, bytes or target; the index among them. */
  const everything = (folder: string): Record<string, string> => Object.fromEntries(Object.entries(readTree(folder)).flatMap(([name, text]) => {
    const { mode } = fs.lstatSync(path.join(folder, name));
    const above = path.dirname(name) === '.' ? [] : [[`${path.dirname(name)}/`, fs.lstatSync(path.join(folder, path.dirname(name))).mode.toString(8)]];
    return [[name, `${mode.toString(8)} ${text}`], ...above];
  }));
  const isThere = (file: string) => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  const kindsOf = (messages: { kind: string }[]) => messages.map(({ kind }) => kind);
  const state = () => readTree(place.work, (name) => name === '.the-loop/loopkeeper' || name === '.the-loop/logs');

  /** Shown, done, taken back. */
  async function thereAndBack(strategy: 'worktree' | 'clone', trashIn: () => string): Promise<void> {
    fill(repository(strategy));
    const before = { files: everything(checkout), status: git(repository(strategy), 'status', '--porcelain', '--ignored'), state: everything(ws) };

    const dry = await reset(['--dry-run']);
    assert.equal(dry.code, 0);
    const [shown] = dry.item.checkouts ?? [];
    assert.ok(shown);
    const { path: where, keptAt, ...counts } = shown;
    assert.deepEqual({ where, ...counts }, { where: checkout, branch: 'work', ...work });
    assert.ok(keptAt?.startsWith(trashIn()), String(keptAt));
    assert.deepEqual(everything(ws), before.state, 'a dry run changes nothing');

    const real = await reset(['--expect', dry.reply.digest]);
    assert.equal(real.code, 0, JSON.stringify(real.item.errors));
    assert.deepEqual(real.item.removed, ['workspace', 'session', 'poll']);
    assert.deepEqual(real.item.errors, []);
    assert.equal(isThere(checkout), false);
    const kept = real.item.checkouts?.[0]?.keptAt ?? '';
    assert.deepEqual(everything(kept), before.files, 'the trash has every byte');
    if (strategy === 'worktree') {
      assert.deepEqual(kindsOf(real.item.notices), ['unpushed']);
      assert.equal(git(clone, 'worktree', 'list', '--porcelain').split('\n').filter((line) => line.startsWith('worktree ')).length, 1, 'git has forgotten it');
      assert.equal(git(clone, 'log', '--format=%s', 'work').split('\n').join(), 'two,one,one');
      const elsewhere = path.join(place.top, 'elsewhere');
      git(clone, 'worktree', 'add', '--quiet', elsewhere, 'work');
      git(clone, 'worktree', 'remove', elsewhere);
      git(clone, 'worktree', 'prune');
      assert.deepEqual(git(clone, 'fsck', '--no-dangling').trim(), '');
    }

    const undone = await run(['undo', real.reply.plan]);
    assert.equal(undone.code, 0, undone.stdout);
    assert.deepEqual(everything(checkout), before.files);
    // Before git looks at it: status may write the index anew.
    if (strategy === 'worktree') assert.deepEqual(everything(path.join(clone, '.git/worktrees')), Object.fromEntries(Object.entries(before.state).flatMap(([name, text]) => { const at = 'github.com/octo/repo/.git/worktrees/'; return name.startsWith(at) && name !== at ? [[name.slice(at.length), text]] : []; })));
    assert.equal(git(repository(strategy), '--no-optional-locks', 'status', '--porcelain', '--ignored'), before.status);
    assert.equal(isThere(kept), false, 'the trash is empty again');
    git(repository(strategy), 'commit', '--quiet', '-m', 'work goes on');
  }

  it('as a worktree', async () => {
    makeCheckout('worktree');
    await thereAndBack('worktree', () => path.join(place.work, '.the-loop/loopkeeper/trash/'));
  });

  it('as a clone', async () => {
    makeCheckout('clone');
    await thereAndBack('clone', () => path.join(place.work, '.the-loop/loopkeeper/trash/'));
  });

  describe('on another file system than the state', () => {
    // A mount of the test's own where that is allowed, else memory that is mounted already.
    let mounted = false;
    beforeEach(() => {
      fs.mkdirSync(ws);
      mounted = process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'lk-test', ws]).status === 0;
      if (!mounted) ws = fs.mkdtempSync('/dev/shm/lk-');
      assert.notEqual(fs.statSync(ws).dev, fs.statSync(place.work).dev, 'another file system is needed');
    });
    afterEach(() => {
      if (mounted) assert.equal(spawnSync('umount', ['-l', ws]).status, 0);
      else fs.rmSync(ws, { recursive: true, force: true });
    });

    it('as a worktree: renamed beside the checkouts, and back', async () => {
      makeCheckout('worktree');
      await thereAndBack('worktree', () => path.join(ws, 'loopkeeper/trash/'));
    });

    it('without trash nothing is left on either of the two', async () => {
      makeCheckout('worktree');
      fill(checkout);
      const { code, item } = await reset(['--no-trash']);
      assert.equal(code, 0, JSON.stringify(item.errors));
      assert.equal(item.checkouts?.[0]?.keptAt, null);
      assert.deepEqual(Object.keys(readTree(ws, (name) => name === 'github.com')).filter((name) => /file|staged|untracked/.test(name)), []);
    });
  });

  describe('is kept, and the reset goes on', () => {
    /** The session goes, the checkout and git's record of it stay as they are. */
    async function staysWith(pattern: RegExp, args: string[] = []): Promise<ItemReply> {
      const before = everything(ws);
      const dry = await reset([...args, '--dry-run']);
      const { code, item } = await reset([...args, '--expect', dry.reply.digest]);
      assert.equal(code, 0, JSON.stringify(item));
      assert.deepEqual(item.removed, ['session', 'poll']);
      assert.deepEqual(item.kept, dry.item.kept);
      assert.match(item.kept.find(({ what }) => what === `checkout ${checkout}`)?.why ?? '', pattern);
      assert.deepEqual(everything(ws), before);
      return item;
    }

    const other = (cwd: string, more = {}) => {
      writeFiles(place.work, { '.the-loop/local/github-octo-other-7.json': session('github:octo/other#7', { status: 'paused', cwd, ...more }) });
    };

    it('when another live session works in it', async () => {
      makeCheckout('worktree');
      fs.mkdirSync(path.join(checkout, 'docs'));
      other(path.join(checkout, 'docs'));
      await staysWith(/live session of github:octo\/other#7/);
    });

    it('when one does under another name of the same folder', async () => {
      makeCheckout('worktree');
      const link = path.join(place.top, 'link');
      fs.symlinkSync(ws, link);
      other(path.join(link, path.relative(ws, checkout)));
      await staysWith(/live session of github:octo\/other#7/);
    });

    it('when the live session of a closed item\'s pull request does', async () => {
      makeCheckout('worktree');
      other('/srv', { status: 'closed', pullRequests: [endpoint('github:octo/other#8', { status: 'active', cwd: checkout })] });
      await staysWith(/live session of github:octo\/other#7/);
    });

    it('but not for a session that is closed, or that goes too', async () => {
      makeCheckout('worktree');
      other(checkout, { status: 'closed' });
      writeFiles(place.work, { '.the-loop/local/github-octo-other-9.json': session('github:octo/other#9', { status: 'active', cwd: checkout }) });
      const { code, item } = await reset(['--work-item', 'github:octo/other#9']);
      assert.equal(code, 0);
      assert.ok(item.removed.includes('workspace'));
    });

    it('when it is locked', async () => {
      makeCheckout('worktree');
      git(clone, 'worktree', 'lock', '--reason', 'on a stick', checkout);
      await staysWith(/git worktree lock holds it \(on a stick\)/);
    });

    it('when the config says so', async () => {
      makeCheckout('worktree', '    keepCheckoutOnClose: true\n');
      fill(checkout);
      await staysWith(/keepCheckoutOnClose/);
    });

    it('when a worktree elsewhere belongs to the clone in it', async () => {
      makeCheckout('clone');
      git(clone, 'worktree', 'add', '--quiet', '-b', 'side', path.join(place.top, 'side'));
      await staysWith(/side belongs to a clone in it/);
    });
  });

  describe('is not removed unseen: the item stays whole', () => {
    async function refused(kind: string, args: string[], env: Record<string, string> = {}): Promise<void> {
      const [before, checkouts] = [state(), everything(ws)];
      for (const more of [['--dry-run'], []]) {
        const { code, item } = await reset([...args, ...more], env);
        assert.equal(code, 1);
        assert.deepEqual(kindsOf(item.errors), [kind]);
        assert.deepEqual(item.removed, []);
        assert.deepEqual(state(), before);
        assert.deepEqual(everything(ws), checkouts);
      }
    }

    it('without git', async () => {
      makeCheckout('worktree');
      await refused('no-git', [], { LOOPKEEPER_GIT: path.join(place.top, 'no-such-git') });
    });

    it('without git in the path', async () => {
      makeCheckout('worktree');
      await refused('no-git', [], { PATH: place.top });
    });

    it('with --no-exec', async () => {
      makeCheckout('worktree');
      await refused('no-git', ['--no-exec']);
    });

    it('when git fails', async () => {
      makeCheckout('worktree');
      fs.writeFileSync(path.join(clone, '.git/worktrees', slug, 'index'), 'no index');
      await refused('git-failed', []);
    });
  });

  it('with --no-trash is erased, and undo says that there is no way back', async () => {
    makeCheckout('worktree');
    fill(checkout);
    const dry = await reset(['--no-trash', '--dry-run']);
    assert.ok(dry.item.steps.filter(({ kind }) => kind === 'moveCheckout').every(({ undo }) => undo === 'none'));
    const plain = await reset(['--dry-run']);
    assert.notEqual(plain.reply.digest, dry.reply.digest, 'a person decides on it');
    const real = await reset(['--no-trash', '--expect', dry.reply.digest]);
    assert.equal(real.code, 0, JSON.stringify(real.item.errors));
    assert.equal(isThere(checkout), false);
    assert.equal(isThere(path.join(clone, '.git/worktrees', slug)), false);
    assert.deepEqual(fs.readdirSync(path.join(place.work, '.the-loop/loopkeeper/trash')), []);
    const undone = await run(['undo', real.reply.plan]);
    assert.equal(undone.code, 2);
    assert.equal((JSON.parse(undone.stdout) as { error: { kind: string } }).error.kind, 'nothing-to-undo');
  });

  it('is not written over by undo when somebody made a new one', async () => {
    makeCheckout('worktree');
    const { reply } = await reset();
    git(clone, 'worktree', 'add', '--quiet', checkout, 'work');
    const before = everything(ws);
    const undone = await run(['undo', reply.plan]);
    assert.equal(undone.code, 3);
    assert.deepEqual(everything(ws), before);
    assert.equal(isThere(path.join(place.work, '.the-loop/local', `${slug}.json`)), false, 'the item is left as it is');
  });

  it('of two items takes both, of a pull request its own', async () => {
    makeCheckout('worktree');
    const pull = path.join(ws, '.worktrees/github.com/octo/repo/github-octo-repo-16');
    git(clone, 'worktree', 'add', '--quiet', '-b', 'pull', pull, 'origin/main');
    writeFiles(pull, { new: 'n' });
    writeFiles(place.work, { [`.the-loop/local/${slug}.json`]: session(ref, { status: 'closed', cwd: checkout, pullRequests: [endpoint('github:octo/repo#16', { status: 'active', cwd: pull })] }) });
    const { code, item } = await reset();
    assert.equal(code, 0);
    // The item's own session is closed: its checkout went by the policy then, and what is there now is not this reset's.
    assert.deepEqual(item.checkouts?.map((one) => [one.path, one.untracked]), [[pull, 1]]);
    assert.equal(isThere(checkout), true);
    assert.equal(isThere(pull), false);
  });
});
