import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Failure } from '../../src/core/disk/failure';
import { assertInside, diskReader, isInside } from '../../src/core/disk/reader';
import { makePlace, type Place } from '../support/program';

describe('the reader', () => {
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });
  const at = (...names: string[]): string => path.join(place.work, ...names);
  const kindOfError = (action: () => unknown): string => { try { action(); } catch (error) { return (error as Failure).kind; } return 'none'; };

  it('tells what stands at a path without following it', () => {
    fs.writeFileSync(at('file'), 'x');
    fs.mkdirSync(at('folder'));
    fs.symlinkSync(at('file'), at('link'));
    spawnSync('mkfifo', [at('pipe')]);
    assert.deepEqual(['file', 'folder', 'link', 'pipe', 'none', 'file/below'].map((name) => { try { return diskReader.kind(at(name)); } catch { return 'error'; } }).slice(0, 5), ['file', 'directory', 'link', 'other', 'absent']);
  });

  it('reads regular files only: a link, a folder and a pipe are unsafe, nothing there is undefined', () => {
    fs.writeFileSync(at('file'), 'é');
    fs.mkdirSync(at('folder'));
    fs.symlinkSync(at('file'), at('link'));
    fs.symlinkSync(at('nowhere'), at('dangling'));
    spawnSync('mkfifo', [at('pipe')]);
    assert.equal(diskReader.text(at('file')), 'é');
    assert.equal(diskReader.text(at('none')), undefined);
    assert.equal(diskReader.text(at('file', 'below')), undefined);
    for (const name of ['folder', 'link', 'dangling', 'pipe']) assert.equal(kindOfError(() => diskReader.text(at(name))), 'unsafe-path', name);
  });

  it('takes nothing out of a pipe, also one that somebody writes to', () => {
    spawnSync('mkfifo', [at('pipe')]);
    // Open for both, a pipe has a writer and can be filled without a second program.
    const fd = fs.openSync(at('pipe'), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    try {
      for (const content of ['', '{"a": 1}']) {
        fs.writeSync(fd, content);
        assert.equal(kindOfError(() => diskReader.text(at('pipe'))), 'unsafe-path', JSON.stringify(content));
      }
      const bytes = Buffer.alloc(20);
      assert.equal(fs.readSync(fd, bytes, 0, 20, null), 8, 'what was in it is in it still');
    } finally { fs.closeSync(fd); }
  });

  it('keeps to its limit, whatever the size, and reads what is just as large', () => {
    for (const size of [1, 5_000, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 200_000]) {
      fs.writeFileSync(at('file'), 'x'.repeat(size));
      assert.equal(diskReader.text(at('file'), size)?.length, size);
      assert.equal(diskReader.bytes(at('file'))?.length, size);
      assert.equal(kindOfError(() => diskReader.text(at('file'), size - 1)), 'too-large', String(size));
    }
    fs.writeFileSync(at('file'), '');
    assert.equal(diskReader.text(at('file'), 0), '');
  });

  it('refuses what is no UTF-8 as text, and gives it as bytes that are the caller\'s own', () => {
    fs.writeFileSync(at('bad'), Buffer.from([0x7b, 0xff]));
    fs.writeFileSync(at('other'), 'zz');
    assert.equal(kindOfError(() => diskReader.text(at('bad'))), 'not-utf8');
    const bytes = diskReader.bytes(at('bad'));
    diskReader.bytes(at('other'));
    assert.deepEqual(bytes, Buffer.from([0x7b, 0xff]));
  });

  it('lists names in order; nothing there is empty, a file is unsafe', () => {
    for (const name of ['b', 'a', 'C']) fs.writeFileSync(at(name), '');
    assert.deepEqual(diskReader.list(place.work), ['C', 'a', 'b']);
    assert.deepEqual(diskReader.list(at('none')), []);
    assert.equal(kindOfError(() => diskReader.list(at('a'))), 'unsafe-path');
  });

  it('knows what is inside a folder by its text', () => {
    for (const [root, file, inside] of [['/a', '/a', true], ['/a', '/a/b', true], ['/a', '/ab', false], ['/a', '/a/../b', false], ['/a', '/a/..b', true], ['/', '/x', true]] as const) assert.equal(isInside(root, file), inside, `${root} ${file}`);
  });

  it('refuses a path that leads out of its root, by text or by a link, and takes a root that is a link', () => {
    fs.mkdirSync(at('root', 'inner'), { recursive: true });
    fs.mkdirSync(at('outside'));
    fs.symlinkSync(at('outside'), at('root', 'out'));
    fs.symlinkSync(at('root', 'inner'), at('root', 'in'));
    fs.symlinkSync(at('root'), at('alias'));
    const check = (root: string, file: string): string => kindOfError(() => { assertInside(root, file); });
    assert.equal(check(at('root'), at('root', 'f')), 'none');
    assert.equal(check(at('root'), at('root', 'new', 'deep', 'f')), 'none');
    assert.equal(check(at('root'), at('root', 'in', 'f')), 'none');
    assert.equal(check(at('alias'), at('alias', 'inner', 'f')), 'none');
    assert.equal(check(at('root'), at('outside', 'f')), 'unsafe-path');
    assert.equal(check(at('root'), at('root', 'out', 'f')), 'unsafe-path');
    assert.equal(check(at('root'), at('root', 'out', 'new', 'f')), 'unsafe-path');
    assert.equal(check(at('root'), at('root', '..', 'f')), 'unsafe-path');
  });
});
