import fs from 'node:fs';
import path from 'node:path';
import { copyFileDurably, flushDirectories, makeDirectories } from './durable';
import { codeOf, Failure } from './failure';
import { unsafePath } from './reader';

/** What tells a folder from another that took its place: device and inode. Empty when it is absent or no folder. */
export function identityOf(directory: string): string {
  const stat = fs.lstatSync(directory, { bigint: true, throwIfNoEntry: false });
  return stat?.isDirectory() ? `${stat.dev.toString()}:${stat.ino.toString()}` : '';
}

/** The device a path is on; of a missing path, that of the nearest folder above it. */
export function deviceOf(file: string): string {
  const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? stat.dev.toString() : deviceOf(path.dirname(file));
}

/**
 * Moves a folder whole by renaming it; onto another file system: copied, flushed, compared, then removed at the source.
 * Safe to repeat after a crash at any point. `identity` is that of the folder that was looked at.
 * Gives `already` when it is moved. Failures: `changed` (another folder is at either place), the file system's own.
 */
export function moveTree(from: string, to: string, identity: string): 'done' | 'already' {
  const source = fs.lstatSync(from, { throwIfNoEntry: false });
  const target = fs.lstatSync(to, { throwIfNoEntry: false });
  if (!source) {
    if (target?.isDirectory()) {
      fs.rmSync(`${to}.copied`, { force: true }); // the source was gone when we were stopped
      return 'already';
    }
    throw new Failure('changed', `${from} is gone.`, 'Run the command again to see what is there now.');
  }
  if (!source.isDirectory()) throw unsafePath(from, 'no folder');
  if (identityOf(from) !== identity) throw new Failure('changed', `${from} is another folder than the one that was looked at.`, 'Run the command again.');
  const partial = `${to}.partial`;
  if (target) {
    // Only a copy that was complete has this name; the source was being removed when we were stopped.
    if (!fs.existsSync(`${to}.copied`)) throw new Failure('changed', `${to} is there already.`, 'Move it away by hand, then try again.');
  } else {
    const touched = makeDirectories(path.dirname(to));
    try {
      fs.renameSync(from, to);
      flushDirectories([path.dirname(from), path.dirname(to), ...touched]);
      return 'done';
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw error;
    }
    fs.rmSync(partial, { recursive: true, force: true });
    copyTree(from, partial);
    const difference = firstDifference(from, partial);
    if (difference !== undefined) {
      fs.rmSync(partial, { recursive: true, force: true });
      throw new Failure('changed', `${difference} changed while it was being copied.`, 'Stop what writes there, then try again; nothing was removed.');
    }
    fs.writeFileSync(`${to}.copied`, '');
    fs.renameSync(partial, to);
    flushDirectories([path.dirname(to), ...touched]);
  }
  fs.rmSync(from, { recursive: true });
  flushDirectories([path.dirname(from)]);
  fs.rmSync(`${to}.copied`, { force: true });
  return 'done';
}

/** Copies a folder with its links, modes, owners (where allowed) and times. Sockets and pipes cannot be copied: Failure `io`. */
function copyTree(from: string, to: string): void {
  const stat = fs.lstatSync(from);
  if (stat.isSymbolicLink()) {
    fs.symlinkSync(fs.readlinkSync(from), to);
    try { fs.lchownSync(to, stat.uid, stat.gid); } catch (error) { if (codeOf(error) !== 'EPERM') throw error; }
    fs.lutimesSync(to, stat.atime, stat.mtime);
    return;
  }
  if (stat.isDirectory()) {
    fs.mkdirSync(to, { mode: 0o700 });
    for (const name of fs.readdirSync(from)) copyTree(path.join(from, name), path.join(to, name));
    try { fs.chownSync(to, stat.uid, stat.gid); } catch (error) { if (codeOf(error) !== 'EPERM') throw error; }
    flushDirectories([to]);
    fs.chmodSync(to, stat.mode & 0o7777);
    fs.utimesSync(to, stat.atime, stat.mtime);
    return;
  }
  if (!stat.isFile()) throw new Failure('io', `${from} is a socket, pipe or device and cannot be copied to the trash.`, 'Remove it by hand, then try again; nothing was removed.');
  copyFileDurably(from, to);
}

/** The first path at which two trees differ in names, kinds, modes, link targets or bytes; undefined when they are the same. */
export function firstDifference(a: string, b: string): string | undefined {
  const [statA, statB] = [fs.lstatSync(a), fs.lstatSync(b, { throwIfNoEntry: false })];
  if (!statB || (statA.mode !== statB.mode && !statA.isSymbolicLink())) return a;
  if (statA.isSymbolicLink()) return statB.isSymbolicLink() && fs.readlinkSync(a) === fs.readlinkSync(b) ? undefined : a;
  if (statA.isDirectory()) {
    const names = fs.readdirSync(a).sort();
    if (!statB.isDirectory() || names.join('\0') !== fs.readdirSync(b).sort().join('\0')) return a;
    for (const name of names) {
      const difference = firstDifference(path.join(a, name), path.join(b, name));
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return statA.size === statB.size && fs.readFileSync(a).equals(fs.readFileSync(b)) ? undefined : a;
}

/** Bytes and files below a path, links not followed. A path that goes meanwhile counts as nothing. */
export function measureTree(root: string): { bytes: number; files: number } {
  const stat = fs.lstatSync(root, { throwIfNoEntry: false });
  if (!stat) return { bytes: 0, files: 0 };
  if (!stat.isDirectory()) return { bytes: stat.size, files: 1 };
  const total = { bytes: 0, files: 0 };
  for (const name of fs.readdirSync(root)) {
    const part = measureTree(path.join(root, name));
    total.bytes += part.bytes;
    total.files += part.files;
  }
  return total;
}

/** Erases a folder or file for good. */
export function removeTree(root: string): void {
  fs.rmSync(root, { recursive: true, force: true });
}
