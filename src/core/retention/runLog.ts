import { Failure } from '../disk/failure';
import { cutoffAt, timestamp } from './clock';
import type { Cutoff } from './clock';
import { isObject, keptByDate, own } from './decision';
import type { Decision, Pruned } from './decision';
import { layOut } from './jsonEdit';
import { readJson } from './jsonText';
import type { Written } from './writeTarget';

const header = ['# Loop Run Log', 'Append one entry per run. Prune entries older than 30 days.', '## Recent Runs', '<!-- Loop appends below this line -->'];
const emptyFile = header.map((line) => `${line}\n\n`).join('');
const oneLine = { lines: false, unit: '', eol: '\n', comma: ',', colon: ':' };

/** One line of the log that starts with `{`: its number (from 1), its text without the line end, and where it and its line end stand. */
export interface LogLine { number: number; text: string; start: number; end: number }

/** The entries of a run log, in order. Header, prose and blank lines are not entries. */
export function logLines(text: string): LogLine[] {
  const lines: LogLine[] = [];
  let start = 0;
  for (let number = 1; start < text.length; number++) {
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed < 0 ? text.length : lineFeed + 1;
    if (text[start] === '{') lines.push({ number, text: text.slice(start, lineFeed < 0 ? end : lineFeed).replace(/\r$/, ''), start, end });
    start = end;
  }
  return lines;
}

/** The parsed entry of a line, or undefined when the line is not one JSON object without duplicate keys. */
export function parseLogLine(line: string): Record<string, unknown> | undefined {
  const read = readJson(line);
  return 'problem' in read || !isObject(read.value) ? undefined : read.value;
}

export function decideLine(line: LogLine, cutoff: Cutoff): Decision {
  const key = `line:${line.number}`;
  const entry = parseLogLine(line.text);
  if (entry === undefined) return { key, action: 'keep', reason: 'malformed-entry' };
  const kept = keptByDate(own(entry, 'run_id'), cutoff);
  return kept === undefined ? { key, action: 'delete', reason: 'expired' } : { key, action: 'keep', reason: kept };
}

/**
 * The prune of the run log (F1): entry lines older than the window go with their line ends, every other line stays.
 * @param text the file's text; @param now the clock; @param days the window
 */
export function pruneLog(text: string, now: Date, days?: number): Pruned {
  const cutoff = cutoffAt(now, days);
  const kept: string[] = [];
  let position = 0;
  const decisions = logLines(text).map((line) => {
    const decision = decideLine(line, cutoff);
    if (decision.action === 'delete') {
      kept.push(text.slice(position, line.start));
      position = line.end;
    }
    return decision;
  });
  if (position === 0) return { text, decisions, skipped: null };
  return { text: kept.join('') + text.slice(position), decisions, skipped: null };
}

/**
 * Prunes, then appends one line.
 * @param text the file before, null when there is none
 * @param entry JSON text of one object; without a `run_id` it gets the time of the clock, since a line without one would never age
 * @throws Failure `bad-argument` when the entry is not one JSON object
 */
export function appendRun(text: string | null, entry: string, now: Date): Written {
  const line = entryLine(entry, now);
  const pruned = pruneLog(text ?? emptyFile, now);
  const eol = lineEnd(text ?? emptyFile);
  const gap = pruned.text === '' || pruned.text.endsWith('\n') ? '' : eol;
  return { text: pruned.text + gap + line + eol, decisions: pruned.decisions, skipped: null, written: true };
}

function entryLine(entry: string, now: Date): string {
  const value = parseLogLine(entry);
  if (value === undefined) {
    throw new Failure('bad-argument', 'The entry is not one JSON object without duplicate keys.', 'Pass one JSON object, for example {"loop_name":"ci-sweeper","outcome":"skipped"}.', 2);
  }
  const line = /[\r\n]|^\s/.test(entry) ? layOut(entry, oneLine, '') : entry.trimEnd();
  if (Object.hasOwn(value, 'run_id')) return line;
  const rest = line.slice(1).trimStart();
  return `{"run_id":${JSON.stringify(timestamp(now))}${rest.startsWith('}') ? '' : ','}${rest}`;
}

/** The line end of the file's first line. */
function lineEnd(text: string): string {
  const lineFeed = text.indexOf('\n');
  return lineFeed > 0 && text[lineFeed - 1] === '\r' ? '\r\n' : '\n';
}
