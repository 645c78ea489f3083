import * as assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { LoopStateChangeReply, LoopStateListReply } from '../../src/protocol/loopState';
import { ErrorReply } from '../../src/protocol/message';
import { cleanEnv, makePlace, runCli, writeFiles, type Place, type Ran } from '../support/program';
import { fingerprint, git, makeGit, makeOrigin } from '../support/repositories';

const now = '2026-08-22T10:00:00Z';
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const old = { last_run: '2026-07-01T00:00:00Z', outcome: 'rejected', consecutive_failures: 3 };
const state = pretty({ targets: { 'integration:main': { last_run: '2026-08-20T00:00:00Z', outcome: 'rejected', consecutive_failures: 0, last_sha: 's' }, 'pull_request:7': old } });
const files = { '.loop/state-a.json': state, 'src/x.txt': 'x\n', 'README.md': 'r\n' };
const rejected = ['loop-state', 'write', '--loop', 'a', '--target', 'integration:main', '--outcome', 'rejected', '--mode', 'metadata', '--commit', '--push', 'origin/main'];

let place: Place;
beforeEach(() => { place = makePlace(); });
afterEach(() => { place.remove(); });

const run = (cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> => runCli([...args, '--json'], { cwd, env: cleanEnv(place.home, { LOOPKEEPER_NOW: now, ...env }) });
async function pushed(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<LoopStateChangeReply> {
  const ran = await run(cwd, args, env);
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  return LoopStateChangeReply.parse(JSON.parse(ran.stdout));
}
async function failure(cwd: string, args: readonly string[], code: number, env: Record<string, string> = {}): Promise<string> {
  const ran = await run(cwd, args, env);
  assert.equal(ran.code, code, ran.stdout + ran.stderr);
  return ErrorReply.parse(JSON.parse(ran.stdout)).error.kind;
}
const targetsAt = (origin: string, loop = 'a'): Record<string, Record<string, unknown>> =>
  (JSON.parse(git(origin, 'show', `main:.loop/state-${loop}.json`)) as { targets: Record<string, Record<string, unknown>> }).targets;
const count = (origin: string): number => Number(git(origin, 'rev-list', '--count', 'main'));

/** A person in the middle of things: staged, modified, untracked, and a commit of their own. */
function makeBusy(clone: string): void {
  writeFiles(clone, { 'src/own.txt': 'mine\n' });
  git(clone, 'add', '-A');
  git(clone, 'commit', '--quiet', '-m', 'own work');
  writeFiles(clone, { 'src/x.txt': 'staged\n' });
  git(clone, 'add', '-A');
  writeFiles(clone, { 'src/x.txt': 'modified\n', 'note.txt': 'untracked\n' });
}

describe('cli: loop state, committed and pushed', function () {
  this.timeout(600_000);

  it('one commit on the tip; the checkout, its index and its branches stay as they were', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    makeBusy(clone);
    const before = fingerprint(clone);
    const tip = git(origin, 'rev-parse', 'main');
    const reply = await pushed(clone, rejected);
    assert.deepEqual(fingerprint(clone), before);
    assert.equal(git(origin, 'rev-parse', 'main'), reply.pushed?.commit);
    assert.equal(git(origin, 'rev-parse', 'main^'), tip);
    assert.equal(git(origin, 'diff', '--name-status', 'main^', 'main'), 'M\t.loop/state-a.json');
    assert.equal(git(origin, 'log', '-1', '--format=%s', 'main'), 'chore(loop): update state [skip ci]');
    assert.deepEqual(targetsAt(origin), { 'integration:main': { last_run: now, outcome: 'rejected', consecutive_failures: 1, last_sha: 's', open_rejections: [] } });
    assert.deepEqual(reply.pruned.map(({ key }) => key), ['pull_request:7']);
    // Nothing of the way there is left in the repository.
    assert.deepEqual(fs.readdirSync(path.join(clone, '.git/loopkeeper')).filter((name) => name.startsWith('index')), []);
    assert.ok(!fs.existsSync(path.join(clone, '.git/FETCH_HEAD')));
    assert.doesNotMatch(git(clone, 'for-each-ref'), /loopkeeper/);
  });

  it('plans on what is pushed, not on an old checkout, and says what the list knows', async () => {
    const { origin, clones: [one = '', two = ''] } = makeOrigin(place, files, ['one', 'two']);
    await pushed(one, rejected);
    await pushed(two, rejected);
    assert.equal(targetsAt(origin)['integration:main']?.['consecutive_failures'], 2);
    git(one, 'fetch', '--quiet');
    const list = LoopStateListReply.parse(JSON.parse((await run(one, ['loop-state', 'list'])).stdout));
    assert.equal(list.knowledge?.behind, 2);
    assert.equal(list.knowledge?.upstream, 'origin/main');
    assert.equal(list.knowledge?.commit, git(one, 'rev-parse', 'HEAD'));
    assert.ok(list.knowledge?.fetchedAt);
    assert.equal(LoopStateListReply.parse(JSON.parse((await run(one, ['loop-state', 'list', '--no-exec'])).stdout)).knowledge, null);
  });

  it('a push that another machine won is planned again on the new state', async () => {
    const { origin, clones: [one = '', two = ''] } = makeOrigin(place, files, ['one', 'two']);
    // Right before the first push of one, two pushes.
    const other = rejected.map((arg) => (arg === 'integration:main' ? 'integration:dev' : arg)).map((arg) => `'${arg}'`).join(' ');
    const wrapper = makeGit(place, `case " $* " in *" push "*) if mkdir '${place.top}/raced' 2>/dev/null; then (cd '${two}' && unset LOOPKEEPER_GIT && LOOPKEEPER_NOW=${now} '${process.execPath}' "$LK_CLI" ${other} >/dev/null); fi;; esac`);
    const reply = await pushed(one, rejected, { LOOPKEEPER_GIT: wrapper, LK_CLI: path.join(process.cwd(), 'dist/cli.js') });
    assert.equal(reply.pushed?.attempts, 2);
    const held = targetsAt(origin);
    assert.equal(held['integration:main']?.['consecutive_failures'], 1);
    assert.equal(held['integration:dev']?.['consecutive_failures'], 1);
    assert.equal(count(origin), 3);
    assert.equal(git(origin, 'rev-list', '--merges', '--count', 'main'), '0');
  });

  it('the same write on the same tip in the same second, twice, counts twice', async () => {
    const { origin, clones: [one = '', two = ''] } = makeOrigin(place, files, ['one', 'two']);
    const env = { GIT_AUTHOR_DATE: '2026-08-22T10:00:00Z', GIT_COMMITTER_DATE: '2026-08-22T10:00:00Z' };
    // The second sees the tip that the first saw, as if both had looked before either pushed.
    const tip = git(origin, 'rev-parse', 'main');
    await pushed(one, rejected, env);
    const wrapper = makeGit(place, `case " $* " in *" ls-remote "*) if mkdir '${place.top}/looked' 2>/dev/null; then printf '%s\\trefs/heads/main\\n' ${tip}; exit 0; fi;; esac`);
    await pushed(two, rejected, { ...env, LOOPKEEPER_GIT: wrapper });
    assert.equal(targetsAt(origin)['integration:main']?.['consecutive_failures'], 2);
    assert.equal(count(origin), 3);
  });

  it('an answer that was lost after the push is not counted twice', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    const wrapper = makeGit(place, 'case " $* " in *" push "*) "$real" "$@" >/dev/null 2>&1; echo "fatal: the remote end hung up unexpectedly" >&2; exit 128;; esac');
    const reply = await pushed(clone, rejected, { LOOPKEEPER_GIT: wrapper });
    assert.equal(git(origin, 'rev-parse', 'main'), reply.pushed?.commit);
    assert.equal(targetsAt(origin)['integration:main']?.['consecutive_failures'], 1);
    assert.equal(count(origin), 2);
  });

  it('a push that is refused is said at once, and not tried again', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    fs.writeFileSync(path.join(origin, 'hooks/pre-receive'), '#!/bin/sh\necho "protected branch" >&2\nexit 1\n', { mode: 0o755 });
    const before = fingerprint(clone);
    const started = performance.now();
    assert.equal(await failure(clone, rejected, 1), 'push-refused');
    assert.ok(performance.now() - started < 30_000);
    assert.deepEqual(fingerprint(clone), before);
    assert.equal(count(origin), 1);
  });

  it('a dry run shows the plan on the tip, its digest holds for the real run, and a moved tip is stale', async () => {
    const { origin, clones: [one = '', two = ''] } = makeOrigin(place, files, ['one', 'two']);
    const prune = ['loop-state', 'prune', '--commit', '--push', 'origin/main'];
    const dry = await pushed(one, [...prune, '--dry-run']);
    assert.deepEqual(dry.pruned.map(({ key }) => key), ['pull_request:7']);
    assert.equal(dry.pushed, null);
    assert.equal(count(origin), 1);
    assert.ok(!fs.existsSync(path.join(one, '.git/loopkeeper')));
    await pushed(two, ['loop-state', 'write', '--loop', 'a', '--target', 'pull_request:7', '--outcome', 'pr-closed', '--mode', 'metadata', '--commit', '--push', 'origin/main']);
    assert.equal(await failure(one, [...prune, '--expect', dry.digest], 3), 'stale-plan');
    const again = await pushed(one, [...prune, '--dry-run']);
    assert.deepEqual(again.pruned, []);
    assert.equal((await pushed(one, [...prune, '--expect', again.digest])).pushed, null);
    assert.equal(count(origin), 2);
  });

  it('takes a file that is not on the branch yet from the working copy, and says what it left out', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    writeFiles(clone, { '.loop/state-new.json': state, '.loop/state-a.json': state.replace('"s"', '"local"') });
    const reply = await pushed(clone, rejected.map((arg) => (arg === 'a' ? 'new' : arg)));
    assert.equal(targetsAt(origin, 'new')['integration:main']?.['last_sha'], 's');
    assert.equal(targetsAt(origin)['integration:main']?.['last_sha'], 's');
    assert.ok(reply.warnings.some(({ kind, message }) => kind === 'uncommitted-state' && message.includes('.loop/state-a.json')));
  });

  it('works in a folder of the repository, for all verbs, in a hook\'s environment', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, { 'services/web/.loop/state-a.json': state.replace('"outcome"', '"pending": {"pr": 4, "sha": "p"},\n      "outcome"') }, ['one']);
    const before = fingerprint(clone);
    const env = { GIT_DIR: '/nowhere', GIT_INDEX_FILE: path.join(clone, '.git/index'), GIT_WORK_TREE: '/nowhere', GIT_PREFIX: 'x/' };
    const push = ['--dir', 'services/web', '--commit', '--push', 'origin/main'];
    await pushed(clone, ['loop-state', 'promote', '--pr', '4', '--merged', ...push], env);
    await pushed(clone, ['ledger', 'record', '--run-id', '1', '--workflow-name', 'w', '--head-sha', 'h', '--outcome', 'watch', ...push], env);
    await pushed(clone, ['run-log', 'append', '--entry', '{"a":1}', ...push], env);
    await pushed(clone, ['loop-state', 'unblock', 'integration:main', ...push], env);
    assert.deepEqual(git(origin, 'ls-tree', '-r', '--name-only', 'main').split('\n'), ['loop-run-log.md', 'state-a.json', 'state-ci-sweeper-run-ledger.json'].map((name) => `services/web/.loop/${name}`));
    assert.equal((JSON.parse(git(origin, 'show', 'main:services/web/.loop/state-a.json')) as { targets: Record<string, { last_sha: string }> }).targets['integration:main']?.last_sha, 'p');
    assert.equal(count(origin), 4);
    assert.deepEqual(fingerprint(clone), before);
  });

  it('refuses a link in the commit, a branch that is not there, a remote that is none', async () => {
    const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    fs.rmSync(path.join(clone, '.loop/state-a.json'));
    fs.symlinkSync('../../secret', path.join(clone, '.loop/state-a.json'));
    git(clone, 'commit', '--quiet', '-am', 'link');
    git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
    assert.equal(await failure(clone, rejected, 1), 'unsafe-path');
    const to = (where: string): string[] => rejected.map((arg) => (arg === 'origin/main' ? where : arg));
    assert.equal(await failure(clone, to('origin/none'), 1), 'no-branch');
    assert.equal(await failure(clone, to('other/main'), 2), 'bad-argument');
    assert.equal(await failure(clone, to('origin/--mirror'), 1), 'no-branch');
    assert.equal(await failure(clone, to('origin/a..b'), 2), 'bad-argument');
    assert.equal(count(origin), 2);
  });

  it('killed at each git call: the branch has the whole commit or none, the next run goes on', async () => {
    let calls = 0;
    for (let at = 1; ; at += 1) {
      const { origin, clones: [clone = ''] } = makeOrigin(place, files, ['one']);
      const before = fingerprint(clone);
      const counter = path.join(place.top, 'calls');
      const wrapper = makeGit(place, `echo x >> '${counter}'; if [ "$(wc -l < '${counter}')" -eq ${String(at)} ]; then kill -9 $PPID; exit 1; fi`);
      const ran = await run(clone, rejected, { LOOPKEEPER_GIT: wrapper });
      calls = fs.readFileSync(counter, 'utf8').split('\n').length - 1;
      assert.deepEqual(fingerprint(clone), before, `call ${String(at)}`);
      const held = targetsAt(origin)['integration:main']?.['consecutive_failures'];
      assert.ok(held === 0 || held === 1, `call ${String(at)}`);
      if (ran.signal !== 'SIGKILL') break;
      await pushed(clone, rejected);
      assert.equal(targetsAt(origin)['integration:main']?.['consecutive_failures'], Number(held) + 1, `call ${String(at)}`);
      assert.deepEqual(fs.readdirSync(path.join(clone, '.git/loopkeeper')).filter((name) => name.startsWith('index')), []);
      place.remove();
      place = makePlace();
    }
    assert.ok(calls >= 10, `only ${String(calls)} git calls were visited`);
  });

  it('--commit alone commits the state files here: a ledger recorded before rides along, other work does not', async () => {
    const { clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    git(clone, 'config', 'user.name', 'Person');
    git(clone, 'config', 'user.email', 'person@example.org');
    makeBusy(clone);
    const { 'src/x.txt': work, 'note.txt': note } = fingerprint(clone);
    await pushed(clone, ['ledger', 'record', '--run-id', '1', '--workflow-name', 'w', '--head-sha', 'h', '--outcome', 'watch']);
    const reply = await pushed(clone, ['loop-state', 'prune', '--commit']);
    assert.equal(reply.committed?.status, 'done');
    assert.deepEqual(git(clone, 'diff', '--name-only', 'HEAD^', 'HEAD').split('\n'), ['.loop/state-a.json', '.loop/state-ci-sweeper-run-ledger.json']);
    assert.equal(git(clone, 'status', '--porcelain'), 'MM src/x.txt\n?? note.txt');
    assert.deepEqual([fingerprint(clone)['src/x.txt'], fingerprint(clone)['note.txt']], [work, note]);
    assert.equal((await pushed(clone, ['loop-state', 'prune', '--commit'])).committed, null);
  });

  it('a commit that cannot be made is said and is exit 1; the state is written all the same', async () => {
    const { clones: [clone = ''] } = makeOrigin(place, files, ['one']);
    fs.writeFileSync(path.join(clone, '.git/MERGE_HEAD'), `${git(clone, 'rev-parse', 'HEAD')}\n`);
    const ran = await run(clone, ['loop-state', 'prune', '--commit']);
    assert.equal(ran.code, 1, ran.stdout);
    const reply = LoopStateChangeReply.parse(JSON.parse(ran.stdout));
    assert.equal(reply.committed?.status, 'failed');
    assert.ok(reply.warnings.some(({ kind }) => kind === 'git-busy'));
    assert.ok(!fs.readFileSync(path.join(clone, '.loop/state-a.json'), 'utf8').includes('pull_request:7'));
  });
});

/** Pushes; on a machine so slow that others win for a whole minute, does what the message says: runs it again. Gives the attempts. */
async function pushedAtLast(clone: string, args: readonly string[]): Promise<number> {
  for (;;) {
    const ran = await run(clone, args);
    if (ran.code === 0) return LoopStateChangeReply.parse(JSON.parse(ran.stdout)).pushed?.attempts ?? 0;
    assert.equal(ErrorReply.parse(JSON.parse(ran.stdout)).error.kind, 'push-race', ran.stdout + ran.stderr);
  }
}

/** Pushes of each clone. */
const EACH = 25;

describe('cli: four clones that push at once', function () {
  this.timeout(20 * 60_000);

  it('every write is there, the history is linear, the checkouts are untouched', async () => {
    const { origin, clones } = makeOrigin(place, files, ['one', 'two', 'three', 'four']);
    for (const clone of clones) makeBusy(clone);
    const before = clones.map(fingerprint);
    let attempts = 0;
    await Promise.all(clones.map(async (clone, i) => {
      for (let n = 0; n < EACH; n += 1) {
        // The shared counter loses nothing only if every write was planned on the one before.
        const args = n % 5 === 4 ? rejected.map((arg) => (arg === 'integration:main' ? `integration:clone${String(i)}` : arg)) : rejected;
        const took = await pushedAtLast(clone, args);
        attempts += took; // not before the await: the others add to it meanwhile
      }
    }));
    const held = targetsAt(origin);
    const own = Math.floor(EACH / 5);
    assert.equal(held['integration:main']?.['consecutive_failures'], 4 * (EACH - own));
    for (let i = 0; i < 4; i += 1) assert.equal(held[`integration:clone${String(i)}`]?.['consecutive_failures'], own);
    assert.equal(count(origin), 4 * EACH + 1);
    assert.equal(git(origin, 'rev-list', '--merges', '--count', 'main'), '0');
    assert.equal(git(origin, 'rev-list', '--first-parent', '--count', 'main'), String(4 * EACH + 1));
    assert.deepEqual(clones.map(fingerprint), before);
    assert.ok(attempts >= 4 * EACH);
    console.log(`      ${String(4 * EACH)} pushes, ${String(attempts)} attempts`);
  });
});
