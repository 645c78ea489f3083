import { Failure } from '../disk/failure';

/** An event as it stands in the log. Nothing of it is sure but that it is an object. */
export type LoggedEvent = Record<string, unknown>;

export interface EventFilter {
  /** Patterns for `event`, with * and ?; any of them. Empty or absent: all. */
  types?: readonly string[];
  /** Canonical refs; an event belongs to one by `work_item` or as one of `work_items`. */
  workItems?: readonly string[];
  /** Milliseconds since 1970. Events without a readable `ts` are then left out. */
  since?: number;
  /** Of this level or a more urgent one. */
  level?: Level;
}

export const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** True when the pattern matches the whole text: * any characters, ? any one. In time that grows with both lengths, not with their powers. */
export function matchesPattern(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star !== -1) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

export function matches(filter: EventFilter, event: LoggedEvent): boolean {
  const { types = [], workItems, since, level } = filter;
  if (types.length > 0) {
    const type = event['event'];
    if (typeof type !== 'string' || !types.some((pattern) => matchesPattern(pattern, type))) return false;
  }
  if (workItems) {
    const several = event['work_items'];
    const named: unknown[] = [event['work_item'], ...(Array.isArray(several) ? several as unknown[] : [])];
    if (!workItems.some((ref) => named.includes(ref))) return false;
  }
  if (since !== undefined) {
    const ts = event['ts'];
    const time = typeof ts === 'string' ? Date.parse(ts) : NaN;
    if (!(time >= since)) return false;
  }
  if (level !== undefined) {
    const rank = LEVELS.findIndex((name) => name === event['level']);
    // A level of a later version is shown rather than hidden.
    if (rank !== -1 && rank < LEVELS.indexOf(level)) return false;
  }
  return true;
}

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The moment that `text` names, in milliseconds since 1970: `30s`, `15m`, `2h`, `1d` before `now`, or an ISO 8601 date or time
 * (in UTC, like the log, when it names no zone). Failure `bad-argument`, exit code 2.
 */
export function parseSince(text: string, now: Date): number {
  const ago = /^([0-9]{1,9})([smhd])$/.exec(text.trim());
  const unit = units[ago?.[2] ?? ''];
  if (ago && unit !== undefined) return now.getTime() - Number(ago[1]) * unit;
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(text.trim());
  const [, date = '', time = '00:00', zone = 'Z'] = iso ?? [];
  const found = iso ? Date.parse(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`) : NaN;
  if (!Number.isNaN(found)) return found;
  throw new Failure('bad-argument', `${JSON.stringify(text.slice(0, 80))} is no time.`, 'Write 30s, 15m, 2h or 1d, or a date such as 2026-08-04 or 2026-08-04T09:00:00Z.', 2);
}

/** The level that `text` names. Failure `bad-argument`, exit code 2. */
export function parseLevel(text: string): Level {
  const level = LEVELS.find((name) => name === text);
  if (level) return level;
  throw new Failure('bad-argument', `${JSON.stringify(text.slice(0, 80))} is no level.`, `It is one of ${LEVELS.join(', ')}.`, 2);
}
