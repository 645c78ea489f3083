import { shown } from './foreign';

type Argument = string | number;
type Translate = (message: string, ...args: Argument[]) => string;

const plain: Translate = (message, ...args) => message.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole));

let translate = plain;
let currentLanguage = 'en';
/** Formatters by their options: one costs far more to make than to use, and a list has thousands of dates. */
const formatters = new Map<string, unknown>();
const formatter = <T>(key: string, make: (language: string) => T): T => {
  const name = `${currentLanguage} ${key}`;
  const known = formatters.get(name) as T | undefined;
  if (known !== undefined) return known;
  const made = make(currentLanguage);
  formatters.set(name, made);
  return made;
};

/** Hands the editor's translator and language to all texts; until then they are English, which is what unit tests read. */
export function useTranslator(translator: Translate, language: string): void {
  translate = translator;
  currentLanguage = language;
}

/** `l10n.t('… {0} …', value)`: a text of the extension's own, in the editor's language. Every first argument is in l10n/bundle.l10n.json. */
export const l10n = { t: (message: string, ...args: Argument[]): string => translate(message, ...args) };

/** One text for 1 and one for any other number; `{0}` is the number, further arguments follow it. */
export function plural(count: number, one: string, many: string, ...args: Argument[]): string {
  return translate(count === 1 ? one : many, count, ...args);
}

/** `a, b and c` in the editor's language. */
export function sentenceList(parts: readonly string[]): string {
  return formatter('list', (language) => new Intl.ListFormat(language, { style: 'long', type: 'conjunction' })).format(parts);
}

/** A day such as `Aug 4`, with the year when it is not `now`'s; the text itself when it is no date. */
export function day(timestamp: string, now: Date): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return shown(timestamp, 40);
  const isThisYear = date.getFullYear() === now.getFullYear();
  return formatter(isThisYear ? 'day' : 'day of a year', (language) => new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...isThisYear ? {} : { year: 'numeric' } })).format(date);
}

/** A day with its time of day; the text itself when it is no date. */
export function moment(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? shown(timestamp, 40) : formatter('moment', (language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })).format(date);
}

/** An amount of US dollars, to the cent. */
export function money(usd: number): string {
  return formatter('money', (language) => new Intl.NumberFormat(language, { style: 'currency', currency: 'USD' })).format(usd);
}
