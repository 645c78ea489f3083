import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { copyFileDurably, flushDirectories, keepCopy, makeDirectories, moveFile, openTemporary, writeAll, writeFileDurably } from '../../src/core/disk/durable';
import type { Failure } from '../../src/core/disk/failure';
import { firstDifference, identityOf, measureTree, moveTree } from '../../src/core/disk/tree';
import { makePlace, type Place } from '../support/program';

/** A folder on another file system than that of temporary files; undefined where the machine has none. */
function elsewhere(): string | undefined {
  const shared = '/dev/shm';
  if (!fs.existsSync(shared) || fs.statSync(shared).dev === fs.statSync(os.tmpdir()).dev) return undefined;
  return fs.mkdtempSync(path.join(shared, 'lk-'));
}

/** Runs `action` with a function of fs in place of its own. */
function withFs<K extends 'writeSync' | 'renameSync' | 'linkSync'>(name: K, replacement: (original: (typeof fs)[K]) => unknown, action: () => void): void {
  const original = fs[name];
  Object.assign(fs, { [name]: replacement(original) });
  try { action(); } finally { Object.assign(fs, { [name]: original }); }
}

describe('durable writes', () => {
  let place: Place;
  let far: string | undefined;
  beforeEach(() => { place = makePlace(); far = elsewhere(); });
  afterEach(() => { place.remove(); if (far !== undefined) fs.rmSync(far, { recursive: true, force: true }); });
  const at = (...names: string[]): string => path.join(place.work, ...names);

  it('go on after a short write, and end when the disk takes nothing more', () => {
    const fd = fs.openSync(at('file'), 'w');
    withFs('writeSync', (original) => (target: number, bytes: Uint8Array, offset: number, length: number) => original(target, bytes, offset, Math.min(3, length)), () => { writeAll(fd, Buffer.from('0123456789')); });
    assert.equal(fs.readFileSync(at('file'), 'utf8'), '0123456789');
    withFs('writeSync', () => () => 0, () => { assert.throws(() => { writeAll(fd, Buffer.from('x')); }, (error: Failure) => error.kind === 'io'); });
    fs.closeSync(fd);
  });

  it('replace a file whole and leave no temporary file, also when they fail', async () => {
    fs.writeFileSync(at('file'), 'old');
    await writeFileDurably(at('file'), 'new');
    assert.equal(fs.readFileSync(at('file'), 'utf8'), 'new');
    fs.mkdirSync(at('folder', 'full'), { recursive: true });
    await assert.rejects(writeFileDurably(at('folder'), 'x'));
    fs.writeFileSync(at('.lk-file.tmp'), 'of a crash');
    await writeFileDurably(at('file'), 'newer');
    assert.equal(fs.readFileSync(at('file'), 'utf8'), 'newer');
    assert.deepEqual(fs.readdirSync(place.work).sort(), ['file', 'folder']);
  });

  it('keep mode and owner of the file that they stand for', () => {
    fs.writeFileSync(at('file'), 'old');
    fs.chmodSync(at('file'), 0o666); // more than any umask leaves
    if (process.getuid?.() === 0) fs.chownSync(at('file'), 65_534, 65_534);
    const like = fs.lstatSync(at('file'));
    fs.closeSync(openTemporary(at('tmp'), Buffer.from('new'), like, 0o600));
    const made = fs.lstatSync(at('tmp'));
    assert.deepEqual([made.mode, made.uid, made.gid], [like.mode, like.uid, like.gid]);
  });

  it('leave nothing of a temporary file that could not be filled', () => {
    withFs('writeSync', () => () => { throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }); }, () => { assert.throws(() => openTemporary(at('tmp'), Buffer.from('x'), undefined, 0o600)); });
    assert.deepEqual(fs.readdirSync(place.work), []);
  });

  it('say which folders were made under, and flush what is there', () => {
    assert.deepEqual(makeDirectories(at('a', 'b')).sort(), [place.work, at('a')].sort());
    assert.deepEqual(makeDirectories(at('a', 'b')), []);
    flushDirectories([at('a'), at('gone')]);
  });

  it('keep a second name for what is overwritten; a copy where links cannot be', () => {
    fs.writeFileSync(at('file'), 'one', { mode: 0o640 });
    keepCopy(at('file'), at('copy'));
    assert.equal(fs.statSync(at('copy')).ino, fs.statSync(at('file')).ino);
    fs.rmSync(at('copy'));
    fs.writeFileSync(at('copy'), 'of a crash');
    keepCopy(at('file'), at('copy'));
    assert.equal(fs.readFileSync(at('copy'), 'utf8'), 'one');
    withFs('linkSync', () => () => { throw Object.assign(new Error('EPERM'), { code: 'EPERM' }); }, () => { keepCopy(at('file'), at('second')); });
    assert.deepEqual([fs.readFileSync(at('second'), 'utf8'), fs.statSync(at('second')).mode & 0o777], ['one', 0o640]);
    assert.notEqual(fs.statSync(at('second')).ino, fs.statSync(at('file')).ino);
  });

  it('move a file onto another file system with mode and times, and leave no partial copy', function () {
    if (far === undefined) { console.log('      not available: a second file system'); return; }
    fs.writeFileSync(at('file'), 'bytes', { mode: 0o640 });
    fs.utimesSync(at('file'), 1_000, 2_000);
    moveFile(at('file'), path.join(far, 'file'));
    assert.deepEqual(fs.readdirSync(far), ['file']);
    const moved = fs.statSync(path.join(far, 'file'));
    assert.deepEqual([moved.mode & 0o777, moved.mtimeMs, fs.existsSync(at('file'))], [0o640, 2_000_000, false]);
    moveFile(path.join(far, 'file'), at('back'));
    copyFileDurably(at('back'), at('twice'));
    assert.equal(fs.readFileSync(at('twice'), 'utf8'), 'bytes');
  });

  describe('of whole folders', () => {
    const fill = (root: string): void => {
      fs.mkdirSync(path.join(root, 'inner', 'empty'), { recursive: true });
      fs.writeFileSync(path.join(root, 'inner', 'run.sh'), '#!/bin/sh\n', { mode: 0o750 });
      fs.writeFileSync(path.join(root, 'file'), Buffer.from([0, 255, 10]));
      fs.symlinkSync('file', path.join(root, 'link'));
      fs.symlinkSync('/nowhere', path.join(root, 'dangling'));
    };

    it('rename, and say already when it was done before', () => {
      fill(at('from'));
      const identity = identityOf(at('from'));
      assert.equal(moveTree(at('from'), at('trash', 'to'), identity), 'done');
      assert.equal(identityOf(at('trash', 'to')), identity, 'the very folder');
      assert.equal(moveTree(at('from'), at('trash', 'to'), identity), 'already');
    });

    it('leave another folder at either place alone', () => {
      fill(at('from'));
      fill(at('to'));
      assert.throws(() => moveTree(at('from'), at('to'), identityOf(at('from'))), (error: Failure) => error.kind === 'changed');
      assert.throws(() => moveTree(at('from'), at('new'), 'another'), (error: Failure) => error.kind === 'changed');
      assert.throws(() => moveTree(at('none'), at('new'), 'any'), (error: Failure) => error.kind === 'changed');
      fs.symlinkSync(at('from'), at('link'));
      assert.throws(() => moveTree(at('link'), at('new'), 'any'), (error: Failure) => error.kind === 'unsafe-path');
      assert.equal(firstDifference(at('from'), at('to')), undefined);
    });

    it('copy onto another file system, from every point at which a crash can leave it', () => {
      if (far === undefined) { console.log('      not available: a second file system'); return; }
      const crashes: [string, (to: string) => void][] = [
        ['before', () => undefined],
        ['half a copy', (to) => { fs.mkdirSync(`${to}.partial`); fs.writeFileSync(path.join(`${to}.partial`, 'file'), 'torn'); }],
        ['a whole copy, not yet named', (to) => { fs.cpSync(at('from'), `${to}.partial`, { recursive: true }); fs.writeFileSync(`${to}.copied`, ''); }],
        ['the source half removed', (to) => { fs.cpSync(at('from'), to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }); fs.writeFileSync(`${to}.copied`, ''); fs.rmSync(at('from', 'file')); }],
        ['the source removed', (to) => { fs.renameSync(at('from'), at('aside')); fs.cpSync(at('aside'), to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }); fs.writeFileSync(`${to}.copied`, ''); }],
      ];
      for (const [name, crash] of crashes) {
        for (const folder of ['from', 'as-it-was', 'aside']) fs.rmSync(at(folder), { recursive: true, force: true });
        fill(at('from'));
        fill(at('as-it-was'));
        const trash = path.join(far, name);
        fs.mkdirSync(trash);
        const identity = identityOf(at('from'));
        crash(path.join(trash, 'to'));
        moveTree(at('from'), path.join(trash, 'to'), identity);
        assert.equal(firstDifference(at('as-it-was'), path.join(trash, 'to')), undefined, name);
        assert.ok(!fs.existsSync(at('from')), name);
        assert.deepEqual(fs.readdirSync(trash), ['to'], `${name}: nothing else is left`);
      }
    });

    it('refuse what cannot be copied, and remove nothing', () => {
      if (far === undefined) { console.log('      not available: a second file system'); return; }
      const other = far;
      fill(at('from'));
      fs.mkdirSync(at('from', 'z'));
      // A pipe stands for all that is no file: it is made without a server.
      assert.equal(spawnSync('mkfifo', [at('from', 'z', 'pipe')]).status, 0);
      assert.throws(() => moveTree(at('from'), path.join(other, 'to'), identityOf(at('from'))), (error: Failure) => error.kind === 'io' && error.message.includes('pipe'));
      assert.ok(fs.existsSync(at('from', 'file')) && !fs.existsSync(path.join(other, 'to')));
      assert.equal(moveTree(at('from'), at('near'), identityOf(at('from'))), 'done', 'renaming takes it along');
    });

    it('see every difference that matters, and measure', () => {
      const differences: ((root: string) => void)[] = [
        (root) => { fs.writeFileSync(path.join(root, 'file'), Buffer.from([0, 255, 11])); }, (root) => { fs.chmodSync(path.join(root, 'inner/run.sh'), 0o640); },
        (root) => { fs.rmSync(path.join(root, 'link')); fs.symlinkSync('other', path.join(root, 'link')); }, (root) => { fs.rmSync(path.join(root, 'inner/empty'), { recursive: true }); },
        (root) => { fs.writeFileSync(path.join(root, 'more'), ''); }, (root) => { fs.rmSync(path.join(root, 'file')); fs.mkdirSync(path.join(root, 'file')); },
      ];
      for (const differ of differences) {
        for (const folder of ['a', 'b']) { fs.rmSync(at(folder), { recursive: true, force: true }); fill(at(folder)); }
        assert.equal(firstDifference(at('a'), at('b')), undefined);
        differ(at('b'));
        assert.notEqual(firstDifference(at('a'), at('b')), undefined, differ.toString());
      }
      assert.deepEqual(measureTree(at('a')), { bytes: 10 + 3 + 'file'.length + '/nowhere'.length, files: 4 });
      assert.deepEqual(measureTree(at('none')), { bytes: 0, files: 0 });
    });
  });
});
