import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf, Failure } from './failure';

const fsync = promisify(fs.fsync);

/** Writes every byte: a short write is continued, and one of nothing at all is an error rather than an endless loop. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    const written = fs.writeSync(fd, bytes, done, bytes.length - done);
    if (written <= 0) throw new Failure('io', 'The disk took no more bytes.', 'Free some space, then try again.');
    done += written;
  }
}

/** Flushes open files together (the disk does many at once far faster than one after the other), then closes them. */
export async function flushAndClose(fds: readonly number[]): Promise<PromiseSettledResult<void>[]> {
  const results = await Promise.allSettled(fds.map((fd) => fsync(fd)));
  for (const fd of fds) fs.closeSync(fd);
  return results;
}

/** Makes renames in these directories durable. A file system that cannot flush a directory (some network ones) is left at that. */
export function flushDirectories(directories: Iterable<string>): void {
  for (const directory of new Set(directories)) {
    let fd: number;
    try {
      fd = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') continue; // it went with a later move
      throw error;
    }
    try {
      fs.fsyncSync(fd);
    } catch (error) {
      if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EROFS'].includes(codeOf(error) ?? '')) throw error;
    } finally {
      fs.closeSync(fd);
    }
  }
}

/** Opens a new temporary file beside `target` with these bytes, not yet flushed; owner and mode as `like`, else `mode`. */
export function openTemporary(temporary: string, bytes: Uint8Array, like: fs.Stats | undefined, mode: number): number {
  fs.rmSync(temporary, { force: true }); // one left by a crash of the same plan
  const fd = fs.openSync(temporary, 'wx', like ? like.mode & 0o7777 : mode);
  try {
    if (like) {
      fs.fchmodSync(fd, like.mode & 0o7777); // the umask took its part at opening
      // Rewriting somebody's file as root must not take it from them.
      if (like.uid !== process.getuid?.() || like.gid !== process.getgid?.()) {
        try { fs.fchownSync(fd, like.uid, like.gid); } catch (error) { if (codeOf(error) !== 'EPERM') throw error; }
      }
    }
    writeAll(fd, bytes);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Writes a file whole: temporary file beside it, flushed, renamed over, directory flushed. Readers see the old or the new bytes.
 * `like`: the file that is rewritten, whose owner and mode it keeps. Callers hold the lock, so one fixed name for the
 * temporary file will do, and one that a crash left is replaced. Errors: those of the file system, nothing left behind.
 */
export async function writeFileDurably(file: string, bytes: string | Uint8Array, options: { mode?: number; like?: fs.Stats | undefined; temporary?: string } = {}): Promise<void> {
  const temporary = options.temporary ?? path.join(path.dirname(file), `.lk-${path.basename(file)}.tmp`);
  const fd = openTemporary(temporary, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, options.like, options.mode ?? 0o600);
  try {
    const [flushed] = await flushAndClose([fd]);
    if (flushed?.status === 'rejected') throw flushed.reason;
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  flushDirectories([path.dirname(file)]);
}

/** Creates missing folders down to `directory` and returns the parents of those made, for flushing. */
export function makeDirectories(directory: string, mode = 0o700): string[] {
  const first = fs.mkdirSync(directory, { recursive: true, mode });
  if (first === undefined) return [];
  const touched: string[] = [];
  for (let made = directory; ; made = path.dirname(made)) {
    touched.push(path.dirname(made));
    if (made === first || made === path.dirname(made)) return touched;
  }
}

/** Copies a file, flushes and compares it. The copy keeps mode and times. */
export function copyFileDurably(from: string, to: string): void {
  const stat = fs.statSync(from);
  const bytes = fs.readFileSync(from);
  fs.rmSync(to, { force: true });
  const fd = openTemporary(to, bytes, stat, stat.mode);
  try { fs.futimesSync(fd, stat.atime, stat.mtime); fs.fsyncSync(fd); } finally { fs.closeSync(fd); }
  if (!fs.readFileSync(to).equals(bytes)) {
    fs.rmSync(to, { force: true });
    throw new Failure('io', `The copy ${to} differs from ${from}.`, 'Check the disk; nothing was removed.');
  }
}

/** Renames a file; onto another file system: copies, flushes, compares, then unlinks. */
export function moveFile(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    const partial = `${to}.partial`;
    copyFileDurably(from, partial);
    fs.renameSync(partial, to);
    flushDirectories([path.dirname(to)]);
    fs.unlinkSync(from);
  }
}

/** A second name for a file's bytes, so that renaming over the first name loses nothing; a copy where links cannot be. */
export function keepCopy(file: string, copy: string): void {
  try {
    fs.linkSync(file, copy);
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EEXIST') { fs.unlinkSync(copy); keepCopy(file, copy); return; }
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK'].includes(code)) throw error;
    copyFileDurably(file, `${copy}.partial`);
    fs.renameSync(`${copy}.partial`, copy);
  }
}
