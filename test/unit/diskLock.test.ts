import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import type { Failure } from '../../src/core/disk/failure';
import { breakLock, holderState, lockHolder, sweepLockFiles, takeLock, type LockHolder } from '../../src/core/disk/lock';
import { pidSpace, startTimeOf } from '../../src/core/disk/processes';
import { makePlace, runCli, type Place } from '../support/program';

describe('the lock', () => {
  let place: Place;
  let file: string;
  beforeEach(() => { place = makePlace(); file = path.join(place.work, 'lock'); });
  afterEach(() => { place.remove(); });

  const since = '2026-08-04T09:00:00.000Z';
  const take = (nonce: string, waitMs = 0, signal?: AbortSignal) => takeLock({ file, verb: 'test', since, nonce, waitMs, ...(signal ? { signal } : {}) });
  /** A process that has ended for certain. */
  const ended = (): number => spawnSync('true').pid;
  const holder = (more: Partial<LockHolder> = {}): LockHolder => ({ pid: ended(), startTime: '1', ...pidSpace(), verb: 'reset', since, nonce: 'dead', ...more });
  const put = (value: unknown, at = file): void => { fs.writeFileSync(at, typeof value === 'string' ? value : JSON.stringify(value)); };
  const left = (): string[] => fs.readdirSync(place.work);

  it('is there whole while it is held, and gone after', async () => {
    const lock = await take('one');
    const held = lockHolder(file);
    assert.deepEqual([held?.pid, held?.startTime, held?.verb, held?.nonce], [process.pid, startTimeOf(process.pid), 'test', 'one']);
    assert.deepEqual(left(), ['lock']);
    lock.release();
    assert.deepEqual(left(), []);
    assert.equal(lockHolder(file), undefined);
  });

  it('is never taken from a living holder, who is named when the wait is over', async () => {
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const pid = other.pid ?? 0;
      put(holder({ pid, startTime: startTimeOf(pid) ?? '', nonce: 'alive' }));
      await assert.rejects(take('mine', 80), (error: Failure) => error.kind === 'locked' && error.exitCode === 2 && error.message.includes(`pid ${String(pid)}`) && error.message.includes('reset') && error.message.includes(since));
      assert.equal(lockHolder(file)?.nonce, 'alive');
      assert.deepEqual(left(), ['lock'], 'nothing of the attempt is left');
      assert.throws(() => breakLock(file), (error: Failure) => error.kind === 'locked');
    } finally { other.kill('SIGKILL'); }
  });

  it('of a dead holder is taken over: ended, its pid given to another, of another start of the machine', async () => {
    for (const dead of [holder(), holder({ pid: process.pid, startTime: 'another time' }), holder({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '', boot: 'before' })]) {
      put(dead);
      assert.equal(holderState(dead), 'dead');
      const lock = await take('mine');
      assert.equal(lockHolder(file)?.nonce, 'mine');
      lock.release();
      assert.deepEqual(left(), []);
    }
  });

  it('is not taken from another user whose processes are hidden', () => {
    // A /proc that hides them, in a mount space of its own; needs root.
    fs.chmodSync(place.top, 0o755);
    put(holder({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '', nonce: 'alive' }));
    fs.chmodSync(file, 0o644);
    const script = path.join(place.top, 'ask.cjs');
    buildSync({ stdin: { contents: `import { holderState, lockHolder } from './src/core/disk/lock'; const held = lockHolder(${JSON.stringify(file)}); console.log(held && holderState(held));`, resolveDir: process.cwd(), loader: 'ts' }, outfile: script, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error' });
    const ran = spawnSync('unshare', ['-m', 'sh', '-c', `mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups ${process.execPath} ${script}`], { encoding: 'utf8' });
    if (ran.status !== 0) { console.log('      not available: a /proc that hides processes'); return; }
    assert.equal(ran.stdout.trim(), 'alive');
  });

  it('of another host stays, and is named with what to do; only doctor --unlock takes it away', async () => {
    put(holder({ host: 'elsewhere abc', nonce: 'far' }));
    await assert.rejects(take('mine', 30), (error: Failure) => error.kind === 'locked' && error.message.includes('on elsewhere') && error.hint.includes('doctor --unlock'));
    assert.equal(lockHolder(file)?.nonce, 'far');
    assert.equal(breakLock(file), true);
    assert.equal(breakLock(file), false);
  });

  it('that cannot be read is never taken for nobody\'s', async () => {
    for (const text of ['', '{', '{"pid": 1}', '[]']) {
      put(text);
      await assert.rejects(take('mine', 20), (error: Failure) => error.kind === 'lock-unreadable' && error.hint.includes('doctor --unlock'));
      assert.equal(fs.readFileSync(file, 'utf8'), text);
    }
    assert.equal(breakLock(file), true);
  });

  it('is taken over by one of two recoverers: the other waits for it no longer than for any holder, and names it', async () => {
    put(holder());
    const takeover = `${file}.takeover.dead.0`;
    put(holder({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '', nonce: 'first', verb: 'undo' }), takeover);
    await assert.rejects(take('second', 60), (error: Failure) => error.kind === 'locked' && error.message.includes(`undo, pid ${String(process.pid)}`));
    assert.deepEqual([lockHolder(file)?.nonce, lockHolder(takeover)?.nonce], ['dead', 'first'], 'neither is touched');
    const waiting = take('second', 10_000);
    fs.rmSync(file);
    fs.rmSync(takeover);
    (await waiting).release();
    assert.deepEqual(left(), []);
  });

  it('is taken over also where a recoverer died with the right to it', async () => {
    put(holder());
    put(holder({ nonce: 'gone' }), `${file}.takeover.dead.0`);
    put(holder({ nonce: 'gone too' }), `${file}.takeover.dead.1`);
    const lock = await take('mine');
    assert.equal(lockHolder(file)?.nonce, 'mine');
    lock.release();
    assert.deepEqual(left(), [], 'the rights of the dead are gone with it');
  });

  it('goes to one after the other of many that wait, also when the holder before them is dead', async () => {
    put(holder());
    let inside = 0;
    let most = 0;
    await Promise.all(Array.from({ length: 12 }, async (_, i) => {
      const lock = await take(`n${String(i)}`, 20_000);
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside -= 1;
      lock.release();
    }));
    assert.equal(most, 1);
    assert.deepEqual(left(), []);
  });

  it('of a dead holder goes to one of many programs that find it at once, over and over', async function () {
    this.timeout(60_000);
    const [programs, rounds] = [5, 20];
    const driver = path.join(place.top, 'contender.cjs');
    // Who has the lock proves to be alone, and leaves a dead holder's lock behind, as a killed program would.
    buildSync({
      stdin: {
        contents: `import fs from 'node:fs'; import { takeLock } from './src/core/disk/lock';
          const [file, dead, name, rounds] = process.argv.slice(2);
          (async () => { for (let i = 0; i < Number(rounds); i++) {
            await takeLock({ file, verb: 'test', since: '', nonce: name + '-' + i, waitMs: 50000 });
            fs.writeFileSync(file + 'ed', '', { flag: 'wx' });
            await new Promise((resolve) => setTimeout(resolve, 1));
            fs.unlinkSync(file + 'ed');
            fs.writeFileSync(file + '-next-' + name, JSON.stringify({ ...JSON.parse(dead), nonce: 'dead-' + name + '-' + i }));
            fs.renameSync(file + '-next-' + name, file);
          } })().catch((error) => { console.error(error); process.exit(1); });`,
        resolveDir: process.cwd(), loader: 'ts',
      }, outfile: driver, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error',
    });
    const ran = await Promise.all(Array.from({ length: programs }, (_, i) => runCli([file, JSON.stringify(holder()), `p${String(i)}`, String(rounds)], { cwd: place.work, program: driver })));
    assert.deepEqual(ran.map(({ code, stderr }) => [code, stderr]), Array.from({ length: programs }, () => [0, '']));
    const lock = await take('last');
    sweepLockFiles(file);
    lock.release();
    assert.deepEqual(left(), []);
  });

  it('is not released by who has lost it', async () => {
    const lock = await take('mine');
    put(holder({ nonce: 'other' }));
    lock.release();
    assert.equal(lockHolder(file)?.nonce, 'other');
  });

  it('is waited for no longer than the signal says', async () => {
    put(holder({ host: 'elsewhere' }));
    await assert.rejects(take('mine', 60_000, AbortSignal.timeout(30)), (error: Failure) => error.kind === 'aborted');
  });

  it('is swept of what the dead left beside it, and of nothing that lives or is not its own', () => {
    put(holder({ nonce: 'x' }), `${file}.123.x`);
    put('', `${file}.124.y`);
    put(holder({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '' }), `${file}.takeover.z.0`);
    put('mine', path.join(place.work, 'locksmith'));
    sweepLockFiles(file);
    assert.deepEqual(left().sort(), ['lock.takeover.z.0', 'locksmith']);
  });
});
