import fs from 'node:fs';
import path from 'node:path';
import { takeLock } from '../disk/lock';
import { isInside } from '../disk/reader';
import { measureTree, removeTree } from '../disk/tree';
import { messageOf } from '../disk/failure';
import type { TrashEntry } from '../../protocol/plan';
import type { Message } from '../../protocol/message';
import { closedPlan, unfinishedPlans } from './journal';
import type { Plan } from './plan';
import { isPlanId, lockFile, planTrash, trashDirectory, type Store } from './store';

const DAY_MS = 86_400_000;

/** The folders that hold what a plan removed: beside the journal, and for checkouts on another file system beside those. */
function trashFolders(store: Store, planId: string, plan: Plan | undefined): string[] {
  const own = planTrash(store, planId);
  const elsewhere = (plan?.steps ?? []).flatMap((step) => (step.kind === 'moveCheckout' ? step.moves : []))
    .map((move) => path.dirname(move.to))
    // An undo moves out of a trash, to a place that is none.
    .filter((folder) => path.basename(folder) === planId && !isInside(own, folder));
  return [own, ...new Set(elsewhere)];
}

/** Erases what a plan put in the trash, for good. */
export function eraseTrash(store: Store, plan: Plan): void {
  for (const folder of trashFolders(store, plan.id, plan)) removeTree(folder);
}

/** True when anything of the plan is still in the trash. */
export function hasTrash(store: Store, planId: string, plan: Plan | undefined): boolean {
  return trashFolders(store, planId, plan).some((folder) => fs.existsSync(folder));
}

/** What is in the trash, oldest first, with size and age. Reading only. `now`: RFC 3339. */
export function listTrash(store: Store, now: string): TrashEntry[] {
  let names: string[];
  try { names = fs.readdirSync(trashDirectory(store)); } catch { names = []; }
  const ids = new Set(names.filter(isPlanId));
  return [...ids].sort().map((id) => {
    const plan = closedPlan(store, id)?.plan;
    const sizes = trashFolders(store, id, plan).map(measureTree);
    const createdAt = plan?.createdAt ?? id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z');
    return {
      plan: id, verb: plan?.verb ?? 'unknown', createdAt, ageDays: Math.max(0, Math.floor((Date.parse(now) - Date.parse(createdAt)) / DAY_MS)),
      bytes: sizes.reduce((sum, size) => sum + size.bytes, 0), files: sizes.reduce((sum, size) => sum + size.files, 0),
      path: planTrash(store, id), items: (plan?.items ?? []).map((item) => item.ref),
    };
  });
}

export interface PurgeRequest { store: Store; plans: string[]; now: string; verb: string; random: string; signal?: AbortSignal }

/** Erases these plans' trash for good, under the lock; a plan that is not finished keeps its own. Gives what went, and what could not go and why. */
export async function purgeTrash(request: PurgeRequest): Promise<{ purged: string[]; errors: Message[] }> {
  const { store } = request;
  const purged: string[] = [];
  const errors: Message[] = [];
  const lock = await takeLock({ file: lockFile(store), verb: request.verb, since: request.now, nonce: request.random, waitMs: 10_000, signal: request.signal });
  try {
    const unfinished = new Set(unfinishedPlans(store).map(({ id }) => id));
    for (const id of request.plans) {
      if (unfinished.has(id)) { errors.push({ kind: 'unfinished-plan', message: `${id} is not finished; its trash is still needed.` }); continue; }
      try {
        for (const folder of trashFolders(store, id, closedPlan(store, id)?.plan)) removeTree(folder);
        purged.push(id);
      } catch (error) {
        errors.push({ kind: 'io', message: `${id}: ${messageOf(error)}` });
      }
    }
  } finally {
    lock.release();
  }
  return { purged, errors };
}
