import path from 'node:path';
import { Failure } from '../../src/core/disk/failure';
import type { Reader } from '../../src/core/disk/reader';

/** A disk in memory: absolute paths to texts, bytes, or what stands there instead of a file. It counts what is read. */
export function memoryReader(files: Record<string, string | Buffer | 'link!' | 'denied!' | 'directory!'>): Reader & { reads: Map<string, number> } {
  const reads = new Map<string, number>();
  const bytes = (file: string, limit = Infinity): Buffer | undefined => {
    reads.set(file, (reads.get(file) ?? 0) + 1);
    const found = Object.hasOwn(files, file) ? files[file] : undefined;
    if (found === undefined) return undefined;
    if (found === 'link!' || found === 'directory!') throw new Failure('unsafe-path', `${file} is a ${found.slice(0, -1)}.`, '');
    if (found === 'denied!') throw new Failure('io', `${file} cannot be read: EACCES.`, '');
    const content = Buffer.from(found);
    if (content.length > limit) throw new Failure('too-large', `${file} is larger than ${String(limit)} bytes.`, '');
    return content;
  };
  const under = (directory: string) => Object.keys(files).filter((file) => file.startsWith(`${directory}/`));
  return {
    reads,
    kind: (file) => (files[file] === 'link!' ? 'link' : files[file] === 'directory!' ? 'directory' : Object.hasOwn(files, file) ? 'file' : under(file).length > 0 ? 'directory' : 'absent'),
    text: (file, limit) => bytes(file, limit)?.toString('utf8'),
    bytes,
    list: (directory) => [...new Set(under(directory).map((file) => path.relative(directory, file).split('/')[0] ?? ''))].sort(),
  };
}
