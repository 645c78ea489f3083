import { headingOf, scanMarkdown } from './markdown';
import type { MarkdownLine } from './markdown';

/** What a task says it depends on, and where it says so. `problem`: why the text is not understood. */
export interface Dependencies { items: DependencyItem[]; line: number; text: string; problem?: string }
type DependencyItem = { kind: 'task'; id: string } | { kind: 'range'; from: string; to: string } | { kind: 'all' };

export interface Task {
  /** As it stands in the file, for a person (`3`, `T4b`); undefined for a box without an id. */
  id: string | undefined;
  /** The id for comparing: no leading T, lower case. */
  key: string | undefined;
  summary: string;
  /** `other`: a mark that says neither (`[~]`, `[-]`). */
  state: 'done' | 'open' | 'other';
  mark: string;
  /** Offset of the mark in the file, for ticking. */
  markOffset: number;
  line: number;
  endLine: number;
  /** The column of the bullet; boxes deeper than the task before them are its parts. */
  indent: number;
  parts: Task[];
  dependencies: Dependencies | undefined;
  /** The texts of `_Requirements:_` and `_Test:_`, as far as there. */
  requirements: string | undefined;
  test: string | undefined;
}

export interface TaskList {
  /** The tasks in the order of the file; a part that has an id of its own is listed too. */
  tasks: Task[];
  /** Set when a code fence is never closed and may hide tasks. */
  openFence?: number;
}

/** A task while it is read: the text behind its box and the lines below it. */
interface Entry { task: Task; head: string; body: MarkdownLine[] }

const box = /^(\s*)([-*+]|\d+[.)])(\s+)\[([^\p{L}\p{N}]|[xX]|)\](?:\s+(.*))?$/u;
const idText = String.raw`[Tt]?\d+(?:\.\d+)*[a-z]?`;
/** `3.` `3)` `T4 …` `**T4 — …` `**3.` `3a.` `1.2 …` `Task 3:`; a bare number that only begins a sentence is no id. */
const idPattern = new RegExp(String.raw`^[*_\u0060]*(?:[Tt]ask\s+)?(?:([Tt]\d+(?:\.\d+)*[a-z]?)(?![\w])|(\d+(?:\.\d+)+[a-z]?)(?=[.):*\s]|$)|(\d+[a-z]?)(?=[.):]))`);
const taskSection = /^(task list|tasks)\b/i;

/** The id for comparing: `T3` and `3` are the same task. */
export function taskKey(id: string): string {
  return id.trim().replace(/^[Tt](?:ask\s*)?(?=\d)/, '').toLowerCase();
}

/**
 * Reads the tasks of a tasks.md: the boxes under `## Task list` or `## Tasks`, or all boxes when there is no such section.
 * Boxes in front matter, code fences and comments do not count (format: the-loop's spec templates and their real use).
 */
export function parseTasks(text: string): TaskList {
  const { lines, openFence } = scanMarkdown(text);
  const scope = taskScope(lines);
  const tasks: Task[] = [];
  const stack: Entry[] = [];
  const all: Entry[] = [];
  let blank = false;
  for (const line of scope) {
    if (headingOf(line)) {
      stack.length = 0;
      continue;
    }
    const match = line.hidden ? null : box.exec(line.text);
    if (!match) {
      if (blank && /^\S/.test(line.text) && !line.hidden) stack.length = 0; // a paragraph of its own ends the list
      blank = line.text.trim() === '';
      for (const entry of stack) entry.body.push(line);
      continue;
    }
    blank = false;
    const indent = match[1]?.length ?? 0;
    while (stack.length > 0 && (stack.at(-1)?.task.indent ?? 0) >= indent) stack.pop();
    const task = taskOf(line, match, indent);
    const parent = stack.at(-1)?.task;
    if (parent) parent.parts.push(task);
    if (!parent || task.id !== undefined) tasks.push(task);
    for (const entry of stack) entry.body.push(line);
    const entry: Entry = { task, head: match[5] ?? '', body: [] };
    stack.push(entry);
    all.push(entry);
  }
  for (const entry of all) readBody(entry);
  return { tasks, ...(openFence === undefined ? {} : { openFence }) };
}

/** The tasks that an id names: none, one, or several when the file uses it twice. */
export function findTasks(list: TaskList, id: string): Task[] {
  const exact = list.tasks.filter((task) => task.id === id.trim());
  return exact.length > 0 ? exact : list.tasks.filter((task) => task.key !== undefined && task.key === taskKey(id));
}

/**
 * The tasks that `task` depends on. `problem` says why they are not known: text that is not understood, an id that no task or
 * more than one has.
 */
export function dependenciesOf(list: TaskList, task: Task): { tasks: Task[]; problem?: string } {
  const found = new Set<Task>();
  const said = task.dependencies;
  if (!said) return { tasks: [] };
  if (said.problem !== undefined) return { tasks: [], problem: said.problem };
  for (const item of said.items) {
    if (item.kind === 'all') {
      for (const other of list.tasks) if (other.line < task.line) found.add(other);
    } else if (item.kind === 'task') {
      const matches = findTasks(list, item.id);
      const [only] = matches;
      if (!only || matches.length > 1) return { tasks: [], problem: `it depends on ${item.id}, ${only ? 'an id that stands twice' : 'which is no task here'}` };
      found.add(only);
    } else {
      for (const end of [item.from, item.to]) {
        if (!list.tasks.some((other) => numberOf(other.key) === numberOf(taskKey(end)))) return { tasks: [], problem: `it depends on ${item.from}–${item.to}, and ${end} is no task here` };
      }
      const [low, high] = [numberOf(taskKey(item.from)), numberOf(taskKey(item.to))];
      for (const other of list.tasks) {
        const number = numberOf(other.key);
        if (number !== undefined && low !== undefined && high !== undefined && number >= low && number <= high && other !== task) found.add(other);
      }
    }
  }
  found.delete(task);
  return { tasks: [...found] };
}

/** The file's text with the task ticked: one character changes. The same text when it is ticked already. */
export function tickTask(text: string, task: Task): string {
  if (task.state === 'done') return text;
  return `${text.slice(0, task.markOffset)}x${text.slice(task.markOffset + task.mark.length)}`;
}

function taskScope(lines: readonly MarkdownLine[]): MarkdownLine[] {
  const scope: MarkdownLine[] = [];
  let inside = false;
  let any = false;
  for (const line of lines) {
    const heading = headingOf(line);
    if (heading && heading.level <= 2) {
      inside = heading.level === 2 && taskSection.test(heading.title);
      any ||= inside;
    }
    if (inside) scope.push(line);
  }
  return any ? scope : [...lines];
}

function taskOf(line: MarkdownLine, match: RegExpExecArray, indent: number): Task {
  const mark = match[4] ?? '';
  const rest = match[5] ?? '';
  const id = idPattern.exec(rest);
  const ordinal = /^\d+/.exec(match[2] ?? '')?.[0];
  const name = id?.[1] ?? id?.[2] ?? id?.[3] ?? ordinal;
  const head = `${match[1] ?? ''}${match[2] ?? ''}${match[3] ?? ''}[`;
  return {
    id: name,
    key: name === undefined ? undefined : taskKey(name),
    summary: (id ? rest.slice(id[0].length).replace(/^[.):*\s—–-]+/, '') : rest).replace(/\*\*/g, '').trim(),
    state: mark === 'x' || mark === 'X' ? 'done' : mark.trim() === '' ? 'open' : 'other',
    mark, markOffset: line.offset + head.length, line: line.number, endLine: line.number, indent, parts: [],
    dependencies: undefined, requirements: undefined, test: undefined,
  };
}

/** The paragraphs and bullets of a task's body, each on one line, with the line it begins on. */
function paragraphs({ task, head }: Entry, body: readonly MarkdownLine[]): { text: string; line: number; own: boolean }[] {
  const found = [{ text: head, line: task.line, own: true }];
  let fresh = false;
  for (const line of body) {
    if (line.hidden || line.text.trim() === '') {
      fresh = true;
      continue;
    }
    const bullet = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line.text);
    const last = found.at(-1);
    if (bullet || fresh || !last) found.push({ text: bullet?.[1] ?? line.text.trim(), line: line.number, own: false });
    else last.text += ` ${line.text.trim()}`;
    fresh = false;
  }
  return found;
}

const marker = /[*_]{1,2}([A-Z][A-Za-z ]*?):[*_]{1,2}|^([A-Z][A-Za-z ]*?):(?=\s)/g;

/** The named values of a paragraph: `_Depends on:_ 1 — _Requirements:_ R1` gives two. */
function namedValues(text: string): { name: string; value: string }[] {
  const marks = [...text.matchAll(marker)];
  return marks.map((mark, index) => ({
    name: (mark[1] ?? mark[2] ?? '').toLowerCase(),
    value: text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length).replace(/[\s—–·|;,-]+$/u, (end) => index < marks.length - 1 ? '' : end.trimEnd()).trim(),
  }));
}

function readBody(entry: Entry): void {
  const { task } = entry;
  const own = ownBody(task, entry.body);
  task.endLine = own.findLast((line) => line.text.trim() !== '')?.number ?? task.line;
  for (const paragraph of paragraphs(entry, own)) {
    for (const { name, value } of namedValues(paragraph.text)) {
      if (name === 'depends on' || name === 'dependencies') task.dependencies ??= { ...parseDependencies(value), line: paragraph.line, text: value };
      if (name === 'requirements') task.requirements ??= value;
      if (name === 'test') task.test ??= value;
    }
    // Prose only in the task's own sentence: elsewhere "depends on" speaks of other things.
    if (paragraph.own && !task.dependencies) task.dependencies = prose(paragraph);
  }
}

/** The body without the lines of parts that have an id of their own. */
function ownBody(task: Task, body: readonly MarkdownLine[]): MarkdownLine[] {
  const skipped = task.parts.filter((part) => part.id !== undefined);
  return body.filter((line) => !skipped.some((part) => line.number === part.line || (line.number > part.line && indentOf(line) > part.indent && nextPart(task, part) > line.number)));
}

function nextPart(task: Task, part: Task): number {
  return task.parts.find((other) => other.line > part.line)?.line ?? Infinity;
}

function indentOf(line: MarkdownLine): number {
  return line.text.length - line.text.trimStart().length;
}

const proseItem = String.raw`(?:tasks?\s+)?${idText}(?:\s*[–—-]\s*${idText})?`;
const prosePattern = new RegExp(String.raw`\bdepends on (nothing|none|${proseItem}(?:\s*(?:,\s*and|,|and|&)\s*${proseItem})*)(?=[.;:,)*_]|\s*$|\s+[—–(])`, 'i');

function prose(paragraph: { text: string; line: number }): Dependencies | undefined {
  const match = prosePattern.exec(paragraph.text);
  const said = match?.[1];
  return said === undefined ? undefined : { ...parseDependencies(said), line: paragraph.line, text: said };
}

const rangePattern = new RegExp(String.raw`^(${idText})\s*(?:–|—|-|\.\.|…|to|through)\s*(${idText})$`);
const onlyId = new RegExp(`^${idText}$`);

/** Reads the value of `Depends on`: none, all, ids, ranges, in the forms that real task files use. */
export function parseDependencies(value: string): Pick<Dependencies, 'items' | 'problem'> {
  const text = value.replace(/\([^)]*\)/g, ' ').replace(/[*_`]/g, '').replace(/\.\s*$/, '').replace(/\s+/g, ' ').trim();
  if (/^(none|nothing|n\/a|no (other )?tasks?|no dependencies|[—–-]+)?$/i.test(text)) return { items: [] };
  if (/^(all|everything)\b( (of )?(the )?(above|others?|previous|earlier|preceding|tasks))*$/i.test(text)) return { items: [{ kind: 'all' }] };
  // What follows a dash or dot and is no id is a remark: "1 — for the schema".
  const bare = text.replace(new RegExp(String.raw`\s+[—–·-]\s+(?!${idText}\b).*$`), '');
  const items: DependencyItem[] = [];
  for (const part of bare.split(/\s*(?:,\s*and\b|,|;|\band\b|&|\+)\s*/)) {
    const item = part.replace(/^tasks?\s+/i, '').replace(/^#/, '').trim();
    if (item === '') continue;
    const range = rangePattern.exec(item);
    if (range?.[1] !== undefined && range[2] !== undefined) items.push({ kind: 'range', from: range[1], to: range[2] });
    else if (onlyId.test(item)) items.push({ kind: 'task', id: item });
    else return { items: [], problem: `"${value.slice(0, 80)}" is not understood` };
  }
  return { items };
}

function numberOf(key: string | undefined): number | undefined {
  const match = /^\d+/.exec(key ?? '');
  return match ? Number(match[0]) : undefined;
}
