import fs from 'node:fs';
import path from 'node:path';
import { flushDirectories, makeDirectories } from '../disk/durable';
import { assertInside, unsafePath } from '../disk/reader';

/** Our directory beside the files a plan changes: lock, journal, closed plans and trash (design §3). */
export interface Store {
  /** e.g. `<state root>/loopkeeper`. */
  directory: string;
  /** What `directory` must stay inside, links resolved: the files' owner. */
  root: string;
}

export const lockFile = (store: Store): string => path.join(store.directory, 'lock');
export const journalDirectory = (store: Store): string => path.join(store.directory, 'journal');
export const failedDirectory = (store: Store): string => path.join(store.directory, 'journal', 'failed');
export const closedDirectory = (store: Store): string => path.join(store.directory, 'plans');
export const trashDirectory = (store: Store): string => path.join(store.directory, 'trash');
export const planTrash = (store: Store, planId: string): string => path.join(trashDirectory(store), planId);

const PLAN_ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

/** `20261130T192742Z-1a2b3c4d`: sorts by time, and names one plan for good. `random`: 8 hex digits. */
export function planIdOf(createdAt: string, random: string): string {
  return `${createdAt.replace(/\.\d+/, '').replace(/[-:]/g, '')}-${random}`;
}

export function isPlanId(text: string): boolean {
  return PLAN_ID.test(text);
}

/** Makes the directory and its `.gitignore` before the first change; looking never calls this. Failure `unsafe-path` for anything planted in its place. */
export function ensureStore(store: Store): void {
  const touched = new Set<string>();
  for (const directory of [store.directory, journalDirectory(store), closedDirectory(store), trashDirectory(store), failedDirectory(store)]) {
    const stat = fs.lstatSync(directory, { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) throw unsafePath(directory, stat.isSymbolicLink() ? 'a symbolic link' : 'no folder');
    // The last one is made when it is needed.
    if (!stat && directory !== failedDirectory(store)) for (const parent of makeDirectories(directory)) touched.add(parent);
  }
  assertInside(store.root, path.join(store.directory, 'x'));
  const ignore = path.join(store.directory, '.gitignore');
  if (!fs.lstatSync(ignore, { throwIfNoEntry: false })) {
    // Never through a link that leads nowhere yet.
    fs.writeFileSync(ignore, '*\n', { flag: 'wx' });
    touched.add(store.directory);
  }
  flushDirectories(touched);
}
