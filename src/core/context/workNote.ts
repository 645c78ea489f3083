import type { LogEntry } from './executionLog';
import { saysSomething } from './executionLog';

/** Where an entry notes uncommitted work. `unnoted`: dirty paths that a note which lists paths does not name. */
export interface WorkNote { line: number; unnoted: string[] }

const phrase = /\b(uncommitted|un-committed|not(?: yet)? committed|unstaged|untracked|stashed|work[- ]in[- ]progress|wip)\b/gi;

/**
 * What an entry says of work that is not committed: in our own field, which lists paths, or in words of its own (the-loop fixes no wording).
 * "nothing uncommitted" and the like note nothing. Undefined when it says nothing of it.
 */
export function notedWork(entry: LogEntry, dirty: readonly string[]): WorkNote | undefined {
  const { work } = entry.fields;
  if (work && saysSomething(work.text)) {
    const paths = listedPaths(work.text);
    return { line: work.line, unnoted: paths.length === 0 ? [] : dirty.filter((file) => !paths.some((path) => covers(path, file))) };
  }
  for (const [index, line] of entry.text.split('\n').entries()) {
    for (const match of line.matchAll(phrase)) {
      const denied = /\b(no|nothing|none|without|zero|0)\b[^.;]{0,24}$/i.test(line.slice(0, match.index));
      const empty = /^[\s*_:]*(none|nothing|no|clean|n\/a)\b/i.test(line.slice(match.index + match[0].length));
      if (!denied && !empty) return { line: entry.line + index, unnoted: [] };
    }
  }
  return undefined;
}

/** The value of our field: every path in code marks, folders that stand for all in them when there are too many. */
export function workNote(dirty: readonly string[]): string {
  let paths = [...dirty];
  for (let depth = 8; paths.length > 40 && depth > 0; depth -= 1) {
    const limit = depth;
    paths = [...new Set(paths.map((file) => {
      const parts = file.replace(/\/$/, '').split('/');
      return parts.length > limit ? `${parts.slice(0, limit).join('/')}/` : file;
    }))];
  }
  return `not committed: ${paths.map((file) => `\`${file.replaceAll('`', "'")}\``).join(', ')}`;
}

function listedPaths(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

function covers(path: string, file: string): boolean {
  const name = file.replaceAll('`', "'");
  return path === name || (path.endsWith('/') && name.startsWith(path));
}
