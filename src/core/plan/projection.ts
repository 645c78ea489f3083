import path from 'node:path';
import type { FileKind, Reader } from '../disk/reader';
import { isInside } from '../disk/reader';
import type { Plan } from './plan';

/**
 * The disk as it will be once unfinished plans are rolled forward, so that a dry run meanwhile plans on the state that the real
 * run will find. Files taken from elsewhere are read where they are now.
 */
export function projectedReader(base: Reader, plans: readonly Plan[]): Reader {
  const contents = new Map<string, Buffer | undefined>();
  const gone: string[] = [];
  for (const step of plans.flatMap((plan) => plan.steps)) {
    if (step.kind === 'deleteFile') contents.set(step.path, undefined);
    if (step.kind === 'writeFile') contents.set(step.path, 'text' in step.content ? Buffer.from(step.content.text) : base.bytes(step.content.from));
    if (step.kind === 'appendBytes' && step.exclusive) {
      const there = (contents.has(step.path) ? contents.get(step.path) : base.bytes(step.path)) ?? Buffer.alloc(0);
      const whole = Buffer.concat([there.subarray(0, step.offset), Buffer.from(step.text)]);
      // A beginning of it may be there already; behind what another program wrote it will not be appended.
      if (there.length >= step.offset && whole.subarray(0, there.length).equals(there)) contents.set(step.path, whole);
    }
    if (step.kind === 'moveCheckout') gone.push(...step.moves.map((move) => move.from));
  }
  const isGone = (file: string): boolean => gone.some((root) => isInside(root, file));
  const kind = (file: string): FileKind => {
    if (isGone(file)) return 'absent';
    if (contents.has(file)) return contents.get(file) === undefined ? 'absent' : 'file';
    return base.kind(file);
  };
  return {
    kind,
    text: (file, limit) => (isGone(file) ? undefined : contents.has(file) ? contents.get(file)?.toString('utf8') : base.text(file, limit)),
    bytes: (file, limit) => (isGone(file) ? undefined : contents.has(file) ? contents.get(file) : base.bytes(file, limit)),
    list: (directory) => {
      if (isGone(directory)) return [];
      const names = new Set(base.list(directory));
      for (const [file, bytes] of contents) {
        if (path.dirname(file) !== directory) continue;
        if (bytes === undefined) names.delete(path.basename(file)); else names.add(path.basename(file));
      }
      return [...names].filter((name) => !isGone(path.join(directory, name))).sort();
    },
  };
}
