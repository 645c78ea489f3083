import path from 'node:path';
import type { FileKind, Reader } from '../disk/reader';
import { isInside } from '../disk/reader';
import type { Plan } from './plan';

/**
 * The disk as it will be once unfinished plans are rolled forward, so that a dry run meanwhile plans on the state that the real
 * run will find. Files taken from elsewhere are read where they are now.
 */
export function projectedReader(base: Reader, plans: readonly Plan[]): Reader {
  const texts = new Map<string, string | undefined>();
  const gone: string[] = [];
  for (const step of plans.flatMap((plan) => plan.steps)) {
    if (step.kind === 'deleteFile') texts.set(step.path, undefined);
    if (step.kind === 'writeFile') texts.set(step.path, 'text' in step.content ? step.content.text : base.text(step.content.from));
    if (step.kind === 'moveCheckout') gone.push(...step.moves.map((move) => move.from));
  }
  const isGone = (file: string): boolean => gone.some((root) => isInside(root, file));
  const kind = (file: string): FileKind => {
    if (isGone(file)) return 'absent';
    if (texts.has(file)) return texts.get(file) === undefined ? 'absent' : 'file';
    return base.kind(file);
  };
  return {
    kind,
    text: (file, limit) => (isGone(file) ? undefined : texts.has(file) ? texts.get(file) : base.text(file, limit)),
    bytes: (file, limit) => {
      if (isGone(file)) return undefined;
      if (!texts.has(file)) return base.bytes(file, limit);
      const text = texts.get(file);
      return text === undefined ? undefined : Buffer.from(text);
    },
    list: (directory) => {
      if (isGone(directory)) return [];
      const names = new Set(base.list(directory));
      for (const [file, text] of texts) {
        if (path.dirname(file) !== directory) continue;
        if (text === undefined) names.delete(path.basename(file)); else names.add(path.basename(file));
      }
      return [...names].filter((name) => !isGone(path.join(directory, name))).sort();
    },
  };
}
