import type { PendingWork } from '../workspaces/pendingWork';
import { logFile, shownPath } from './artifacts';
import type { Artifacts } from './artifacts';
import { frontMatterPhase, latestEntry, parseLog } from './executionLog';
import type { LogEntry } from './executionLog';
import { isPhase, namedPhase, phases } from './phases';
import { dependenciesOf, findTasks, parseTasks } from './tasks';
import type { Task, TaskList } from './tasks';
import { notedWork } from './workNote';

/** The four parts of a checkpoint (R2.1), in the order in which they are shown. */
export const partNames = ['checkmarks', 'log', 'phase', 'work'] as const;
export type PartName = (typeof partNames)[number];

/** `unknown`: nothing on disk decides it. It refuses nothing, but a person must accept it. */
export interface Part { part: PartName; verdict: 'ok' | 'missing' | 'unknown'; evidence: string; file: string | null; line: number | null }

export interface VerifyInput {
  artifacts: Artifacts;
  /** What git says of the checkout, or why it says nothing. */
  work: PendingWork | { unknown: string };
  /** Tasks that were finished: they and what they depend on must be ticked. */
  tasks: readonly string[];
  /** The ticket's phase label, when a person supplies it. */
  label?: string;
  labelPrefix: string;
  /** The hash of the entry that the last clear or compact used; that entry is spent. */
  spent?: string;
  /** RFC 3339. */
  now: string;
}

export interface Verification { parts: Part[]; entry: LogEntry | undefined; label: string }

/** Looks at the artifacts and says of each part of the checkpoint whether it is there, with the place that shows it. */
export function verifyCheckpoint(input: VerifyInput): Verification {
  const text = input.artifacts.log?.text;
  const log = text === undefined ? undefined : parseLog(text);
  const entry = log && latestEntry(log, input.now);
  const phase = verifyPhase(input, entry);
  return {
    parts: [verifyCheckmarks(input), verifyLog(input, entry, log?.openFence), phase, verifyWork(input, entry)],
    entry,
    label: input.label === undefined ? 'not checked' : input.label,
  };
}

type Verdict = Part['verdict'];
function part(name: PartName, verdict: Verdict, evidence: string, file?: string, line?: number): Part {
  return { part: name, verdict, evidence, file: file ?? null, line: line ?? null };
}

function verifyCheckmarks(input: VerifyInput): Part {
  const { artifacts, tasks } = input;
  const file = artifacts.specs['tasks.md'];
  if (!file) {
    const phase = artifacts.log?.text === undefined ? undefined : frontMatterPhase(artifacts.log.text)?.phase;
    const early = phase !== undefined && isPhase(phase) && phases.indexOf(phase) < phases.indexOf('implementation');
    if (tasks.length > 0) return part('checkmarks', 'missing', 'there is no tasks.md to tick a task in');
    return early ? part('checkmarks', 'ok', `no tasks.md yet, in phase ${phase}`) : part('checkmarks', 'unknown', 'there is no tasks.md');
  }
  if (file.text === undefined) return part('checkmarks', 'unknown', file.problem, file.file);
  const list = parseTasks(file.text);
  if (list.tasks.length === 0) return part('checkmarks', 'unknown', list.openFence === undefined ? 'tasks.md has no task' : 'a code fence that is never closed hides the tasks', file.file, list.openFence);
  const findings = tasks.length > 0 ? tasks.map((id) => verifyFinished(list, id)) : [verifyTicked(list)];
  const worst = findings.find((finding) => finding.verdict === 'missing') ?? findings.find((finding) => finding.verdict === 'unknown') ?? findings.at(-1);
  return part('checkmarks', worst?.verdict ?? 'unknown', worst?.evidence ?? 'no task was looked at', file.file, worst?.line);
}

interface Finding { verdict: Verdict; evidence: string; line: number | undefined }

function verifyFinished(list: TaskList, id: string): Finding {
  const found = findTasks(list, id);
  const [task] = found;
  if (!task) return { verdict: 'missing', evidence: `there is no task ${id}`, line: undefined };
  if (found.length > 1) return { verdict: 'unknown', evidence: `${String(found.length)} tasks have the id ${id}`, line: task.line };
  if (task.state !== 'done') return { verdict: 'missing', evidence: `task ${id} is ${task.state === 'open' ? 'not ticked' : `marked [${task.mark}]`}`, line: task.line };
  const open = task.parts.find((each) => each.state !== 'done');
  if (open) return { verdict: 'missing', evidence: `a part of task ${id} is not ticked: ${open.summary.slice(0, 60)}`, line: open.line };
  return verifyDependencies(list, task) ?? { verdict: 'ok', evidence: `task ${id} is ticked, and all it depends on`, line: task.line };
}

/** Without a named task: every ticked task has what it depends on ticked. What was finished is not asked. */
function verifyTicked(list: TaskList): Finding {
  const ticked = list.tasks.filter((task) => task.state === 'done');
  const findings = ticked.flatMap((task) => verifyDependencies(list, task) ?? []);
  const worst = findings.find((finding) => finding.verdict === 'missing') ?? findings[0];
  if (worst) return worst;
  const last = ticked.at(-1) ?? list.tasks[0];
  return { verdict: 'ok', evidence: `${String(ticked.length)} of ${String(list.tasks.length)} tasks ticked, each with all it depends on`, line: last?.line };
}

function verifyDependencies(list: TaskList, task: Task): Finding | undefined {
  const { tasks, problem } = dependenciesOf(list, task);
  const name = task.id === undefined ? `"${task.summary.slice(0, 40)}"` : task.id;
  if (problem !== undefined) return { verdict: 'unknown', evidence: `what task ${name} depends on is not known: ${problem}`, line: task.dependencies?.line };
  const open = tasks.find((each) => each.state === 'open');
  if (open) return { verdict: 'missing', evidence: `task ${name} depends on ${open.id ?? open.summary.slice(0, 40)}, which is not ticked`, line: open.line };
  const other = tasks.find((each) => each.state === 'other');
  return other ? { verdict: 'unknown', evidence: `task ${name} depends on ${other.id ?? ''}, which is marked [${other.mark}]`, line: other.line } : undefined;
}

function verifyLog(input: VerifyInput, entry: LogEntry | undefined, openFence: number | undefined): Part {
  const { log } = input.artifacts;
  if (!log) return part('log', 'missing', 'there is no execution-log.md', logFile(input.artifacts.folder));
  if (log.text === undefined) return part('log', 'unknown', log.problem, log.file);
  if (!entry) {
    if (openFence !== undefined) return part('log', 'unknown', 'a code fence that is never closed hides the entries', log.file, openFence);
    return part('log', 'missing', 'there is no entry under ## Progress entries', log.file);
  }
  const { did, next } = entry.fields;
  const lacking = [...(did?.said ? [] : ['what was done']), ...(next?.said ? [] : ['a next step'])];
  if (lacking.length > 0) return part('log', 'missing', `the latest entry lacks ${lacking.join(' and ')}`, log.file, (next && !next.said ? next : did && !did.said ? did : entry).line);
  if (entry.hash === input.spent) return part('log', 'missing', 'the latest entry is the one the last clear or compact used', log.file, entry.line);
  return part('log', 'ok', `next: ${oneLine(next?.text ?? '')}`, log.file, next?.line);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** Front matter, entry and graph must name one phase; a label counts when it was supplied. */
function verifyPhase(input: VerifyInput, entry: LogEntry | undefined): Part {
  const { log, graph } = input.artifacts;
  if (log?.text === undefined) return part('phase', 'unknown', log ? log.problem ?? '' : 'there is no execution-log.md that names the phase', log?.file);
  const front = frontMatterPhase(log.text);
  if (!front) return part('phase', 'unknown', 'execution-log.md names no phase in its front matter', log.file, 1);
  const said = entry?.fields.phase;
  const named = said && namedPhase(said.text);
  const label = input.label === undefined ? undefined : input.label.startsWith(input.labelPrefix) ? input.label.slice(input.labelPrefix.length) : input.label;
  const checked = `label: ${input.label ?? 'not checked'}`;
  const differs = (what: string, line: number) => part('phase', 'missing', `front matter says ${front.phase}, ${what}`, log.file, line);
  if (label !== undefined && label !== front.phase) return differs(`the label says ${label}`, front.line);
  const graphPhase = graph?.state?.phase;
  if (graphPhase !== undefined && graphPhase !== front.phase) return differs(`graph-state.json says ${graphPhase} (at ${graph?.state?.currentNode ?? ''})`, front.line);
  const agreed = [`front matter (line ${String(front.line)})`, ...(graphPhase === undefined ? [] : ['graph-state.json'])];
  if (said && named) {
    if (named.phase === front.phase) agreed.push(`entry (line ${String(said.line)})`);
    else if (named.exact) return differs(`the latest entry says ${named.name} (line ${String(said.line)})`, said.line);
    else if (!named.earlier.some((phase) => phase === front.phase)) return differs(`the latest entry is at ${named.name} (line ${String(said.line)})`, said.line);
    else if (graphPhase === undefined) return part('phase', 'unknown', `the latest entry is at ${named.name}, which has no phase of its own; front matter says ${front.phase}`, log.file, said.line);
  } else if (said?.said && said.text.trim() === front.phase) {
    agreed.push(`entry (line ${String(said.line)})`); // a phase of the repository's own
  } else if (graphPhase === undefined && label === undefined) {
    const why = said?.said ? `the latest entry's phase "${oneLine(said.text).slice(0, 60)}" is none of the loop's` : entry ? 'the latest entry names no phase' : 'there is no entry to compare with';
    return part('phase', 'unknown', `${why}; front matter says ${front.phase}`, log.file, said?.line ?? entry?.line ?? front.line);
  }
  return part('phase', 'ok', `${front.phase} in ${agreed.join(', ')}; ${checked}`, log.file, front.line);
}

function verifyWork(input: VerifyInput, entry: LogEntry | undefined): Part {
  const { work, artifacts } = input;
  if ('unknown' in work) return part('work', 'unknown', work.unknown);
  const dirty = [...work.changed, ...work.untracked];
  if (dirty.length === 0) return part('work', 'ok', 'everything is committed');
  const count = `${String(dirty.length)} ${dirty.length === 1 ? 'file is' : 'files are'} not committed`;
  const note = entry && notedWork(entry, dirty);
  if (!note) return part('work', 'missing', `${count} and the latest entry does not say so: ${list(dirty)}`, artifacts.log?.file, entry?.line);
  if (note.unnoted.length > 0) return part('work', 'missing', `not committed and not among what the latest entry notes: ${list(note.unnoted)}`, artifacts.log?.file, note.line);
  return part('work', 'ok', `${count}, as ${shownPath(artifacts.folder, artifacts.log?.file ?? '')} notes`, artifacts.log?.file, note.line);
}

function list(paths: readonly string[]): string {
  return paths.length <= 5 ? paths.join(', ') : `${paths.slice(0, 4).join(', ')} and ${String(paths.length - 4)} more`;
}

/** True when nothing is missing and every unknown part was accepted. */
export function isComplete(parts: readonly Part[], accepted: readonly string[]): boolean {
  return parts.every((each) => each.verdict === 'ok' || (each.verdict === 'unknown' && accepted.includes(each.part)));
}
