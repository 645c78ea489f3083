import fs from 'node:fs';
import path from 'node:path';

/** What a walk has found so far; it stops when `left` entries are used up. */
export interface Tally { files: number; repositories: number; left: number }

export function newTally(limit = 200_000): Tally {
  return { files: 0, repositories: 0, left: limit };
}

/**
 * Counts what a folder holds: files, and repositories (whose own files are not counted). Links count as files and are not followed;
 * folders that cannot be read count as nothing. `skip` names folders to leave out, by absolute path.
 */
export function walk(directory: string, tally: Tally, skip: ReadonlySet<string> = new Set()): void {
  const waiting = [directory];
  for (let here = waiting.pop(); here !== undefined && tally.left > 0; here = waiting.pop()) {
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(here, { withFileTypes: true });
    } catch {
      continue;
    }
    tally.left -= entries.length + 1;
    if (entries.some((entry) => entry.name === '.git')) {
      tally.repositories++;
      // Its own work is for git to tell; what is nested deeper is found below.
      for (const entry of entries) if (entry.isDirectory() && entry.name !== '.git') nestedIn(path.join(here, entry.name), tally);
      continue;
    }
    for (const entry of entries) {
      const full = path.join(here, entry.name);
      if (!entry.isDirectory()) tally.files++;
      else if (!skip.has(full)) waiting.push(full);
    }
  }
}

/** Counts repositories only. */
function nestedIn(directory: string, tally: Tally): void {
  const inside: Tally = { files: 0, repositories: 0, left: tally.left };
  walk(directory, inside);
  tally.repositories += inside.repositories;
  tally.left = inside.left;
}
