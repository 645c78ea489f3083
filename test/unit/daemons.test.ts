import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resolveCliConfig } from '../../src/core/config/cliConfig';
import { lockHeld, runningDaemons } from '../../src/core/workItems/daemons';
import { memoryReader } from '../support/memoryReader';

describe('daemons', () => {
  const config = resolveCliConfig(undefined, null, { cwd: '/w', home: '' });
  const running = (text: string) => runningDaemons(memoryReader({ '/w/.the-loop/poll.pid': text }), config).map(({ name, pid }) => [name, pid]);

  it('run when the pid in their file is that of a process, of anybody', () => {
    assert.deepEqual(running('1\n'), [['poller', 1]]);
    assert.deepEqual(running(` ${String(process.pid)} `), [['poller', process.pid]]);
    const all = memoryReader({ '/w/.the-loop/poll.pid': '1', '/w/.the-loop/gh-webhook.pid': '1', '/w/.the-loop/local/service.pid': '1' });
    assert.deepEqual(runningDaemons(all, config).map(({ name }) => name), ['receiver', 'poller', 'service']);
  });

  it('do not run by a broken file', () => {
    for (const text of ['', '0', '-1', 'not-a-pid', '99999999999999999999', '2147483647', '4294967297', '1.5', '1 2', '0x1', '1e0', '１', 'link!', 'denied!', 'directory!', `1${' '.repeat(9000)}`]) assert.deepEqual(running(text), [], JSON.stringify(text.slice(0, 20)));
  });

  it('are looked for where doctor is told', () => {
    const moved = { pidfiles: { ...config.pidfiles, receiverInForce: '/elsewhere.pid' } };
    const reader = memoryReader({ '/elsewhere.pid': '1' });
    assert.deepEqual(runningDaemons(reader, moved), []);
    assert.deepEqual(runningDaemons(reader, moved, true).map(({ pidfile }) => pidfile), ['/elsewhere.pid']);
  });

  describe('locks', () => {
    let dir: string;
    beforeEach(() => { dir = fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-locks-')); });
    afterEach(() => { fs.rmSync(dir, { recursive: true }); });

    it('are found in the system’s table by device and inode', () => {
      const pidfile = path.join(dir, 'poll.pid');
      fs.writeFileSync(pidfile, '1\n');
      const { dev, ino } = fs.statSync(pidfile);
      // Small device numbers pack as major * 256 + minor.
      const where = `${Math.floor(dev / 256).toString(16).padStart(2, '0')}:${(dev % 256).toString(16).padStart(2, '0')}:${String(ino)}`;
      const table = (line: string) => { fs.writeFileSync(path.join(dir, 'locks'), `1: POSIX  ADVISORY  WRITE 700 00:1a:1 0 EOF\n${line}\n`); return lockHeld(pidfile, path.join(dir, 'locks')); };
      assert.ok(dev < 65536 * 16, 'the test packs small device numbers only');
      assert.equal(table(`2: FLOCK  ADVISORY  WRITE 8337 ${where} 0 EOF`), true);
      assert.equal(table(`2: POSIX  ADVISORY  WRITE 8337 ${where} 0 EOF`), false, 'another kind of lock is not the daemon’s');
      assert.equal(table(`2: -> FLOCK  ADVISORY  WRITE 8337 ${where} 0 EOF`), false, 'waiting is not holding');
      assert.equal(table(`2: FLOCK  ADVISORY  WRITE 8337 ${where}0 0 EOF`), false);
      assert.equal(lockHeld(pidfile, path.join(dir, 'absent')), 'unknown');
      assert.equal(lockHeld(path.join(dir, 'no.pid'), path.join(dir, 'locks')), false);
    });
  });
});
