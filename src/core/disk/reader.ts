import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import { codeOf, Failure, messageOf } from './failure';

export type FileKind = 'file' | 'directory' | 'link' | 'other' | 'absent';

/** What planners see of the disk: reading only, so that a plan can also be made on a state that is not there yet. */
export interface Reader {
  /** By lstat: a symbolic link is a `link`, wherever it leads. */
  kind(file: string): FileKind;
  /**
   * The text of a regular file, or undefined when it is absent.
   * Failures: `unsafe-path` (a link or no regular file), `too-large` (over `limit` bytes), `not-utf8`, `io`.
   */
  text(file: string, limit?: number): string | undefined;
  /** As `text`, the raw bytes. */
  bytes(file: string, limit?: number): Buffer | undefined;
  /** Sorted names; empty when the directory is absent. Failures: `unsafe-path` (no directory), `io`. */
  list(directory: string): string[];
}

export function unsafePath(file: string, what: string): Failure {
  return new Failure('unsafe-path', `${file} is ${what}, where a plain file or folder is expected.`,
    'Look at it and move it away by hand; Loopkeeper does not follow it.');
}

function ioFailure(file: string, error: unknown): Failure {
  return new Failure('io', `${file} cannot be read: ${messageOf(error)}.`, 'Check the permissions and the disk, then try again.');
}

function tooLarge(file: string, limit: number): Failure {
  return new Failure('too-large', `${file} is larger than ${String(limit)} bytes.`, 'Look at it: no file of this kind grows so large.');
}

const kinds: Record<Exclude<FileKind, 'file' | 'absent'>, string> = { directory: 'a folder', link: 'a symbolic link', other: 'no regular file' };

function kindOf(file: string): FileKind {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return 'absent';
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

// Most state files are small: one buffer for all of them saves an fstat and an allocation each, which list of 10,000 items feels.
const scratch = Buffer.allocUnsafe(64 * 1024);

function readRegular<T>(file: string, limit: number, take: (bytes: Buffer) => T): T | undefined {
  let fd: number;
  try {
    // O_NONBLOCK: a pipe planted at the path must not hang the reader.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw unsafePath(file, kinds.link);
    if (code === 'ENXIO') throw unsafePath(file, kinds.other);
    throw ioFailure(file, error);
  }
  try {
    const first = fs.readSync(fd, scratch, 0, scratch.length, 0);
    if (first > limit) throw tooLarge(file, limit);
    if (first < scratch.length && first > 0) return take(scratch.subarray(0, first));
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw unsafePath(file, kinds.other);
    if (stat.size > limit) throw tooLarge(file, limit);
    return take(fs.readFileSync(fd));
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) === 'EISDIR') throw unsafePath(file, kinds.directory);
    // Only what is no regular file has no position to read from: a pipe keeps what is in it.
    if (codeOf(error) === 'ESPIPE') throw unsafePath(file, kinds.other);
    throw ioFailure(file, error);
  } finally {
    fs.closeSync(fd);
  }
}

/** The bytes as text; anything that is no UTF-8 would come back changed, so it is refused. */
function decode(file: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Failure('not-utf8', `${file} is no UTF-8 text.`, 'Look at what wrote it.');
  return bytes.toString('utf8');
}

/** The disk as it is. */
export const diskReader: Reader = {
  kind: kindOf,
  text: (file, limit = Infinity) => readRegular(file, limit, (bytes) => decode(file, bytes)),
  bytes: (file, limit = Infinity) => readRegular(file, limit, (bytes) => Buffer.from(bytes)),
  list(directory) {
    try {
      return fs.readdirSync(directory).sort();
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return [];
      if (code === 'ENOTDIR') throw unsafePath(directory, 'no folder');
      throw ioFailure(directory, error);
    }
  },
};

/** True when `file` lies inside `root` by its text, or is `root` itself. Both absolute. */
export function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}

/** Where a path really is, links resolved; the path itself when it is not there. */
export function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/**
 * Throws `unsafe-path` when the folder that holds `file` leads out of `root` through a symbolic link.
 * Folders that are not there yet are fine. `root` itself may be a link: a person may keep their state where they like.
 */
export function assertInside(root: string, file: string): void {
  if (!isInside(root, file)) throw unsafePath(file, `outside ${root}`);
  let real: string;
  let realRoot: string;
  try {
    realRoot = fs.realpathSync(root);
    real = fs.realpathSync(path.dirname(file));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      if (path.dirname(file) !== root && isInside(root, path.dirname(file))) assertInside(root, path.dirname(file));
      return;
    }
    throw ioFailure(file, error);
  }
  if (!isInside(realRoot, real)) throw unsafePath(path.dirname(file), `a symbolic link that leads out of ${root}`);
}
