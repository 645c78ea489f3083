import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import type { Reader } from '../disk/reader';
import type { WorkItemRef } from '../workItems/ref';

/** Where the configuration puts the checkout of a work item or pull request (the-loop §1.11). */
export interface CheckoutPlace {
  kind: 'place';
  /** The folder that goes as a whole: the worktree, or the item's folder with every clone in it. */
  path: string;
  root: string;
  strategy: 'worktree' | 'clone';
  /** The shared clone that a worktree belongs to; null with the strategy `clone`. */
  sharedClone: string | null;
  exists: boolean;
}

export type Checkout =
  | CheckoutPlace
  /** No workspace root is configured: the-loop makes no checkouts. */
  | { kind: 'disabled' }
  /** The-loop can lay out no checkout for such a name, so there is none of its making. `why` is a clause without a full stop. */
  | { kind: 'impossible'; why: string }
  /** Something other than plain folders stands in the way: it is not followed, and the checkout stays. */
  | { kind: 'unsafe'; path: string; why: string };

const component = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** The first thing from `root` down to `file` that is there and no folder, or undefined. Whether `root` is a link is its owner's business. */
function obstacle(reader: Reader, root: string, file: string): { path: string; why: string } | 'absent' | undefined {
  let here = root;
  for (const part of path.relative(root, file).split(path.sep)) {
    here = path.join(here, part);
    const kind = reader.kind(here);
    if (kind === 'absent') return 'absent';
    if (kind !== 'directory') return { path: here, why: kind === 'link' ? `${here} is a symbolic link, where a folder is expected` : `${here} is no folder` };
  }
  return undefined;
}

/** Finds the checkout from the ref and the configuration alone, never from a record. Starts no program; always inside the workspace root. */
export function locateCheckout(reader: Reader, config: Pick<CliConfig, 'workspace'>, ref: WorkItemRef): Checkout {
  const { root, strategy, defaultHost } = config.workspace;
  if (root === null) return { kind: 'disabled' };
  // A checkout's host is that of its url without a port.
  const parts = [(ref.host || defaultHost).replace(/:[0-9]+$/, ''), ref.owner, ref.repo].map((part) => part.trim().replace(/\.git$/, ''));
  const bad = parts.find((part) => !component.test(part));
  if (bad !== undefined) return { kind: 'impossible', why: `${JSON.stringify(bad)} cannot be the name of a folder in the workspace, so no checkout was made there` };
  const target = strategy === 'clone' ? path.join(root, '.work-items', ref.slug) : path.join(root, '.worktrees', ...parts, ref.slug);
  const found = obstacle(reader, root, target);
  if (found !== undefined && found !== 'absent') return { kind: 'unsafe', ...found };
  return { kind: 'place', path: target, root, strategy, sharedClone: strategy === 'clone' ? null : path.join(root, ...parts), exists: found === undefined };
}
