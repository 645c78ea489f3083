/** A moment, exact: whole seconds since 1970-01-01T00:00:00Z and the digits of the fraction without trailing zeros. */
export interface Instant { seconds: number; fraction: string }

/** Before this an entry is old. Targets and log lines are judged by the UTC date, runs by the instant. */
export interface Cutoff { instant: Instant; day: number }

/** The window of the retention policy, in days (seed decision "TTL: 30 days"). */
export const retentionDays = 30;

const secondsOfDay = 86_400;
const spelling = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2})))?$/;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar (years start in March, so that the leap day is the last). */
function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * Reads a date `YYYY-MM-DD` (that day's 00:00:00Z) or an RFC 3339 timestamp, strictly.
 * Anything else, such as 31 February, 24:00, a leap second or a space at the end, gives undefined: what does not parse is kept.
 */
export function parseClock(text: string): Instant | undefined {
  const parts = spelling.exec(text);
  if (parts === null) return undefined;
  const year = Number(parts[1]);
  const month = Number(parts[2]);
  const day = Number(parts[3]);
  const hour = Number(parts[4] ?? 0);
  const minute = Number(parts[5] ?? 0);
  const second = Number(parts[6] ?? 0);
  if (month < 1 || month > 12 || day < 1) return undefined;
  if (day > (daysOfMonth[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetHours = Number(parts[9] ?? 0);
  const offsetMinutes = Number(parts[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * 60 * (parts[8] === '-' ? -1 : 1);
  return {
    seconds: dayNumber(year, month, day) * secondsOfDay + hour * 3600 + minute * 60 + second - offset,
    fraction: (parts[7] ?? '').replace(/0+$/, ''),
  };
}

/** The number of the UTC day a moment lies in. */
export function dayOf(instant: Instant): number {
  return Math.floor(instant.seconds / secondsOfDay);
}

/** Whether `a` is strictly before `b`; fractions are compared digit by digit, never rounded. */
export function isBefore(a: Instant, b: Instant): boolean {
  return a.seconds !== b.seconds ? a.seconds < b.seconds : a.fraction < b.fraction;
}

/** The moment `now` minus `days` × 24 hours. */
export function cutoffAt(now: Date, days: number = retentionDays): Cutoff {
  const milliseconds = now.getTime();
  const seconds = Math.floor(milliseconds / 1000) - days * secondsOfDay;
  const fraction = String(milliseconds - Math.floor(milliseconds / 1000) * 1000).padStart(3, '0').replace(/0+$/, '');
  const instant = { seconds, fraction };
  return { instant, day: dayOf(instant) };
}

/** `YYYY-MM-DDTHH:MM:SSZ`, the spelling of every time stamp in loop state. */
export function timestamp(now: Date): string {
  return now.toISOString().replace(/\.[0-9]+Z$/, 'Z');
}

/** When an entry judged by its date goes: the first midnight (UTC) at which its date is more than `days` days ago. */
export function dateExpiry(instant: Instant, days: number = retentionDays): Date {
  return new Date((dayOf(instant) + days + 1) * secondsOfDay * 1000);
}

/** When an entry judged by its instant goes: the first whole second more than `days` × 24 hours after it. */
export function instantExpiry(instant: Instant, days: number = retentionDays): Date {
  return new Date((instant.seconds + days * secondsOfDay + 1) * 1000);
}
