import { RetestEvent } from '../../protocol/retest';
import { visible } from './foreign';
import { l10n, moment } from './l10n';
import { actorWord } from './retestWords';

export interface TranscriptText {
  text: string;
  /** The line, counted from 0, at which the event with this number begins. */
  lines: ReadonlyMap<number, number>;
}

/**
 * A transcript as it is read: a block for each event, in the file's order; what is no event is shown as it is, marked. Nothing is left out.
 * `leftOut` says that `raw` begins in the middle of the file.
 */
export function transcriptText(raw: string, leftOut = false): TranscriptText {
  const out: string[] = [];
  const lines = new Map<number, number>();
  const rows = raw.split('\n');
  const unterminated = rows.pop() ?? '';
  if (leftOut) {
    rows.shift();
    out.push(l10n.t('The beginning of this long transcript is left out here; the file has all of it.'), '');
  }
  for (const row of rows) addRow(row, out, lines);
  if (unterminated !== '') {
    // A whole event may lack only its line feed.
    if (eventOf(unterminated)) addRow(unterminated, out, lines);
    else out.push(l10n.t('The last line was cut: {0}', visible(unterminated)), '');
  }
  return { text: out.join('\n'), lines };
}

function addRow(row: string, out: string[], lines: Map<number, number>): void {
  if (row.trim() === '') return;
  const event = eventOf(row);
  if (!event) {
    out.push(l10n.t('No event: {0}', visible(row)), '');
    return;
  }
  if (!lines.has(event.seq)) lines.set(event.seq, out.length);
  out.push(`${String(event.seq)}  ${moment(event.ts)}  ${actorWord(event.actor)}  ${visible(event.kind)}`);
  for (const [name, value] of Object.entries(event.payload)) out.push(...fieldLines(name, value));
  out.push('');
}

function eventOf(row: string): RetestEvent | undefined {
  try {
    const parsed = RetestEvent.safeParse(JSON.parse(row));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Texts keep their line breaks; lists have a line for each entry; all else is JSON. */
function fieldLines(name: string, value: unknown): string[] {
  const label = `    ${visible(name)}: `;
  if (typeof value === 'string') {
    const [first = '', ...rest] = value.split(/\r?\n/);
    return [label + visible(first), ...rest.map((line) => `      ${visible(line)}`)];
  }
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return [label.trimEnd(), ...value.map((entry) => `      - ${visible(entry)}`)];
  return [label + visible(JSON.stringify(value) ?? '')];
}
