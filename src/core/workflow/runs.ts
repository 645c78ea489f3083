import fs from 'node:fs';
import path from 'node:path';
import { Failure } from '../disk/failure';
import { assertInside, type Reader } from '../disk/reader';

/** A state file: `readOnly` where it belongs to raymond's daemon. */
export interface RunFile { id: string; path: string; readOnly: boolean }

/** Far beyond any run: 1,000 frames take about 300 kB. */
export const MAX_RUN_BYTES = 64 * 1024 * 1024;

const RUN_ID = /^[a-zA-Z0-9_-]{1,255}$/;
const POOLS = [{ folder: 'state', readOnly: false }, { folder: 'serve-state', readOnly: true }];

/** The `.raymond` directory for a working directory: searched upward, not above a folder that has `.git`, as raymond does. */
export function findRaymond(reader: Reader, start: string): string | undefined {
  for (let directory = start; ; directory = path.dirname(directory)) {
    const candidate = path.join(directory, '.raymond');
    // Who links the whole directory elsewhere means it; what lies inside may not lead out of it.
    if (['directory', 'link'].includes(reader.kind(candidate))) return candidate;
    if (reader.kind(path.join(directory, '.git')) !== 'absent' || directory === path.dirname(directory)) return undefined;
  }
}

/** The directory, or Failure `no-raymond` that says where it was looked. */
export function requireRaymond(reader: Reader, start: string): string {
  const found = findRaymond(reader, start);
  if (found === undefined) {
    throw new Failure('no-raymond', `There is no .raymond at or above ${start}, up to the project's .git.`, 'Change to the project in which the workflow was started.', 1);
  }
  return found;
}

/** All state files: first the runs of the command line, then those of the daemon. Failure `unsafe-path` where a folder leads out of `.raymond`. */
export function listRunFiles(reader: Reader, raymond: string): RunFile[] {
  return POOLS.flatMap(({ folder, readOnly }) => {
    const directory = path.join(raymond, folder);
    if (reader.kind(directory) === 'absent') return [];
    assertInside(raymond, path.join(directory, 'x'));
    return reader.list(directory).flatMap((name) => {
      const id = name.replace(/\.json$/, '');
      return id !== name && RUN_ID.test(id) ? [{ id, path: path.join(directory, name), readOnly }] : [];
    });
  });
}

/** The state file of a run. Failures: `invalid-run-id` (exit 2), `no-such-run`, `unsafe-path`. */
export function findRunFile(reader: Reader, raymond: string, id: string): RunFile {
  if (!RUN_ID.test(id)) throw new Failure('invalid-run-id', `${JSON.stringify(id.slice(0, 80))} is no run id.`, 'See `loopkeeper workflow list`.', 2);
  for (const { folder, readOnly } of POOLS) {
    const file = path.join(raymond, folder, `${id}.json`);
    if (reader.kind(file) === 'absent') continue;
    assertInside(raymond, file);
    return { id, path: file, readOnly };
  }
  throw new Failure('no-such-run', `There is no run ${id} in ${raymond}.`, 'See `loopkeeper workflow list`; raymond deletes the file of a run that has ended.', 1);
}

/** When a file was last written, in milliseconds since 1970; undefined when it is gone. */
export function writtenAt(file: string): number | undefined {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

/** Whether raymond is writing this run now, or was killed while it did: its temporary files beside the state file. */
export function temporaryFiles(reader: Reader, run: RunFile): string[] {
  const directory = path.dirname(run.path);
  return reader.list(directory).filter((name) => name.startsWith(`${run.id}_`) && name.endsWith('.tmp')).map((name) => path.join(directory, name));
}
