import { shown } from './foreign';

type Argument = string | number;
type Translate = (message: string, ...args: Argument[]) => string;

const plain: Translate = (message, ...args) => message.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole));

let translate = plain;
let currentLanguage = 'en';

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
  return new Intl.ListFormat(currentLanguage, { style: 'long', type: 'conjunction' }).format(parts);
}

/** A day such as `Aug 4`, with the year when it is not `now`'s; the text itself when it is no date. */
export function day(timestamp: string, now: Date): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return shown(timestamp, 40);
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const };
  return new Intl.DateTimeFormat(currentLanguage, { day: 'numeric', month: 'short', ...year }).format(date);
}

/** A day with its time of day; the text itself when it is no date. */
export function moment(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? shown(timestamp, 40) : new Intl.DateTimeFormat(currentLanguage, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}

/** An amount of US dollars, to the cent. */
export function money(usd: number): string {
  return new Intl.NumberFormat(currentLanguage, { style: 'currency', currency: 'USD' }).format(usd);
}
