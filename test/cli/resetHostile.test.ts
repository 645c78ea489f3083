import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { PlanReply } from '../../src/protocol/plan';
import { cleanEnv, makePlace, readTree, runCli, writeFiles, type Place, type Ran } from '../support/program';
import { control, endpoint, poll, portable, session } from '../support/state';

const ref = 'github:octo/repo#15';
const slug = 'github-octo-repo-15';
const local = `.the-loop/local/${slug}.json`;
const record = `.the-loop/portable/${slug}.json`;
const log = '.the-loop/logs/events.jsonl';
const checkout = `ws/.worktrees/github.com/octo/repo/${slug}`;

/** Something is planted where ours is expected, or is far larger than it should be. */
describe('a reset on a hostile state', function () {
  this.timeout(60_000);
  let place: Place;
  let outside: string;
  beforeEach(() => {
    place = makePlace();
    outside = path.join(place.top, 'outside');
    writeFiles(place.work, {
      '.the-loop/cli-config.yaml': 'version: "0.5.0"\nrouting:\n  workspace:\n    root: ws\n',
      [local]: session(ref, { status: 'active' }),
      [record]: portable(ref, { control: control(ref), poll: poll('IC_1') }),
      [log]: '{"ts":"2026-08-04T09:00:00.000Z","event":"poll.cycle"}\n',
      '.the-loop/portable/github-octo-repo-16.json': portable('github:octo/repo#16', { poll: poll('IC_1') }),
      [`${checkout}/file`]: 'work\n',
    });
    // What is outside looks as it would have to look inside, so that following a link would find what it wants.
    writeFiles(outside, {
      [`${slug}.json`]: session(ref, { status: 'active' }), 'portable.json': portable(ref, { control: control(ref), poll: poll('IC_1') }), 'index.json': '{}\n', 'events.jsonl': '{"event":"poll.cycle"}\n',
      [`portable/${slug}.json`]: portable(ref, { control: control(ref), poll: poll('IC_1') }), 'portable/index.json': '{}\n', [`local/${slug}.json`]: session(ref, { status: 'active' }),
      'checkout/file': 'work\n', [`worktrees/github.com/octo/repo/${slug}/file`]: 'work\n', 'store/journal/keep': '', 'store/plans/keep': '', 'store/trash/keep': '', 'logs/events.jsonl': '{"event":"poll.cycle"}\n',
    });
  });
  afterEach(() => { place.remove(); });

  const run = (args: string[], env: Record<string, string> = {}, nodeArgs: string[] = []): Promise<Ran> => runCli([...args, '--json'], { cwd: place.work, env: cleanEnv(place.home, env), nodeArgs });
  const reset = (...args: string[]) => run(['sessions', 'reset', '--work-item', ref, ...args]);
  const replyOf = (ran: Ran): PlanReply => PlanReply.parse(JSON.parse(ran.stdout), { error: () => ran.stdout + ran.stderr });
  const errorOf = (ran: Ran) => (JSON.parse(ran.stdout) as { error: { kind: string; message: string } }).error;
  const work = () => readTree(place.work, (name) => name === '.the-loop/loopkeeper');
  const plant = (name: string, target: string): void => {
    fs.rmSync(path.join(place.work, name), { recursive: true, force: true });
    fs.mkdirSync(path.dirname(path.join(place.work, name)), { recursive: true });
    if (target === 'a folder') writeFiles(path.join(place.work, name), { file: 'f' });
    else fs.symlinkSync(path.join(outside, target), path.join(place.work, name));
  };

  describe('leaves the item whole and says `unsafe-path`, in a dry run too', () => {
    const planted: [what: string, name: string, target: string][] = [
      ['a link for its session record', local, `${slug}.json`],
      ['a folder for its session record', local, 'a folder'],
      ['a link for its portable record', record, 'portable.json'],
      ['a folder for its portable record', record, 'a folder'],
      ['a link for its checkout', checkout, 'checkout'],
      ['a link for a folder above its checkout', 'ws/.worktrees', 'worktrees'],
      ['a link for the folder of portable records', '.the-loop/portable', 'portable'],
      ['a link for the folder of session records', '.the-loop/local', 'local'],
    ];
    for (const [what, name, target] of planted) {
      it(what, async () => {
        plant(name, target);
        const [before, beyond] = [work(), readTree(outside)];
        for (const more of [['--dry-run'], [], ['--no-trash']]) {
          const ran = await reset(...more);
          assert.equal(ran.code, 1);
          const [item] = replyOf(ran).items;
          assert.deepEqual(item?.errors.map(({ kind }) => kind), ['unsafe-path'], ran.stdout);
          assert.ok(item?.errors[0]?.message.includes(path.join(place.work, name)), item?.errors[0]?.message);
          assert.deepEqual(item?.removed, []);
          const after = work();
          for (const tree of [before, after]) Reflect.deleteProperty(tree, log);
          assert.deepEqual(after, before);
          assert.deepEqual(readTree(outside), beyond);
        }
        const doctor = await run(['doctor', '--no-exec']);
        if (!name.startsWith('ws')) assert.ok(doctor.stdout.includes('"unsafe-path"'), 'doctor names it');
      });
    }
  });

  describe('does nothing at all and says `unsafe-path`', () => {
    const planted: [what: string, name: string, target: string, dry: boolean][] = [
      ['a link for the event log', log, 'events.jsonl', true],
      ['a link to nowhere for the event log', log, 'nowhere', true],
      ['a folder for the event log', log, 'a folder', true],
      ['a link for the folder of the event log', '.the-loop/logs', 'logs', true],
      ['a link for our directory', '.the-loop/loopkeeper', 'store', false],
      ['a link for the trash', '.the-loop/loopkeeper/trash', 'store/trash', false],
      ['a link for the journal', '.the-loop/loopkeeper/journal', 'store/journal', false],
      ['a link for failed plans', '.the-loop/loopkeeper/journal/failed', 'store', false],
      ['a link to nowhere for the trash', '.the-loop/loopkeeper/trash', 'nowhere', false],
    ];
    for (const [what, name, target, dry] of planted) {
      it(what, async () => {
        plant(name, target);
        const [before, beyond] = [work(), readTree(outside)];
        for (const more of dry ? [['--dry-run'], []] : [[]]) {
          const ran = await reset(...more);
          assert.equal(ran.code, 1, ran.stdout);
          assert.equal(errorOf(ran).kind, 'unsafe-path');
          assert.ok(errorOf(ran).message.includes(path.join(place.work, name)), errorOf(ran).message);
          assert.deepEqual(work(), before);
          assert.deepEqual(readTree(outside), beyond);
        }
      });
    }
  });

  it('does not write through a link for our .gitignore, wherever it leads', async () => {
    plant('.the-loop/loopkeeper/.gitignore', 'nowhere');
    const beyond = readTree(outside);
    assert.equal((await reset()).code, 0);
    assert.deepEqual(readTree(outside), beyond);
  });

  it('does not write through a link for the index, and says so', async () => {
    for (const target of ['index.json', 'nowhere']) {
      plant('.the-loop/portable/index.json', target);
      const beyond = readTree(outside);
      const ran = await reset();
      assert.deepEqual(replyOf(ran).warnings.map(({ kind }) => kind), ['unsafe-path']);
      assert.deepEqual(readTree(outside), beyond);
      assert.ok(fs.lstatSync(path.join(place.work, '.the-loop/portable/index.json')).isSymbolicLink());
      writeFiles(place.work, { [record]: portable(ref, { poll: poll('IC_1') }) });
    }
  });

  it('keeps to the workspace root also for the trash beside the checkouts', async () => {
    // The state is reached through a link by choice, which is fine; the planted one is not.
    plant('ws/loopkeeper', 'store');
    const other = fs.existsSync('/dev/shm') && fs.statSync('/dev/shm').dev !== fs.statSync(place.work).dev ? fs.mkdtempSync('/dev/shm/lk-') : undefined;
    try {
      if (other !== undefined) fs.cpSync(path.join(place.work, '.the-loop'), other, { recursive: true });
      if (other !== undefined) writeFiles(place.work, { '.the-loop/cli-config.yaml': `version: "0.5.0"\nstate:\n  root: ${other}\nrouting:\n  workspace:\n    root: ws\n` });
      const beyond = readTree(outside);
      const ran = await reset();
      assert.deepEqual(readTree(outside), beyond);
      if (other === undefined) return;
      assert.deepEqual(replyOf(ran).items[0]?.errors.map(({ kind }) => kind), ['unsafe-path'], ran.stdout);
      assert.ok(fs.existsSync(path.join(place.work, checkout, 'file')), 'what cannot be put in the trash is not removed');
    } finally {
      if (other !== undefined) fs.rmSync(other, { recursive: true });
    }
  });

  it('refuses a ref of 10,000 characters, alone or among others', async () => {
    const before = work();
    for (const long of [`github:octo/${'r'.repeat(10_000)}#1`, `github:octo/repo#${'1'.repeat(10_000)}`, 'x'.repeat(10_000)]) {
      const ran = await reset('--work-item', long);
      assert.equal(ran.code, 2);
      assert.equal(errorOf(ran).kind, 'invalid-ref');
      assert.ok(ran.stdout.length < 1000, 'it does not print it all');
    }
    assert.deepEqual(work(), before);
    writeFiles(place.work, { '.the-loop/local/github-octo-long-1.json': session(`github:octo/${'r'.repeat(10_000)}#1`) });
    const all = await run(['sessions', 'reset', '--all', '--dry-run']);
    assert.deepEqual(replyOf(all).warnings.map(({ kind }) => kind), ['unreadable-record']);
  });

  it('takes a record of 50 MB as unreadable, in little memory, and undo brings it back', async () => {
    const file = path.join(place.work, local);
    const text = `${session(ref).trimEnd().slice(0, -1)}, "filler": "${'x'.repeat(50 * 1024 * 1024)}"}\n`;
    fs.writeFileSync(file, text);
    const started = performance.now();
    const bounded = (args: string[]) => run(args, {}, ['--max-old-space-size=64', '--require', writeMemoryReport()]);
    const listed = await bounded(['sessions', 'list']);
    assert.equal((JSON.parse(listed.stdout) as { items: { ref: string; state: string }[] }).items.find((item) => item.ref === ref)?.state, 'unreadable');
    const ran = await bounded(['sessions', 'reset', '--work-item', ref]);
    const reply = replyOf(ran);
    assert.equal(ran.code, 0);
    assert.deepEqual(reply.warnings.map(({ kind }) => kind), ['unreadable-record']);
    assert.ok(reply.items[0]?.removed.includes('session'));
    assert.equal(fs.existsSync(file), false);
    const undone = await bounded(['undo', reply.plan]);
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.ok(fs.readFileSync(file, 'utf8') === text, 'byte for byte');
    assert.ok(performance.now() - started < 40_000, 'quickly');
    const megabytes = fs.readFileSync(path.join(place.top, 'memory'), 'utf8').trim().split('\n').map(Number);
    assert.equal(megabytes.length, 3);
    assert.ok(Math.max(...megabytes) < 300, `${megabytes.join(', ')} MB`);
  });

  /** A file to preload that notes the highest resident size, in MB, at the end of the program. */
  function writeMemoryReport(): string {
    const file = path.join(place.top, 'memory.cjs');
    fs.writeFileSync(file, `process.on('exit', () => require('node:fs').appendFileSync(${JSON.stringify(path.join(place.top, 'memory'))}, Math.round(process.resourceUsage().maxRSS / 1024) + '\\n'));\n`);
    return file;
  }

  it('is not held up by 100,000 strangers', async () => {
    const seed = path.join(place.work, '.the-loop/local/stranger-0.txt');
    fs.writeFileSync(seed, 'x');
    for (let i = 1; i < 100_000; i += 1) {
      // A file system bounds the names of one file.
      if (i % 20_000 === 0) fs.writeFileSync(path.join(place.work, `.the-loop/local/seed-${String(i)}.txt`), 'x');
      fs.linkSync(i < 20_000 ? seed : path.join(place.work, `.the-loop/local/seed-${String(i - (i % 20_000))}.txt`), path.join(place.work, `.the-loop/local/stranger-${String(i)}.txt`));
    }
    const started = performance.now();
    const ran = await run(['sessions', 'reset', '--all', '--include', 'graph'], {}, ['--max-old-space-size=128']);
    const seconds = (performance.now() - started) / 1000;
    assert.equal(ran.code, 0, ran.stdout.slice(0, 2000) + ran.stderr.slice(0, 2000));
    assert.deepEqual(replyOf(ran).items.map((item) => item.removed.length), [4, 1]);
    assert.ok(seconds < 20, `${String(seconds)} s`);
    assert.ok(fs.readdirSync(path.join(place.work, '.the-loop/local')).length > 100_000, 'strangers stay');
  });

  describe('is refused with nothing changed', () => {
    const own = '0f1c5e7a-0000-4000-8000-000000000015';
    const states: [what: string, text: string][] = [
      ['live', session(ref, { status: 'active', id: own })], ['paused', session(ref, { status: 'paused', id: own })], ['closed', session(ref, { status: 'closed', id: own })],
      ['of a pull request', session(ref, { status: 'closed', id: 'another', pullRequests: [endpoint('github:octo/repo#16', { status: 'active', id: own })] })],
    ];
    for (const [what, text] of states) {
      it(`when the caller's own session would be reset: ${what}`, async () => {
        writeFiles(place.work, { [local]: text });
        const before = work();
        for (const args of [['--work-item', ref], ['--all'], ['--work-item', 'github:octo/repo#16', '--work-item', ref, '--dry-run']]) {
          const ran = await run(['sessions', 'reset', ...args], { CLAUDE_CODE_SESSION_ID: own });
          assert.equal(ran.code, 2, ran.stdout);
          assert.equal(errorOf(ran).kind, 'own-session');
        }
        assert.deepEqual(work(), before);
        const other = await run(['sessions', 'reset', '--work-item', 'github:octo/repo#16'], { CLAUDE_CODE_SESSION_ID: own });
        assert.equal(other.code, 0, 'another item may be');
      });
    }

    it('when the plan is stale', async () => {
      const { digest } = replyOf(await reset('--dry-run'));
      fs.appendFileSync(path.join(place.work, log), '{"event":"poll.cycle"}\n');
      writeFiles(place.work, { [record]: portable(ref, { control: control(ref), poll: { ...poll('IC_1', 'IC_2'), lastPolledAt: '2026-08-05T10:00:00Z' } }) });
      assert.equal(replyOf(await reset('--dry-run')).digest, digest, 'a daemon that polls changes nothing that was decided on');
      writeFiles(place.work, { [local]: session(ref, { status: 'closed' }) });
      const before = work();
      const ran = await reset('--expect', digest);
      assert.equal(ran.code, 3);
      assert.equal(errorOf(ran).kind, 'stale-plan');
      assert.deepEqual(work(), before);
      assert.deepEqual(fs.readdirSync(path.join(place.work, '.the-loop/loopkeeper/journal')), []);
      assert.deepEqual(fs.readdirSync(path.join(place.work, '.the-loop/loopkeeper/plans')), []);
    });
  });

  it('says when the clock is set, and gives the event the real time', async () => {
    const started = new Date().toISOString();
    const ran = await run(['sessions', 'reset', '--work-item', ref], { LOOPKEEPER_NOW: '2031-02-03T04:05:06Z' });
    const reply = replyOf(ran);
    assert.deepEqual(reply.warnings.map(({ kind }) => kind), ['clock-overridden']);
    assert.match(reply.plan, /^20310203T040506Z-/);
    const event = JSON.parse(fs.readFileSync(path.join(place.work, log), 'utf8').trimEnd().split('\n').at(-1) ?? '') as { ts: string };
    assert.ok(event.ts >= started && event.ts <= new Date().toISOString(), event.ts);
    const wrong = await run(['sessions', 'reset', '--work-item', ref], { LOOPKEEPER_NOW: 'tomorrow' });
    assert.equal(wrong.code, 2);
  });
});
