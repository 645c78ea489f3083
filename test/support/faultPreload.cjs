// Preloaded into the built program (node --require): counts every operation that changes the disk, and at the Nth one kills the process
// or fails it. LK_FAULT is JSON: {"mode": "count"|"kill"|"EIO"|"ENOSPC"|"short", "at": N, "report": FILE}. `report` gets the number of
// operations at exit (mode count). Operations on standard streams do not count.
const fs = require('node:fs');

const fault = JSON.parse(process.env.LK_FAULT ?? '{"mode":"count","at":0}');
let count = 0;
const original = { writeFileSync: fs.writeFileSync, writeSync: fs.writeSync };
// A short write takes half, and the next one to the same file fails, as on a full disk.
let fullFd;

function error(code) {
  const made = new Error(`${code}: injected`);
  made.code = code;
  made.errno = -5;
  return made;
}

/** Called before the operation: its number decides. Gives what to do with it. */
function visit() {
  count += 1;
  if (count !== fault.at) return 'pass';
  if (fault.mode === 'kill') process.kill(process.pid, 'SIGKILL');
  return fault.mode;
}

function wrap(name, changes) {
  const real = fs[name];
  fs[name] = function (...args) {
    if (!changes(args)) return real.apply(fs, args);
    const action = visit();
    if (action === 'EIO' || action === 'ENOSPC') throw error(action);
    return real.apply(fs, args);
  };
}

const opensForWriting = ([, flags]) => (typeof flags === 'number' ? (flags & 3) !== 0 || (flags & fs.constants.O_CREAT) !== 0 : typeof flags === 'string' && /[wax+]/.test(flags));
wrap('openSync', opensForWriting);
for (const name of ['fsyncSync', 'renameSync', 'linkSync', 'unlinkSync', 'mkdirSync', 'rmdirSync', 'writeFileSync', 'symlinkSync', 'ftruncateSync', 'truncateSync', 'chmodSync', 'fchmodSync', 'copyFileSync', 'appendFileSync', 'cpSync']) {
  wrap(name, () => true);
}
// rmSync of what is not there changes nothing.
wrap('rmSync', ([file]) => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined);

fs.writeSync = function (fd, buffer, offset, length, ...rest) {
  if (fd <= 2) return original.writeSync.call(fs, fd, buffer, offset, length, ...rest);
  if (fd === fullFd) { fullFd = undefined; throw error('ENOSPC'); }
  const action = visit();
  if (action === 'EIO' || action === 'ENOSPC') throw error(action);
  const size = typeof buffer === 'string' ? Buffer.byteLength(buffer) : length ?? buffer.length;
  if (action === 'short' && size > 1) {
    fullFd = fault.full ? fd : undefined;
    const bytes = typeof buffer === 'string' ? Buffer.from(buffer) : buffer;
    return original.writeSync.call(fs, fd, bytes, typeof buffer === 'string' ? 0 : offset ?? 0, Math.floor(size / 2));
  }
  return original.writeSync.call(fs, fd, buffer, offset, length, ...rest);
};

const realFsync = fs.fsync;
fs.fsync = function (fd, callback) {
  const action = visit();
  if (action === 'EIO' || action === 'ENOSPC') { setImmediate(callback, error(action)); return; }
  realFsync.call(fs, fd, callback);
};

process.on('exit', () => { if (fault.report) original.writeFileSync.call(fs, fault.report, String(count)); });
