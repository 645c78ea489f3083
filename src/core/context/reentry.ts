import { shownPath } from './artifacts';
import type { Artifacts } from './artifacts';
import { frontMatterPhase, latestEntry, parseLog } from './executionLog';
import type { LogEntry } from './executionLog';
import { headingOf, scanMarkdown } from './markdown';
import { isPhase, phaseAhead } from './phases';
import type { Phase } from './phases';
import { dependenciesOf, findTasks, parseTasks } from './tasks';
import type { Task, TaskList } from './tasks';

/** A file to read, or some lines of it, and what for. */
export interface ReentryFile { file: string; from: number | null; to: number | null; why: string }

/** What a fresh window needs (R2.2): the next step, then only the files the next unit of work needs. */
export interface Reentry {
  item: string;
  next: string;
  did: string;
  blockers: string;
  phase: string | null;
  task: string | null;
  /** Where the entry stands. */
  log: { file: string; line: number };
  files: ReentryFile[];
  text: string;
}

/** The files each phase works from, strongest first; the artifact it writes comes last, for work that was begun. */
const needs: Record<Phase, readonly (keyof Artifacts['specs'])[]> = {
  'not-started': ['requirements.md', 'bugfix.md', 'brainstorm.md'],
  'phase-selection': [],
  brainstorming: ['brainstorm.md'],
  'requirements-definition': ['brainstorm.md', 'requirements.md', 'bugfix.md', 'contribution.md'],
  design: ['requirements.md', 'bugfix.md', 'design.md'],
  'test-planning': ['requirements.md', 'bugfix.md', 'design.md', 'testing-plan.md'],
  'tasks-breakdown': ['design.md', 'testing-plan.md', 'tasks.md'],
  implementation: ['tasks.md', 'design.md', 'contribution.md'],
  verification: ['testing-plan.md', 'tasks.md'],
  'needs-review': ['requirements.md', 'bugfix.md', 'design.md', 'testing-plan.md'],
  complete: [],
  cleanup: [],
};

/** The re-entry of a work item, or undefined when its log has no entry with a next step. `now`: RFC 3339. */
export function reentryOf(artifacts: Artifacts, item: string, now: string): Reentry | undefined {
  const { log } = artifacts;
  if (log?.text === undefined) return undefined;
  const entry = latestEntry(parseLog(log.text), now);
  if (!entry?.fields.next?.said) return undefined;
  const next = entry.fields.next.text;
  const current = frontMatterPhase(log.text)?.phase;
  const list = artifacts.specs['tasks.md']?.text === undefined ? undefined : parseTasks(artifacts.specs['tasks.md'].text);
  const named = list && namedTask(list, next);
  const phase = named ? 'implementation' : phaseAhead(next) ?? (current !== undefined && isPhase(current) ? current : undefined);
  const task = named ?? (list && phase === 'implementation' ? firstReady(list) : undefined);
  return withText({
    item, next, did: entry.fields.did?.text ?? '', blockers: blockersOf(entry), phase: phase ?? current ?? null, task: task?.id ?? null,
    log: { file: shownPath(artifacts.folder, log.file), line: entry.line }, files: filesFor(artifacts, phase ?? 'implementation', task), text: '',
  });
}

/** The re-entry of a plain session from its hand-over note; undefined when it has no entry with a next step. */
export function handoverReentry(text: string, file: string, session: string, now: string): Reentry | undefined {
  const entry = latestEntry(parseLog(text), now);
  if (!entry?.fields.next?.said) return undefined;
  return withText({ item: session, next: entry.fields.next.text, did: entry.fields.did?.text ?? '', blockers: blockersOf(entry), phase: null, task: null, log: { file, line: entry.line }, files: [], text: '' });
}

function blockersOf(entry: LogEntry): string {
  const blockers = entry.fields.blockers;
  return blockers?.said ? blockers.text : '';
}

function withText(reentry: Reentry): Reentry {
  const where = (file: ReentryFile) => `- ${file.file}${file.from === null ? '' : `, lines ${String(file.from)}-${String(file.to ?? file.from)}`} (${file.why})`;
  const isItem = reentry.item.includes('#');
  const lines = [
    `Next: ${reentry.next}`, '',
    `You continue ${isItem ? `work item ${reentry.item}` : `what session ${reentry.item} did`}${reentry.phase === null ? '' : `, phase ${reentry.phase}`}. The conversation before this is gone; what counts is on disk.`,
    ...(reentry.did === '' ? [] : ['', `Done last: ${reentry.did}`]),
    ...(reentry.blockers === '' ? [] : ['', `Blockers: ${reentry.blockers}`]),
    ...(reentry.files.length === 0 ? [] : ['', 'Read now, and only these:', ...reentry.files.map(where)]),
    '', `The entry this comes from is ${reentry.log.file}:${String(reentry.log.line)}. Where a summary and that entry differ, the entry is right.`,
  ];
  return { ...reentry, text: `${lines.join('\n')}\n` };
}

/** The first task that the next step names: "task 5", "T5", "tasks 1, 2" (then 1). */
function namedTask(list: TaskList, next: string): Task | undefined {
  const id = /\btasks?\s+#?([Tt]?\d+(?:\.\d+)*[a-z]?)\b/i.exec(next)?.[1] ?? /(?:^|[\s`*(])(T\d+[a-z]?)\b/.exec(next)?.[1];
  const found = id === undefined ? [] : findTasks(list, id);
  return found.length === 1 ? found[0] : undefined;
}

/** The first open task that depends on nothing open. */
function firstReady(list: TaskList): Task | undefined {
  return list.tasks.find((task) => {
    if (task.state === 'done') return false;
    const { tasks, problem } = dependenciesOf(list, task);
    return problem === undefined && tasks.every((each) => each.state === 'done');
  });
}

function filesFor(artifacts: Artifacts, phase: Phase, task: Task | undefined): ReentryFile[] {
  const files: ReentryFile[] = [];
  for (const name of needs[phase]) {
    const artifact = artifacts.specs[name];
    if (!artifact) continue;
    const file = shownPath(artifacts.folder, artifact.file);
    if (name === 'tasks.md' && task && phase === 'implementation') files.push({ file, from: task.line, to: task.endLine, why: `task ${task.id ?? ''}: ${task.summary.slice(0, 80)}`.replace('task :', 'task:') });
    else files.push({ file, from: null, to: null, why: reasons[name] });
  }
  if (phase !== 'implementation' || !task) return files;
  // What the task itself names: its requirements and the row it is tested by.
  for (const name of ['requirements.md', 'bugfix.md'] as const) {
    const artifact = artifacts.specs[name];
    if (artifact && task.requirements !== undefined && /\bR\d/.test(task.requirements)) {
      files.push({ file: shownPath(artifacts.folder, artifact.file), ...sectionsOf(artifact.text, task.requirements), why: `requirements ${task.requirements.slice(0, 80)}` });
    }
  }
  const plan = artifacts.specs['testing-plan.md'];
  if (plan && task.test !== undefined) files.push({ file: shownPath(artifacts.folder, plan.file), from: null, to: null, why: `how it is tested: ${task.test.replace(/`/g, '').slice(0, 80)}` });
  return files;
}

const reasons: Record<keyof Artifacts['specs'], string> = {
  'brainstorm.md': 'the idea', 'requirements.md': 'what is required', 'bugfix.md': 'what is wrong and must hold', 'design.md': 'how it is built',
  'testing-plan.md': 'how it is proved', 'tasks.md': 'the tasks', 'contribution.md': 'what is contributed',
};

/** The lines of the requirements that are named, when each has a heading (`### Requirement 4`, `## R4`); else the whole file. */
function sectionsOf(text: string | undefined, named: string): { from: number | null; to: number | null } {
  const numbers = [...named.matchAll(/\bR(\d+)/g)].map((match) => Number(match[1]));
  if (text === undefined || numbers.length === 0) return { from: null, to: null };
  const { lines } = scanMarkdown(text);
  let from: number | null = null;
  let to: number | null = null;
  let level = 0;
  for (const line of lines) {
    const heading = headingOf(line);
    if (!heading) continue;
    if (level > 0 && heading.level <= level) {
      to = line.number - 1;
      level = 0;
    }
    const number = /^(?:Requirement\s+|R)(\d+)\b/i.exec(heading.title)?.[1];
    if (number !== undefined && numbers.includes(Number(number))) {
      from ??= line.number;
      level = heading.level;
    }
  }
  if (from !== null && level > 0) to = lines.length;
  return { from, to };
}

