import { sha256 } from '../disk/hash';
import { findFrontMatter, headingOf, plainText, scanMarkdown, sectionLines } from './markdown';
import type { MarkdownLine } from './markdown';

export type FieldName = 'phase' | 'did' | 'tests' | 'next' | 'context' | 'blockers' | 'work' | 'node' | 'boundary';

/** A named value of an entry, over as many lines as it has. `text` is as written, `said` false for nothing or a placeholder. */
export interface Field { text: string; line: number; said: boolean }

export interface LogEntry {
  heading: string;
  line: number;
  endLine: number;
  /** Offset of the heading in the file. */
  start: number;
  fields: Partial<Record<FieldName, Field>>;
  /** Stands under `## Progress entries`. */
  inProgress: boolean;
  /** Written by the-loop's graph on entering a node: says nothing about the work. */
  machine: boolean;
  /** Milliseconds since 1970 of the heading's date; a time that names no zone is taken as UTC. */
  time: number | undefined;
  /** True when the heading has a time of day. */
  timed: boolean;
  /** The whole entry, for looking for what it notes. */
  text: string;
  /** SHA-256 of the entry, line breaks and space at its ends left out: what an event names it by. */
  hash: string;
}

export interface ExecutionLog {
  entries: LogEntry[];
  /** The heading line of `## Progress entries`. */
  progressLine: number | undefined;
  openFence: number | undefined;
  /** Newest first: the heading times under Progress entries fall from top to bottom. */
  newestFirst: boolean;
}

const progressTitle = /^progress( entries| log)?$/i;

const names: [FieldName, RegExp][] = [
  ['phase', /^phase$/], ['did', /^(did|done|what was done)$/], ['tests', /^(checkpoint\/tests|checkpoint|tests?)$/], ['next', /^next( steps?)?$/],
  ['context', /^context$/], ['blockers', /^blockers?$/], ['work', /^work in progress$/], ['node', /^node$/], ['boundary', /^boundary$/],
];

/** What an empty template says, and words that name no step. Compared without case, marks and full stop. */
const placeholders = new Set([
  '', '-', '—', '–', '…', '...', 'tbd', 'tba', 'todo', 'to do', 'to be done', 'to be decided', 'fill in', 'n/a', 'na', 'none', 'nothing', 'nil', '?', 'x', 'xxx',
  'what is next', "what's next", 'what comes next', 'next', 'next step', 'the next step', 'a concrete next step', 'concrete next step', 'continue', 'go on', 'carry on', 'keep going',
  'what was done', 'what you did', 'commands + result', 'commands and result', 'current phase', 'as above', 'see above', 'same', 'same as above', 'wip',
]);

/** True when `text` says something: more than a template's placeholder. */
export function saysSomething(text: string): boolean {
  const plain = plainText(text).replace(/^[-+]\s+/, '').replace(/[.!:;]+$/, '').trim().toLowerCase();
  return !placeholders.has(plain) && !/^<[^<>]*>$/.test(plain) && !/^\[[^[\]]*\]$/.test(plain) && /[\p{L}\p{N}]/u.test(plain);
}

/** Reads the entries of an execution log: every `### …` that has named values, wherever it stands. */
export function parseLog(text: string): ExecutionLog {
  const { lines, openFence } = scanMarkdown(text);
  const progress = new Set(sectionLines(lines, progressTitle).map((line) => line.number));
  const entries: LogEntry[] = [];
  for (const [index, line] of lines.entries()) {
    const heading = headingOf(line);
    if (heading?.level !== 3) continue;
    let end = index + 1;
    while (end < lines.length && (headingOf(lines[end] as MarkdownLine)?.level ?? 9) > 3) end += 1;
    const body = lines.slice(index + 1, end);
    const fields = readFields(body);
    if (Object.keys(fields).length === 0 && !progress.has(line.number)) continue;
    const last = body.findLast((each) => each.text.trim() !== '') ?? line;
    const whole = text.slice(line.offset, last.offset + last.text.length).replace(/\r\n/g, '\n').trim();
    entries.push({
      heading: heading.title, line: line.number, endLine: last.number, start: line.offset, fields, inProgress: progress.has(line.number),
      machine: fields.node !== undefined && fields.next === undefined && fields.did === undefined,
      ...timeOf(heading.title), text: whole, hash: sha256(whole),
    });
  }
  const progressHeading = lines.find((line) => { const heading = headingOf(line); return heading?.level === 2 && progressTitle.test(heading.title); });
  return { entries, progressLine: progressHeading?.number, openFence, newestFirst: isNewestFirst(entries) };
}

/**
 * The entry that says where the work stands: the newest under `## Progress entries`, unless an entry elsewhere that has a next step is
 * dated later (people and agents append below the wrong heading). Entries of the-loop's graph and entries dated after `now` do not count
 * elsewhere. `now`: RFC 3339.
 */
export function latestEntry(log: ExecutionLog, now: string): LogEntry | undefined {
  const own = log.entries.filter((entry) => !entry.machine);
  const progress = own.filter((entry) => entry.inProgress);
  let latest = log.newestFirst ? progress[0] : progress.at(-1);
  const limit = Date.parse(now);
  for (const entry of own) {
    if (entry.inProgress || entry.fields.next === undefined) continue;
    if (entry.time !== undefined && entry.time > limit) continue;
    if (!latest || isLater(entry, latest)) latest = entry;
  }
  return latest;
}

/** The front matter's `phase` with its line; undefined when there is none. */
export function frontMatterPhase(text: string): { phase: string; line: number } | undefined {
  const front = findFrontMatter(text);
  if (!front) return undefined;
  for (const [index, line] of text.slice(front.start, front.end).split('\n').entries()) {
    const match = /^phase:[ \t]*(?:"([^"]*)"|'([^']*)'|([^#\r]*?))[ \t]*(?:#.*)?\r?$/.exec(line);
    const phase = match?.[1] ?? match?.[2] ?? match?.[3];
    if (phase !== undefined && phase.trim() !== '') return { phase: phase.trim(), line: index + 2 };
  }
  return undefined;
}

export interface NewEntry {
  /** RFC 3339, UTC. */
  now: string;
  phase: string | undefined;
  did: string;
  tests?: string;
  next: string;
  blockers?: string;
  /** What is not committed, when that is noted. */
  work?: string;
}

/** The text of an entry, lines joined by `end`, without a line break at its end. */
export function entryText(entry: NewEntry, end: string): string {
  // Further lines belong to the bullet; one that would be a heading is escaped.
  const value = (text: string) => text.trim().replace(/\r\n?/g, '\n').split('\n').map((line, index) => index === 0 || line.trim() === '' ? line.trimEnd() : `  ${line.trim().replace(/^#/, '\\#')}`).join('\n');
  const fields: [string, string | undefined][] = [
    ['Phase', entry.phase], ['Did', entry.did], ['Checkpoint/tests', entry.tests], ['Next', entry.next], ['Work in progress', entry.work], ['Blockers', entry.blockers ?? 'none'],
  ];
  const lines = fields.flatMap(([name, text]) => text === undefined || text.trim() === '' ? [] : [`- **${name}:** ${value(text)}`]);
  return `### ${entry.now.slice(0, 10)} ${entry.now.slice(11, 16)} UTC — ${summaryOf(entry.did)}\n\n${lines.join('\n')}`.replaceAll('\n', end);
}

/**
 * The log with the entry under `## Progress entries`: behind the last entry there, or before the first in a log that is newest first.
 * A log without that section gets one at its end.
 */
export function insertEntry(text: string, entry: NewEntry): string {
  const { lines, end } = scanMarkdown(text);
  const log = parseLog(text);
  const body = entryText(entry, end);
  if (log.progressLine === undefined) {
    const base = text.replace(/\s*$/, '');
    return `${base}${base === '' ? '' : end + end}## Progress entries${end}${end}${body}${end}`;
  }
  const inside = sectionLines(lines, progressTitle);
  const first = log.entries.find((each) => each.inProgress);
  if (log.newestFirst && first) return `${text.slice(0, first.start)}${body}${end}${end}${text.slice(first.start)}`;
  const last = inside.findLast((line) => line.text.trim() !== '') ?? lines[log.progressLine - 1];
  const at = last ? last.offset + last.text.length : text.length;
  const rest = text.slice(at);
  // What follows keeps its own distance; at the end of the file the line break that was there stays the last byte.
  return `${text.slice(0, at)}${end}${end}${body}${rest === '' ? end : rest}`;
}

/** True when `entry` already says what `wanted` says: the same phase and values, whatever its heading. */
export function saysTheSame(entry: LogEntry, wanted: NewEntry): boolean {
  const same = (field: FieldName, text: string | undefined) => plainText(entry.fields[field]?.text ?? '') === plainText(text ?? '');
  return same('did', wanted.did) && same('next', wanted.next) && (wanted.tests === undefined || same('tests', wanted.tests))
    && (wanted.blockers === undefined || same('blockers', wanted.blockers)) && (wanted.phase === undefined || same('phase', wanted.phase));
}

/** The first sentence, at most 70 characters, in one line without marks that would break a heading. */
function summaryOf(did: string): string {
  const plain = plainText(did).replace(/^[-+#>\s]+/, '');
  const sentence = /^.*?[.!?](?=\s|$)/.exec(plain)?.[0].replace(/[.]$/, '') ?? plain;
  return sentence.length <= 70 ? sentence : `${sentence.slice(0, 69).replace(/\s+\S*$/, '')}…`;
}

const fieldLine = /^( ?)(?:[-*+][ \t]+)?(?:\*\*|__)([A-Za-z][A-Za-z /]*?)(?::(?:\*\*|__)|(?:\*\*|__):)(.*)$/;

function readFields(body: readonly MarkdownLine[]): Partial<Record<FieldName, Field>> {
  const fields: Partial<Record<FieldName, Field>> = {};
  let open: { name: FieldName | undefined; text: string[]; line: number } | undefined;
  const close = () => {
    if (open?.name && !fields[open.name]) {
      const text = open.text.join('\n').trim();
      fields[open.name] = { text, line: open.line, said: saysSomething(text) };
    }
    open = undefined;
  };
  for (const line of body) {
    const match = line.hidden ? null : fieldLine.exec(line.text);
    if (match) {
      close();
      const name = (match[2] ?? '').trim().toLowerCase();
      open = { name: names.find(([, pattern]) => pattern.test(name))?.[0], text: [match[3] ?? ''], line: line.number };
    } else if (headingOf(line) || (open && !line.hidden && /^[-*+]\s/.test(line.text))) {
      close(); // a bullet or heading of its own
    } else if (open) {
      if (!line.hidden || /^\s+/.test(line.text)) open.text.push(line.text.trim());
    }
  }
  close();
  return fields;
}

function timeOf(heading: string): { time: number | undefined; timed: boolean } {
  const match = /(\d{4})-(\d{2})-(\d{2})(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?[ \t]*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?/.exec(heading);
  if (!match) return { time: undefined, timed: false };
  const [, year, month, day, hour, minute, second, zone] = match;
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  const minutes = offset ? (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) : 0;
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute ?? 0) - minutes, Number(second ?? 0));
  return { time: Number.isNaN(time) ? undefined : time, timed: hour !== undefined };
}

/** True when `a` is dated later than `b`, by day unless both headings have a time. */
function isLater(a: LogEntry, b: LogEntry): boolean {
  if (a.time === undefined || b.time === undefined) return false;
  const day = 24 * 60 * 60 * 1000;
  return a.timed && b.timed ? a.time > b.time : Math.floor(a.time / day) > Math.floor(b.time / day);
}

function isNewestFirst(entries: readonly LogEntry[]): boolean {
  const progress = entries.filter((entry) => entry.inProgress && !entry.machine && entry.time !== undefined);
  let falls = 0;
  for (const [index, entry] of progress.entries()) {
    const before = progress[index - 1];
    if (!before) continue;
    if (isLater(before, entry)) falls += 1;
    if (isLater(entry, before)) falls -= 1;
  }
  return falls > 0;
}
