import path from 'node:path';
import { Failure } from '../disk/failure';
import { isInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import { isObject } from './decision';

export type StateKind = 'loop' | 'ledger' | 'log';

/** One file of loop state. `ref` names it in plans: its path below the working directory. */
export interface StateFile { kind: StateKind; path: string; ref: string; loop?: string }

const loopName = /^[a-zA-Z0-9][-a-zA-Z0-9_.]*$/;
const stateName = /^state[-a-zA-Z0-9_.]+\.json$/;
const logName = 'loop-run-log.md';
const defaultLedger = '.loop/state-ci-sweeper-run-ledger.json';

/** The folder that holds the state of the loops of one working directory. */
export function loopDirectory(directory: string): string {
  return path.join(directory, '.loop');
}

function stateFile(directory: string, kind: StateKind, file: string, loop?: string): StateFile {
  return { kind, path: file, ref: path.relative(directory, file).split(path.sep).join('/'), ...(loop === undefined ? {} : { loop }) };
}

/** `.loop/state-<loop>.json`. Failure `bad-argument` for a name that would lead elsewhere. */
export function loopFile(directory: string, loop: string): StateFile {
  if (!loopName.test(loop) || loop.includes('..')) {
    throw new Failure('bad-argument', `${JSON.stringify(loop.slice(0, 80))} is no name of a loop.`, 'A name has letters, digits, dots, dashes and underscores, and begins with a letter or digit.', 2);
  }
  return stateFile(directory, 'loop', path.join(loopDirectory(directory), `state-${loop}.json`), loop);
}

/** The run ledger, by its path below the working directory. Failure `unsafe-path` for one outside of it. */
export function ledgerFile(directory: string, file: string = defaultLedger): StateFile {
  const resolved = path.resolve(directory, file);
  if (path.isAbsolute(file) || resolved === directory || !isInside(directory, resolved)) {
    throw new Failure('unsafe-path', `${JSON.stringify(file.slice(0, 200))} is not below the working directory.`, `Give a relative path, for example ${defaultLedger}.`, 2);
  }
  return stateFile(directory, 'ledger', resolved);
}

/** `.loop/loop-run-log.md`. */
export function runLogFile(directory: string): StateFile {
  return stateFile(directory, 'log', path.join(loopDirectory(directory), logName));
}

/** Every file of loop state below the working directory, loops first. Looking creates nothing. */
export function stateFiles(reader: Reader, directory: string): StateFile[] {
  const folder = loopDirectory(directory);
  const kind = reader.kind(folder);
  if (kind === 'absent') return [];
  if (kind !== 'directory') throw new Failure('unsafe-path', `${folder} is no folder.`, 'Look at it and move it away by hand; Loopkeeper does not follow it.');
  const loops: StateFile[] = [];
  const ledgers: StateFile[] = [];
  const logs: StateFile[] = [];
  for (const name of reader.list(folder)) {
    const file = path.join(folder, name);
    if (name === logName) logs.push(stateFile(directory, 'log', file));
    else if (name.endsWith('ledger.json') || (stateName.test(name) && isLedger(reader, file))) ledgers.push(stateFile(directory, 'ledger', file));
    else if (stateName.test(name)) loops.push(stateFile(directory, 'loop', file, name.replace(/^state-?/, '').replace(/\.json$/, '')));
  }
  return [...loops, ...ledgers, ...logs];
}

/** A ledger under a name that does not say so: it has runs and no targets. */
function isLedger(reader: Reader, file: string): boolean {
  try {
    const text = reader.text(file) ?? '';
    if (!text.includes('"runs"')) return false;
    const value: unknown = JSON.parse(text);
    return isObject(value) && isObject(value['runs']) && !Object.hasOwn(value, 'targets');
  } catch {
    return false; // what cannot be read is shown as a loop that cannot be read
  }
}
