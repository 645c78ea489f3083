import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { Failure } from '../disk/failure';
import { unsafePath } from '../disk/reader';
import type { FileKind, Reader } from '../disk/reader';
import { gitFailure } from './git';
import type { Git } from './git';
import { askQuietly, runQuietly } from './quietGit';

/** What stands under one name in a folder of a commit. */
interface TreeEntry { kind: FileKind; bytes?: Buffer }

const kinds: Record<string, FileKind> = { '100644': 'file', '100755': 'file', '120000': 'link', '040000': 'directory' };

/**
 * One folder as it stands in a commit, through the eyes of a planner. Paths outside of it are absent.
 * @param commit a commit's id; @param inside the folder's path in the repository, with `/`; @param folder its absolute path in the checkout
 */
export async function treeReader(git: Git, commit: string, inside: string, folder: string): Promise<Reader> {
  const entries = await readTree(git, commit, inside);
  const found = (file: string): TreeEntry | undefined => (path.dirname(file) === folder ? entries.get(path.basename(file)) : undefined);
  const bytes = (file: string, limit = Infinity): Buffer | undefined => {
    const entry = found(file);
    if (entry === undefined) return undefined;
    if (entry.bytes === undefined) throw unsafePath(file, 'no plain file in that commit');
    if (entry.bytes.length > limit) throw new Failure('too-large', `${file} is larger than ${String(limit)} bytes.`, 'Look at it: no file of this kind grows so large.');
    return entry.bytes;
  };
  return {
    kind: (file) => found(file)?.kind ?? (file === folder && entries.size > 0 ? 'directory' : 'absent'),
    bytes,
    text: (file, limit) => {
      const raw = bytes(file, limit);
      if (raw !== undefined && !isUtf8(raw)) throw new Failure('not-utf8', `${file} is no UTF-8 text.`, 'Look at what wrote it.');
      return raw?.toString('utf8');
    },
    list: (directory) => (directory === folder ? [...entries.keys()].sort() : []),
  };
}

async function readTree(git: Git, commit: string, inside: string): Promise<Map<string, TreeEntry>> {
  const listing = await askQuietly(git, ['ls-tree', '-z', '--full-tree', commit, '--', `${inside}/`]);
  const entries = new Map<string, TreeEntry>();
  const blobs: { name: string; id: string }[] = [];
  for (const line of listing.split('\0')) {
    const parts = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line);
    if (parts === null) continue;
    const [, mode = '', id = '', file = ''] = parts;
    const name = path.posix.basename(file);
    const kind = kinds[mode] ?? 'other';
    entries.set(name, { kind });
    if (kind === 'file') blobs.push({ name, id });
  }
  if (blobs.length === 0) return entries;
  const args = ['cat-file', '--batch'];
  const result = await runQuietly(git, args, { input: blobs.map(({ id }) => `${id}\n`).join('') });
  if (result.code !== 0) throw gitFailure(args, result);
  let position = 0;
  for (const { name } of blobs) {
    const lineEnd = result.stdout.indexOf(10, position);
    const size = Number(result.stdout.subarray(position, lineEnd).toString('utf8').split(' ')[2]);
    if (!Number.isInteger(size)) throw new Failure('git-failed', `git gave no content for ${name}.`, 'Check the repository with git fsck.');
    entries.set(name, { kind: 'file', bytes: result.stdout.subarray(lineEnd + 1, lineEnd + 1 + size) });
    position = lineEnd + 1 + size + 1;
  }
  return entries;
}
