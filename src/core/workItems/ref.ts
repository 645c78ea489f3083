import { Failure } from '../disk/failure';

/** A work item: `<provider>:[<host>/]<owner>/<repo>#<number>`, in canonical form. */
export interface WorkItemRef {
  /** The canonical text: no default host, no leading zeros, no spaces around it. */
  readonly ref: string;
  readonly provider: string;
  /** `github.com` for github without a host; empty for other providers, which drop it. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  /** Digits, kept as text so that numbers beyond 2^53 stay exact. */
  readonly number: string;
  /** Names the item's files: `<slug>.json`. Two refs can share one slug. */
  readonly slug: string;
  /** The ticket's address; absent when none can be derived. */
  readonly url?: string;
}

const shape = /^([a-z][a-z0-9-]*):([^#]+)#([0-9]+)$/;
const host = /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]+)?|[A-Za-z0-9-]+:[0-9]+)$/;
const githubName = /^[A-Za-z0-9._-]+$/;

/** The longest slug: `<slug>.json` must be a possible file name (255 bytes). */
export const MAX_SLUG = 250;

/** Why `text` is no ref, or the ref. */
function read(text: string): WorkItemRef | string {
  // Before the patterns run: a text this long cannot give a file name, whatever it says.
  if (text.length > 4096) return `it is ${String(text.length)} characters long`;
  const match = shape.exec(text.trim());
  const [, provider, where, digits] = match ?? [];
  if (provider === undefined || where === undefined || digits === undefined) return 'it does not have the form of a work item';
  const parts = where.split('/');
  const [repo, owner, given] = [...parts].reverse();
  if (parts.length > 3 || !repo || !owner) return 'before the # it needs an owner and a repository';
  if (given !== undefined && !host.test(given)) return `${quoted(given)} is no host: a host has a dot or a port`;
  const github = provider === 'github';
  const hostName = github ? given ?? 'github.com' : '';
  const path = `${github && hostName !== 'github.com' ? `${hostName}/` : ''}${owner}/${repo}`;
  const number = digits.replace(/^0+(?=[0-9])/, '');
  const slug = `${provider}-${path.replaceAll('/', '-')}-${number}`.replace(/[^A-Za-z0-9._-]+/g, '-');
  if (slug.length > MAX_SLUG) return `its file name would have ${String(slug.length)} characters, more than the ${String(MAX_SLUG)} that fit`;
  const url = github && githubName.test(owner) && githubName.test(repo) ? { url: `https://${hostName}/${owner}/${repo}/issues/${number}` } : {};
  return { ref: `${provider}:${path}#${number}`, provider, host: hostName, owner, repo, number, slug, ...url };
}

/** The text in quotes, unprintable characters escaped, cut to what a person can read. */
function quoted(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(shown).replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const usual = /^github:([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+)#(0|[1-9][0-9]{0,99})$/;
const known = new Map<string, WorkItemRef>();

/**
 * As `read`. A state root names each item several times and nearly always in the usual form: those are taken apart once, without the rules for
 * what they do not have.
 */
function readOften(text: string): WorkItemRef | string {
  const before = known.get(text);
  if (before) return before;
  const match = usual.exec(text);
  const [, owner, repo, number] = match ?? [];
  if (owner === undefined || repo === undefined || number === undefined || text.length > MAX_SLUG) return read(text);
  const ref: WorkItemRef = {
    ref: text, provider: 'github', host: 'github.com', owner, repo, number, slug: `github-${owner}-${repo}-${number}`, url: `https://github.com/${owner}/${repo}/issues/${number}`,
  };
  if (known.size >= 50_000) known.clear();
  known.set(text, ref);
  return ref;
}

/**
 * The work item that `text` names (the decisions on refs in test/cases/reset/README.md).
 * Failure `invalid-ref`, exit code 2.
 */
export function parseRef(text: string): WorkItemRef {
  const found = read(text);
  if (typeof found !== 'string') return found;
  throw new Failure('invalid-ref', `${quoted(text)} names no work item: ${found}.`,
    'Write it as github:octo/repo#15, or github:ghe.corp.example/octo/repo#15 for a host of your own.', 2);
}

/** As `parseRef`, for text from a file: undefined when it is no ref. */
export function tryRef(text: unknown): WorkItemRef | undefined {
  if (typeof text !== 'string') return undefined;
  const found = readOften(text);
  return typeof found === 'string' ? undefined : found;
}

/** A terminal's name as tmux keeps it: a dot and a colon become `_`. */
export function terminalText(name: string): string {
  return name.replace(/[.:]/g, '_');
}

/** The name of a work item's terminal. */
export function terminalName(slug: string): string {
  return terminalText(`loop-${slug}`);
}

/** The order of texts by code points, which is the order of the files' owner; UTF-16 units differ beyond the basic plane. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i === length ? a.length - b.length : rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
}

/** A surrogate stands for a code point above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
