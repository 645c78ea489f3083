import fs from 'node:fs';
import path from 'node:path';
import type { CliConfig } from '../core/config/cliConfig';
import { shownPath, type Artifacts } from '../core/context/artifacts';
import { isComplete, partNames, verifyCheckpoint, type Part, type Verification } from '../core/context/checkpoint';
import { checkRequest, planCheckpoint, writesSomething, type CheckpointPlan, type CheckpointRequest } from '../core/context/checkpointPlan';
import { handoverFile, planHandover, readHandover, verifyHandover } from '../core/context/handover';
import { spentEntry } from '../core/context/resetEvents';
import { Failure } from '../core/disk/failure';
import { diskReader, type Reader } from '../core/disk/reader';
import { claudeDirectory, findSessions, isSessionId } from '../core/harness/claudeSessions';
import { runPlan, type RunResult } from '../core/plan/engine';
import type { Step } from '../core/plan/plan';
import { projectedReader } from '../core/plan/projection';
import { repositoryPaths, type PendingWork } from '../core/workspaces/pendingWork';
import type { CheckpointPart, CheckpointReply } from '../protocol/context';
import type { Message } from '../protocol/message';
import { flag, planOptions, stateOptions, text, texts, type Context, type Option, type Values, type Verb } from './command';
import { artifactsOf, eventPlace, folderOption, itemOf, itemOptions, workOf } from './contextItem';
import { plain, table } from './output';
import { planReply, printWarnings } from './planReply';
import { actorOf, contextWarnings, loadConfig, runDefaults, stateStore } from './state';

type Work = PendingWork | { unknown: string };

/** What a checkpoint is of: how it is looked at, and how it is written. */
interface Subject {
  item: string;
  kind: 'workItem' | 'session';
  folder: string;
  /** The log that holds its entries. */
  log: string;
  config: CliConfig;
  parts: readonly Part['part'][];
  warnings: Message[];
  work(): Promise<Work>;
  verify(reader: Reader, work: Work): Verification;
  plan(reader: Reader, work: Work, request: CheckpointRequest): CheckpointPlan;
}

const usage = (message: string) => new Failure('usage', message, 'See `loopkeeper context checkpoint --help`.', 2);

async function itemSubject(context: Context, values: Values, request: CheckpointRequest): Promise<Subject> {
  const item = await itemOf(context, values);
  const { config, folder } = item;
  const now = context.clock.now();
  const label = text(values, 'label');
  const tasks = texts(values, 'task').length > 0 ? texts(values, 'task') : request.tick;
  const spent = spentEntry(config.eventLog.path, item.ref.ref);
  const artifacts = (reader: Reader): Artifacts => artifactsOf(reader, item);
  const common = { now, ...(spent === undefined ? {} : { spent }) };
  return {
    item: item.ref.ref, kind: 'workItem', folder: folder.checkout, log: path.join(folder.directory, 'execution-log.md'), config, parts: partNames, warnings: item.warnings,
    work: () => workOf(context, values, config, folder.checkout, folder.directory),
    verify: (reader, work) => verifyCheckpoint({ artifacts: artifacts(reader), work, tasks, labelPrefix: item.labelPrefix, ...(label === undefined ? {} : { label }), ...common }),
    plan: (reader, work) => planCheckpoint(reader, { item: item.ref.ref, artifacts: artifacts(reader), work, request, actor: actorOf(context), eventLog: eventPlace(config), ...common }),
  };
}

async function sessionSubject(context: Context, values: Values, request: CheckpointRequest): Promise<Subject> {
  const id = text(values, 'session') ?? '';
  if (!isSessionId(id)) throw usage(`${JSON.stringify(id.slice(0, 80))} is no session id.`);
  if (request.tick.length > 0 || texts(values, 'task').length > 0) throw usage('A session of no work item has no tasks to tick.');
  const config = await loadConfig(context, values);
  const folder = text(values, 'folder') === undefined ? folderOfSession(context, values, id) : path.resolve(context.cwd, text(values, 'folder') ?? '.');
  const now = context.clock.now();
  const spent = spentEntry(config.eventLog.path, id);
  const file = handoverFile(config.stateRoot, id);
  const common = { session: id, file, now, ...(spent === undefined ? {} : { spent }) };
  return {
    item: id, kind: 'session', folder, log: file, config, parts: ['log', 'work'], warnings: [],
    work: () => workOf(context, values, config, folder),
    verify: (reader, work) => verifyHandover({ ...common, text: readHandover(reader, file), work }),
    plan: (reader, work) => planHandover(reader, { ...common, work, request, root: config.stateRoot, actor: actorOf(context), eventLog: eventPlace(config) }),
  };
}

/** The folder a Claude Code session works in. Failure `no-session`: no transcript of it, or none that names a folder which is still there. */
function folderOfSession(context: Context, values: Values, id: string): string {
  const directory = claudeDirectory(text(values, 'claude-config-dir'), context.env, context.home);
  const session = directory === undefined ? undefined : findSessions({ directory, folders: [], id }).sessions[0];
  const cwd = session?.tail.cwd;
  if (cwd === null || cwd === undefined || !fs.existsSync(cwd)) {
    throw new Failure('no-session', session ? `The transcript of session ${id} names no folder that is still there.` : `There is no transcript of session ${id} in ${directory ?? 'Claude Code’s folder'}.`, 'Name its folder with --folder.', 1);
  }
  return cwd;
}

async function checkpoint(context: Context, values: Values, [message]: string[]): Promise<number> {
  const request = requestOf(values, message);
  checkRequest(request);
  const accepted = texts(values, 'accept-unknown');
  const wrong = accepted.find((part) => !partNames.some((name) => name === part));
  if (wrong !== undefined) throw usage(`${JSON.stringify(wrong.slice(0, 40))} is no part of a checkpoint; parts: ${partNames.join(', ')}.`);
  if ((text(values, 'work-item') === undefined) === (text(values, 'session') === undefined)) throw usage('Name the work item with --work-item, or a session of no work item with --session.');
  if (request.commit && flag(values, 'no-exec')) throw usage('Without git nothing can be committed: --commit and --no-exec exclude each other.');
  const subject = text(values, 'session') === undefined ? await itemSubject(context, values, request) : await sessionSubject(context, values, request);
  const dryRun = flag(values, 'dry-run');
  let planned: CheckpointPlan | undefined;
  let result: RunResult | undefined;
  let work: Work | undefined;
  if (writesSomething(request)) {
    const expect = text(values, 'expect');
    result = await runPlan({
      ...await runDefaults(context, subject.config), store: stateStore(subject.config), verb: 'context-checkpoint', dryRun, ...(expect === undefined ? {} : { expect }),
      build: async (reader) => {
        work = await subject.work();
        planned = subject.plan(reader, work, request);
        return planned.draft;
      },
    });
  }
  const isRehearsal = dryRun && result !== undefined && planned !== undefined;
  if (!isRehearsal || !work) work = await subject.work();
  const now = subject.verify(diskReader, work);
  const after = isRehearsal && result && planned ? subject.verify(projectedReader(diskReader, [result.plan]), workAfter(work, planned, subject)) : undefined;
  return report(context, subject, { accepted, now, after, planned, result });
}

/** The work as it would be once the plan is applied. */
function workAfter(work: Work, planned: CheckpointPlan, subject: Subject): Work {
  if ('unknown' in work) return work;
  const written = repositoryPaths(work.repository, planned.draft.steps.flatMap((step) => step.kind === 'writeFile' ? [step.path] : []));
  const isOpen = (file: string) => !planned.committed.includes(file) && !planned.committed.some((each) => each.endsWith('/') && file.startsWith(each));
  const isIgnored = (file: string) => subject.kind === 'session' && file === repositoryPaths(work.repository, [subject.log])[0]; // our own folder is ignored by git
  return { ...work, changed: [...new Set([...work.changed, ...written])].filter((file) => isOpen(file) && !isIgnored(file)), untracked: work.untracked.filter(isOpen) };
}

function requestOf(values: Values, message: string | undefined): CheckpointRequest {
  const given = (name: 'did' | 'tests' | 'next' | 'blockers'): Partial<Record<typeof name, string>> => { const value = text(values, name); return value === undefined ? {} : { [name]: value }; };
  if (message !== undefined && !flag(values, 'commit')) throw usage(`${JSON.stringify(message.slice(0, 60))} stands alone; a commit message follows --commit.`);
  return {
    ...given('did'), ...given('tests'), ...given('next'), ...given('blockers'), tick: texts(values, 'tick'), commit: flag(values, 'commit'), ...(message === undefined ? {} : { message }),
    includeUntracked: flag(values, 'include-untracked'), noteWork: flag(values, 'note-wip'),
  };
}

interface Findings { accepted: string[]; now: Verification; after: Verification | undefined; planned: CheckpointPlan | undefined; result: RunResult | undefined }

function report(context: Context, subject: Subject, { accepted, now, after, planned, result }: Findings): number {
  const view = (verification: Verification): CheckpointPart[] => verification.parts.filter((part) => subject.parts.includes(part.part))
    .map((part) => ({ ...part, accepted: part.verdict === 'unknown' && accepted.includes(part.part) }));
  const parts = view(now);
  const last = after ?? now;
  const complete = isComplete(last.parts.filter((part) => subject.parts.includes(part.part)), accepted);
  const reply: CheckpointReply = {
    verb: 'context-checkpoint', item: subject.item, kind: subject.kind, folder: subject.folder, complete, parts, after: after ? view(after) : null, label: now.label,
    entry: now.entry ? { file: subject.log, line: now.entry.line, heading: now.entry.heading, did: now.entry.fields.did?.text ?? '', next: now.entry.fields.next?.text ?? '', hash: now.entry.hash } : null,
    writes: planned && result ? writesOf(planned, result, subject) : null,
    plan: result ? planReply(result, { stateRoot: subject.config.stateRoot }) : null,
    warnings: [...contextWarnings(context), ...subject.warnings],
  };
  context.out.document(reply);
  if (!context.out.json) print(context, reply);
  if (reply.plan?.items.some((item) => item.errors.length > 0)) return 1;
  if (complete) return 0;
  return last.parts.some((part) => subject.parts.includes(part.part) && part.verdict === 'missing') ? 1 : 4;
}

/** What was written, as far as each step is verified; in a dry run what would be. */
function writesOf(planned: CheckpointPlan, { plan, outcome }: RunResult, subject: Subject): NonNullable<CheckpointReply['writes']> {
  const isDone = (wanted: (step: Step) => boolean): boolean => {
    const index = plan.steps.findIndex(wanted);
    return index >= 0 && (outcome === undefined || ['done', 'already'].includes(outcome.steps[index]?.status ?? ''));
  };
  const entry = isDone((step) => step.kind === 'writeFile' && step.path === subject.log);
  const ticked = isDone((step) => step.kind === 'writeFile' && step.path !== subject.log);
  const committed = isDone((step) => step.kind === 'gitCommit');
  return {
    entry: planned.entry && entry ? { did: planned.entry.did, next: planned.entry.next } : null, ticked: ticked ? planned.ticked : [],
    committed: committed ? planned.committed : [], added: committed ? planned.added : [], noted: entry ? planned.noted : [],
  };
}

const styles = { ok: 'green', missing: 'red', unknown: 'yellow' } as const;

function print({ out }: Context, reply: CheckpointReply): void {
  printWarnings(out, [...reply.warnings, ...(reply.plan?.warnings ?? [])]);
  const dry = reply.plan?.dryRun === true;
  const wrote = reply.writes;
  const would = dry ? 'Would be' : 'Was';
  if (wrote?.entry) out.line(`${would} written: an entry, next "${plain(wrote.entry.next)}"`);
  if (wrote && wrote.ticked.length > 0) out.line(`${would} ticked: ${wrote.ticked.map(plain).join(', ')}`);
  if (wrote && wrote.committed.length > 0) out.line(`${would} committed: ${wrote.committed.map((file) => plain(file) + (wrote.added.includes(file) ? ' (new)' : '')).join(', ')}`);
  if (wrote && wrote.noted.length > 0) out.line(`${would} noted as not committed: ${wrote.noted.map(plain).join(', ')}`);
  for (const item of reply.plan?.items ?? []) {
    for (const notice of item.notices) out.line(plain(notice.message));
    for (const error of item.errors) out.error(`${out.paint('red', 'error')}: ${plain(error.message)}`);
  }
  out.line(`Checkpoint of ${plain(reply.item)}${reply.after ? ', as it would be' : ''}:`);
  const shown = reply.after ?? reply.parts;
  const place = (part: CheckpointPart) => part.file === null ? '' : `${shownPath({ checkout: reply.folder }, part.file)}${part.line === null ? '' : `:${String(part.line)}`}`;
  const rows = table(shown.map((part) => [`  ${part.verdict}${part.accepted ? ', accepted' : ''}`, part.part, part.evidence, place(part)]), (row, column, cell) => column === 0 ? out.paint(styles[shown[row]?.verdict ?? 'ok'], cell) : cell);
  for (const row of rows) out.line(row);
  if (reply.complete) out.line(reply.after ? 'It would be complete. Nothing was changed.' : 'It is complete.');
  else {
    const missing = shown.filter((part) => part.verdict === 'missing').map((part) => part.part);
    const unknown = shown.filter((part) => part.verdict === 'unknown' && !part.accepted).map((part) => part.part);
    if (missing.length > 0) out.line(`Missing: ${missing.join(', ')}. Write it with --did, --next, --tick, --commit or --note-wip.`);
    if (unknown.length > 0) out.line(`Unknown: ${unknown.join(', ')}. Look at it, then accept it: ${unknown.map((part) => `--accept-unknown ${part}`).join(' ')}`);
    out.line('See: loopkeeper context guide');
  }
  if (dry && reply.plan) out.line(out.paint('dim', `To apply exactly this, add --expect ${reply.plan.digest}`));
  else if (wrote && (wrote.entry || wrote.ticked.length > 0) && reply.plan) out.line(out.paint('dim', `To take the files back: loopkeeper undo ${reply.plan.plan}${wrote.committed.length > 0 ? ' (the commit stays)' : ''}`));
}

const sessionOptions = {
  session: { type: 'string', value: 'ID', help: 'A Claude Code session that belongs to no work item: its hand-over note.' },
  'claude-config-dir': { type: 'string', value: 'DIR', help: "Claude Code's own folder. Default: CLAUDE_CONFIG_DIR, else ~/.claude." },
} satisfies Record<string, Option>;

export const checkpointVerb: Verb = {
  summary: 'Look whether all that a window reset must find is on disk, or write what is missing.',
  usage: '(--work-item REF | --session ID) [--task ID…] [--label NAME] [--accept-unknown PART…] [--did TEXT --next TEXT [--tests TEXT] [--blockers TEXT]] [--tick TASK…] [--commit [MESSAGE] [--include-untracked] | --note-wip] [--dry-run] [--expect DIGEST] [--json]',
  options: {
    ...itemOptions, ...sessionOptions,
    task: { type: 'string', multiple: true, value: 'ID', help: 'A task that was finished: it and what it depends on must be ticked. Default: those of --tick.' },
    label: { type: 'string', value: 'NAME', help: "The ticket's phase label; without it the label is not checked." },
    'accept-unknown': { type: 'string', multiple: true, value: 'PART', help: `Accept a part that nothing on disk decides: ${partNames.join(', ')}.`, choices: partNames },
    did: { type: 'string', value: 'TEXT', help: 'What was done.' },
    next: { type: 'string', value: 'TEXT', help: 'The next step, so that somebody who knows only the files can take it.' },
    tests: { type: 'string', value: 'TEXT', help: 'What was run, and its result.' },
    blockers: { type: 'string', value: 'TEXT', help: 'What is in the way.' },
    tick: { type: 'string', multiple: true, value: 'TASK', help: 'Tick this task in tasks.md.' },
    commit: { type: 'boolean', help: "Commit the tracked changes and the item's spec files; a message may follow. The repository's hooks run." },
    'include-untracked': { type: 'boolean', help: 'Take untracked files into the commit as well; the plan lists them.' },
    'note-wip': { type: 'boolean', help: 'Leave the work uncommitted and list it in the entry.' },
    ...folderOption, ...planOptions, ...stateOptions,
  },
  positionals: [{ name: 'MESSAGE', optional: true }],
  examples: [
    "loopkeeper context checkpoint --work-item 'github:octo/repo#15'",
    `loopkeeper context checkpoint --work-item 'github:octo/repo#15' --tick 4 --did "prune keeps unknown keys" --tests "npm test: 41 passed" --next "Task 5: prune on write, in src/prune.ts" --commit`,
    'loopkeeper context checkpoint --session 6f0c… --did "found the leak in the pool" --next "close the sockets in pool.ts, then run the soak test" --note-wip',
  ],
  run: checkpoint,
};
