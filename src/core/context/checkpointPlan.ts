import path from 'node:path';
import { readForEdit } from '../config/harnessConfig';
import { Failure } from '../disk/failure';
import { sha256 } from '../disk/hash';
import type { Reader } from '../disk/reader';
import type { PlanDraft } from '../plan/engine';
import { ABSENT } from '../plan/plan';
import type { EventTemplate, GitCommitStep, PlanItem, Step } from '../plan/plan';
import type { Message } from '../../protocol/message';
import { repositoryPaths } from '../workspaces/pendingWork';
import type { PendingWork } from '../workspaces/pendingWork';
import { logFile, shownPath } from './artifacts';
import type { Artifacts } from './artifacts';
import { frontMatterPhase, insertEntry, latestEntry, parseLog, saysSomething, saysTheSame } from './executionLog';
import type { LogEntry, NewEntry } from './executionLog';
import { plainText } from './markdown';
import { findTasks, parseTasks, tickTask } from './tasks';
import { notedWork, workNote } from './workNote';

/** What `context checkpoint` was asked to write. */
export interface CheckpointRequest {
  did?: string;
  tests?: string;
  next?: string;
  blockers?: string;
  tick: readonly string[];
  commit: boolean;
  message?: string;
  includeUntracked: boolean;
  noteWork: boolean;
}

/** True when something is to be written; without it a checkpoint is only looked at. */
export function writesSomething(request: CheckpointRequest): boolean {
  return request.did !== undefined || request.next !== undefined || request.tick.length > 0 || request.commit || request.noteWork;
}

const usage = (message: string, hint: string) => new Failure('usage', message, hint, 2);

/** Refuses what does not fit together before anything is read. Failure: `usage`. */
export function checkRequest(request: CheckpointRequest): void {
  const { did, next, tests, blockers } = request;
  if ((did === undefined) !== (next === undefined)) throw usage('An entry needs both what was done and what comes next.', 'Give --did and --next together.');
  if (did === undefined && (tests !== undefined || blockers !== undefined)) throw usage('--tests and --blockers are part of an entry.', 'Give --did and --next with them.');
  if (did === undefined && request.noteWork) throw usage('Work that is not committed is noted in an entry.', 'Give --did and --next with --note-wip.');
  if (request.commit && request.noteWork) throw usage('Work is committed or noted, not both.', 'Give --commit or --note-wip.');
  if (request.includeUntracked && !request.commit) throw usage('--include-untracked says what a commit takes in.', 'Give --commit with it.');
  if (did !== undefined && !saysSomething(did)) throw usage(`--did ${JSON.stringify(did)} does not say what was done.`, 'Name what was done, in a sentence.');
  if (next !== undefined && !saysSomething(next)) throw usage(`--next ${JSON.stringify(next)} names no step.`, 'Name the next step so that a fresh window can start on it.');
}

export interface CheckpointPlan {
  draft: PlanDraft;
  /** For a person: the entry that is written, the tasks that are ticked, what is committed or noted. */
  entry: NewEntry | undefined;
  ticked: string[];
  committed: string[];
  /** The files among `committed` that git does not know yet. */
  added: string[];
  noted: string[];
}

export interface PlanInput {
  /** The work item's ref, or the session's id. */
  item: string;
  artifacts: Artifacts;
  work: PendingWork | { unknown: string };
  request: CheckpointRequest;
  spent?: string;
  now: string;
  actor: string | undefined;
  eventLog: { log: string; root: string } | undefined;
}

/**
 * Plans what is missing of what was asked for: ticks, an entry under `## Progress entries`, then the commit. What is there already is not
 * written again, so the same request a second time plans nothing.
 * Failures: `no-log`, `no-task` (exit 1), `ambiguous-task`, `entry-text`, `git-busy`, and the reasons for which git says nothing when it is to commit.
 */
export function planCheckpoint(reader: Reader, input: PlanInput): CheckpointPlan {
  const { artifacts } = input;
  const steps: Step[] = [];
  const root = artifacts.folder.checkout;
  const ticks = planTicks(reader, input);
  if (ticks) steps.push({ kind: 'writeFile', item: input.item, path: ticks.file, root, before: sha256(ticks.before), after: sha256(ticks.after), content: { text: ticks.after }, reason: `task ${ticks.ids.join(', ')} ticked`, undo: 'restore', phase: 0 });
  const written = ticks ? [ticks.file] : [];
  const entry = planEntry(reader, input, written);
  if (entry) steps.push(writeLog(input.item, root, entry));
  if (entry) written.push(entry.file);
  const commit = planCommit({ item: input.item, id: artifacts.folder.id, request: input.request, work: input.work, specs: artifacts.folder.directory }, written, entry?.entry ?? latestOf(reader, input));
  if (commit) steps.push({ ...commit.step, phase: 1, requires: steps.map((_step, index) => index) });
  const ticked = ticks?.ids ?? [];
  const item: PlanItem = {
    ref: input.item, found: true, live: false, kept: [], errors: [], notices: commit?.notices ?? [],
    decision: { did: entry?.entry.did, next: entry?.entry.next, tests: entry?.entry.tests, blockers: entry?.entry.blockers, noted: entry?.noted ?? [], ticked, committed: commit?.step.paths ?? [], message: commit?.step.message },
  };
  const events: EventTemplate[] = input.eventLog && steps.length > 0 ? [{
    item: input.item, ...input.eventLog, source: 'context', event: 'context.checkpoint',
    fields: { ...(input.item.includes('#') ? { work_item: input.item } : { session: input.item }), actor: input.actor, entry: entry?.hash, tasks: ticked.length > 0 ? ticked : undefined, committed: commit ? commit.step.paths.length : undefined },
  }] : [];
  return {
    draft: { items: [item], steps, warnings: [], events, pieceOrder: [], keepTrash: true },
    entry: entry?.entry, ticked, committed: commit?.step.paths ?? [], added: commit?.added ?? [], noted: entry?.noted ?? [],
  };
}

interface PlannedEntry { file: string; before: string | undefined; after: string; entry: NewEntry; noted: string[]; hash: string | undefined }

/** The step that writes a log, new or grown. */
export function writeLog(item: string, root: string, entry: Pick<PlannedEntry, 'file' | 'before' | 'after'>, mode?: number): Step {
  return {
    kind: 'writeFile', item, path: entry.file, root, before: entry.before === undefined ? ABSENT : sha256(entry.before), after: sha256(entry.after), content: { text: entry.after },
    reason: 'an entry in the log', undo: 'restore', phase: 0, ...(mode === undefined ? {} : { mode }),
  };
}

function planTicks(reader: Reader, { artifacts, request }: PlanInput): { file: string; before: string; after: string; ids: string[] } | undefined {
  if (request.tick.length === 0) return undefined;
  const file = path.join(artifacts.folder.directory, 'tasks.md');
  const before = readForEdit(reader, file);
  if (before === undefined) throw new Failure('no-task', `There is no ${shownPath(artifacts.folder, file)} to tick a task in.`, 'Look at the name of the work item.', 1);
  let after = before;
  const ids: string[] = [];
  for (const id of request.tick) {
    const found = findTasks(parseTasks(after), id);
    const [task] = found;
    if (!task) throw new Failure('no-task', `${shownPath(artifacts.folder, file)} has no task ${id}.`, 'Name a task by the number at its box.', 1);
    if (found.length > 1) throw new Failure('ambiguous-task', `${shownPath(artifacts.folder, file)} has the id ${id} on lines ${found.map((each) => String(each.line)).join(', ')}.`, 'Give the tasks different ids first.', 2);
    if (task.state !== 'done') ids.push(task.id ?? id);
    after = tickTask(after, task);
  }
  return after === before ? undefined : { file, before, after, ids };
}

function latestOf(reader: Reader, input: PlanInput): LogEntry | undefined {
  const text = input.artifacts.log?.text ?? reader.text(logFile(input.artifacts.folder));
  return text === undefined ? undefined : latestEntry(parseLog(text), input.now);
}

function planEntry(reader: Reader, input: PlanInput, written: readonly string[]): PlannedEntry | undefined {
  const { artifacts, request } = input;
  if (request.did === undefined || request.next === undefined) return undefined;
  const file = logFile(artifacts.folder);
  const before = readForEdit(reader, file);
  if (before === undefined) {
    throw new Failure('no-log', `There is no ${shownPath(artifacts.folder, file)} yet.`, `Lay one down: loopkeeper context init --work-item '${input.item}'`, 2);
  }
  const phase = frontMatterPhase(before)?.phase ?? artifacts.graph?.state?.phase;
  return plannedEntry(file, before, before, {
    now: input.now, phase, did: request.did, next: request.next,
    ...(request.tests === undefined ? {} : { tests: request.tests }), ...(request.blockers === undefined ? {} : { blockers: request.blockers }),
  }, { ...input, written });
}

/**
 * The log with a new entry, or undefined when its latest entry says the same, notes the same work and was not spent.
 * `base` is the text the entry goes into, `before` the bytes on disk (undefined when the file is new).
 */
export function plannedEntry(file: string, before: string | undefined, base: string, entry: NewEntry, input: Pick<PlanInput, 'work' | 'request' | 'spent' | 'now'> & { written: readonly string[]; noteLog?: boolean }): PlannedEntry | undefined {
  const latest = latestEntry(parseLog(base), input.now);
  const work = 'unknown' in input.work ? undefined : input.work;
  const dirty = work ? [...work.changed, ...work.untracked] : [];
  const same = latest !== undefined && latest.hash !== input.spent && saysTheSame(latest, entry);
  if (same && (!input.request.noteWork || dirty.length === 0 || notedWork(latest, dirty)?.unnoted.length === 0)) return undefined;
  const noted = input.request.noteWork && work ? [...new Set([...dirty, ...repositoryPaths(work.repository, [...input.written, ...(input.noteLog === false ? [] : [file])])])].sort() : [];
  const full: NewEntry = noted.length > 0 ? { ...entry, work: workNote(noted) } : entry;
  const after = insertEntry(base, full);
  const log = parseLog(after);
  const read = latestEntry(log, input.now);
  const says = (text: string | undefined) => plainText(text ?? '').replaceAll('\\#', '#');
  if (!read || log.entries.length !== parseLog(base).entries.length + 1 || says(read.fields.did?.text) !== says(entry.did) || says(read.fields.next?.text) !== says(entry.next)) {
    throw new Failure('entry-text', `The entry cannot be read back from ${path.basename(file)} as it was given.`,
      'Leave headings, code fences and comments out of the text; if the log itself has an open code fence, or an entry dated later, mend that first.', 2);
  }
  return { file, before, after, entry: full, noted, hash: read.hash };
}

/** The commit step of a request, with what is to be said of it; undefined when none is asked for or nothing is left to commit. `specs`: the item's own folder. */
export function planCommit(input: { item: string; id: string; request: CheckpointRequest; work: PendingWork | { unknown: string }; specs: string | undefined }, written: readonly string[], entry: NewEntry | LogEntry | undefined): { step: Omit<GitCommitStep, 'phase'>; added: string[]; notices: Message[] } | undefined {
  const { request, work } = input;
  if (!request.commit) return undefined;
  if ('unknown' in work) throw new Failure('no-git', `Nothing can be committed: ${work.unknown}`, 'Commit by hand, or note the work with --note-wip.', 2);
  if (work.busy !== null || work.conflicted.length > 0) {
    throw new Failure('git-busy', `A ${work.busy ?? 'conflict'} is under way in ${work.repository}.`, 'Finish it, or note the work with --note-wip.', 2);
  }
  const specs = input.specs === undefined ? undefined : repositoryPaths(work.repository, [input.specs])[0];
  const own = work.untracked.filter((file) => specs !== undefined && file.startsWith(`${specs}/`));
  const files = repositoryPaths(work.repository, written);
  const paths = [...new Set([...work.changed, ...files, ...own, ...(request.includeUntracked ? work.untracked : [])])].sort();
  if (paths.length === 0) return undefined;
  const said = entry && 'fields' in entry ? { did: entry.fields.did?.text, next: entry.fields.next?.text } : entry;
  const body = [said?.did, said?.next === undefined ? undefined : `Next: ${said.next}`].filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
  const message = request.message ?? `chore(${input.id}): checkpoint${body === '' ? '' : `\n\n${body}`}`;
  const left = request.includeUntracked ? [] : work.untracked.filter((file) => !own.includes(file));
  const notices = [
    ...(left.length > 0 ? [{ kind: 'untracked-left', message: `${String(left.length)} untracked ${left.length === 1 ? 'file stays' : 'files stay'} out of the commit; --include-untracked takes them in.` }] : []),
    ...(work.nested.length > 0 ? [{ kind: 'submodule-work', message: `Uncommitted work inside the submodule ${work.nested.join(', ')} is not part of the commit.` }] : []),
    ...(work.branch === null ? [{ kind: 'detached-head', message: 'No branch is checked out; the commit is on none.' }] : []),
  ];
  return {
    step: { kind: 'gitCommit', item: input.item, repository: work.repository, message, paths, reason: `${String(paths.length)} ${paths.length === 1 ? 'file' : 'files'} committed`, undo: 'none' },
    added: paths.filter((file) => work.untracked.includes(file)), notices,
  };
}
