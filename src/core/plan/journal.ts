import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { flushDirectories, makeDirectories, writeFileDurably } from '../disk/durable';
import { messageOf } from '../disk/failure';
import { pidSpace, type PidSpace } from '../disk/processes';
import type { Plan } from './plan';
import { closedDirectory, failedDirectory, isPlanId, journalDirectory, type Store } from './store';
import type { Message } from '../../protocol/message';

export interface StepOutcome {
  /** `already`: its effect was there before; `interrupted`: may or may not have happened and is never repeated. */
  status: 'done' | 'already' | 'failed' | 'skipped' | 'interrupted';
  error?: Message;
}
export interface Outcome {
  steps: StepOutcome[];
  items: { ref: string; removed: string[]; errors: Message[] }[];
  /** Problems of the plan as a whole: the event could not be written, the index not rebuilt. */
  warnings: Message[];
  /** RFC 3339, real time. */
  closedAt: string;
}
export interface ClosedPlan { plan: Plan; outcome: Outcome }

// The journal is our own file, but a disk can hand back anything: only what recovery relies on is checked.
const JournalFile = z.object({
  plan: z.looseObject({ id: z.string(), verb: z.string(), createdAt: z.string(), steps: z.array(z.looseObject({ kind: z.string() })), items: z.array(z.looseObject({ ref: z.string() })), events: z.array(z.unknown()) }),
  space: z.optional(z.object({ host: z.string(), boot: z.string() })),
  outcome: z.optional(z.looseObject({ steps: z.array(z.looseObject({ status: z.string() })), items: z.array(z.unknown()) })),
});

const open = (store: Store, id: string): string => path.join(journalDirectory(store), `${id}.json`);
const closed = (store: Store, id: string): string => path.join(closedDirectory(store), `${id}.json`);

/** Writes the plan, flushed, before its first step. */
export async function openJournal(store: Store, plan: Plan): Promise<void> {
  await writeFileDurably(open(store, plan.id), JSON.stringify({ plan, space: pidSpace() }) + '\n');
}

/** Files the plan with what came of it, then takes it out of the journal. `between` is done again if a crash comes before the end. */
export async function closeJournal(store: Store, plan: Plan, outcome: Outcome, between: () => void): Promise<void> {
  await writeFileDurably(closed(store, plan.id), JSON.stringify({ plan, outcome }) + '\n');
  between();
  for (const file of sideFiles(store, plan.id)) fs.rmSync(file, { force: true });
  fs.unlinkSync(open(store, plan.id));
  flushDirectories([journalDirectory(store)]);
}

/** What a plan keeps beside its journal file: which steps that must not be repeated were begun, and the event lines it decided on. */
export const begunFile = (store: Store, id: string): string => path.join(journalDirectory(store), `${id}.begun`);
export const eventsFile = (store: Store, id: string): string => path.join(journalDirectory(store), `${id}.events`);
const sideFiles = (store: Store, id: string): string[] => [begunFile(store, id), eventsFile(store, id)];

/** `space`: where its pids meant something. */
export interface Unfinished { id: string; plan?: Plan; space?: PidSpace; problem?: string }

function namesIn(directory: string): string[] {
  try { return fs.readdirSync(directory).filter((name) => name.endsWith('.json') && isPlanId(name.slice(0, -5))).sort(); } catch { return []; }
}

function readPlanFile(file: string): { plan: Plan; outcome?: Outcome; space?: PidSpace } {
  return JournalFile.parse(JSON.parse(fs.readFileSync(file, 'utf8'))) as unknown as { plan: Plan; outcome?: Outcome; space?: PidSpace };
}

/** Plans that were begun and not closed, oldest first. Reading only. */
export function unfinishedPlans(store: Store): Unfinished[] {
  return namesIn(journalDirectory(store)).map((name) => {
    const id = name.slice(0, -5);
    try { const { plan, space } = readPlanFile(open(store, id)); return { id, plan, ...(space ? { space } : {}) }; } catch (error) { return { id, problem: messageOf(error) }; }
  });
}

/** True when the plan was filed already and only its journal entry stayed. */
export function isClosed(store: Store, id: string): boolean {
  return fs.existsSync(closed(store, id));
}

/** Takes a filed plan's leftover journal entry away. */
export function dropJournal(store: Store, id: string): void {
  for (const file of sideFiles(store, id)) fs.rmSync(file, { force: true });
  fs.rmSync(open(store, id), { force: true });
}

/** Sets a plan aside that cannot be finished, with the reason: it blocks nobody, and doctor names it. */
export function failJournal(store: Store, id: string, reason: string): void {
  makeDirectories(failedDirectory(store));
  fs.writeFileSync(path.join(failedDirectory(store), `${id}.reason`), reason + '\n');
  for (const file of [...sideFiles(store, id), open(store, id)]) {
    if (fs.existsSync(file)) fs.renameSync(file, path.join(failedDirectory(store), path.basename(file)));
  }
  flushDirectories([journalDirectory(store), failedDirectory(store)]);
}

/** Plans that were set aside, with the reason. */
export function failedPlans(store: Store): { id: string; reason: string; plan?: Plan }[] {
  return namesIn(failedDirectory(store)).map((name) => {
    const id = name.slice(0, -5);
    let reason = 'unknown';
    try { reason = fs.readFileSync(path.join(failedDirectory(store), `${id}.reason`), 'utf8').trim(); } catch { /* the reason is a courtesy */ }
    try { return { id, reason, plan: readPlanFile(path.join(failedDirectory(store), name)).plan }; } catch { return { id, reason }; }
  });
}

/** Removes what a killed program was still writing in our own folders. Called under the lock. */
export function sweepTemporary(store: Store): void {
  for (const directory of [journalDirectory(store), closedDirectory(store)]) {
    for (const name of fs.readdirSync(directory)) if (name.startsWith('.lk-')) fs.rmSync(path.join(directory, name), { force: true });
  }
}

/** Ids of filed plans, oldest first. */
export function closedPlanIds(store: Store): string[] {
  return namesIn(closedDirectory(store)).map((name) => name.slice(0, -5));
}

/** A filed plan; undefined when there is none or it cannot be read. */
export function closedPlan(store: Store, id: string): ClosedPlan | undefined {
  try {
    const { plan, outcome } = readPlanFile(closed(store, id));
    return outcome ? { plan, outcome } : undefined;
  } catch {
    return undefined;
  }
}
