import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../../scripts/editor/install.mjs';

const letters: Record<string, string> = Object.fromEntries([...'abcdefghijklmnopqrstuvwxyz'].map((letter, index) => [letter, [...'áƀćďéƒǧĥíĵķľḿńóṕɋřśťúṽŵẋýź'][index] ?? letter])
  .concat([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter, index) => [letter, [...'ÁƁĆĎÉƑǦĤÍĴĶĽḾŃÓṔɊŘŚŤÚṼŴẊÝŹ'][index] ?? letter])));

/** A text as no language has it, still readable; `{0}`, links' targets, settings and code stay. */
export function pseudo(text: string): string {
  return text.split(/(\{\d+\}|\]\([^)]*\)|`[^`]*`|\$\([a-z-]+\))/).map((part, index) => index % 2 === 1 ? part : [...part].map((character) => letters[character] ?? character).join('')).join('');
}

const pseudoBundle = (file: string): string => {
  const bundle = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return JSON.stringify(Object.fromEntries(Object.entries(bundle).map(([key, value]) => [key, pseudo(value)])));
};

/** The extension in a folder, with all of its texts in the language `qps-ploc` too. */
export function makePseudoExtension(into: string): string {
  mkdirSync(path.join(into, 'l10n'), { recursive: true });
  for (const name of ['package.json', 'package.nls.json', 'l10n/bundle.l10n.json']) cpSync(path.join(root, name), path.join(into, name));
  // Copies: by its real path the editor knows whose code asks for a text.
  for (const name of ['dist', 'media']) cpSync(path.join(root, name), path.join(into, name), { recursive: true });
  writeFileSync(path.join(into, 'package.nls.qps-ploc.json'), pseudoBundle(path.join(into, 'package.nls.json')));
  writeFileSync(path.join(into, 'l10n/bundle.l10n.qps-ploc.json'), pseudoBundle(path.join(into, 'l10n/bundle.l10n.json')));
  return into;
}

/** Words in plain Latin letters that are left when what others wrote is taken out: English that no translator can reach. */
export function rawEnglish(text: string, foreign: readonly (string | RegExp)[]): string[] {
  let rest = text;
  for (const one of foreign) rest = rest.replaceAll(typeof one === 'string' ? one : new RegExp(one.source, 'g'), ' ');
  return rest.match(/(?<![\p{L}\d])[A-Za-z]{2,}(?![\p{L}\d])/gu) ?? [];
}
