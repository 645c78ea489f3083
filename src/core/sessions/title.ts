import fs from 'node:fs';
import path from 'node:path';
import { isInside } from '../disk/reader';

const BYTES = 4096;
const LONGEST = 120;

/**
 * What a work item is about: the first heading of requirements.md or bugfix.md in its folder of spec artifacts, or undefined.
 * At most 4 KB of a file are read; nothing outside `cwd` is, whatever links there are. Never fails.
 * `folder`: the spec folder's name, such as `issue-15`.
 */
export function titleOf(cwd: string, folder: string): string | undefined {
  if (!path.isAbsolute(cwd) || !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(folder)) return undefined;
  const directory = `${cwd}/docs/specs/${folder}`;
  // A failed open costs much more than this question, and most items have no such folder.
  if (!fs.existsSync(directory)) return undefined;
  for (const name of ['requirements.md', 'bugfix.md']) {
    const text = start(cwd, path.join(directory, name));
    const title = text === undefined ? undefined : headingOf(text);
    if (title !== undefined) return title;
  }
  return undefined;
}

function start(root: string, file: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!fs.fstatSync(fd).isFile() || !isInside(fs.realpathSync(root), fs.realpathSync(file))) return undefined;
    const bytes = Buffer.alloc(BYTES);
    return bytes.toString('utf8', 0, fs.readSync(fd, bytes, 0, BYTES, 0));
  } catch {
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

/** The first heading behind the front matter, without the word that only names the kind of file. */
export function headingOf(text: string): string | undefined {
  const body = text.replace(/^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, '');
  if (/^\uFEFF?---[ \t]*\r?\n/.test(body)) return undefined; // the front matter goes beyond what was read
  const heading = /^#[ \t]+(.+?)[ \t#]*\r?$/m.exec(body)?.[1]?.replace(/^(?:requirements|bug ?fix)(?: document)?(?:[ \t]*[:\u2014\u2013-][ \t]*|$)/i, '').trim();
  if (!heading) return undefined;
  const points = Array.from(heading);
  return points.length > LONGEST ? `${points.slice(0, LONGEST - 1).join('')}…` : heading;
}
