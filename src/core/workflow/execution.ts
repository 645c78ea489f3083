import fs from 'node:fs';
import path from 'node:path';
import { holderState, lockHolder, type LockHolder } from '../disk/lock';
import { argumentsOf, directoryOf, environmentOf, readProcessTable } from '../disk/processTable';
import { diskReader } from '../disk/reader';
import { findRaymond, type RunFile } from './runs';

/** A process of raymond that may be at a run. */
export interface RaymondProcess {
  pid: number;
  /** The run it was told to do, or undefined: it made an id of its own. */
  runId: string | undefined;
  /** The `.raymond` it works in; undefined where the system does not tell. */
  raymond: string | undefined;
  /** When it started, in milliseconds since 1970; undefined where the system does not tell. */
  startedAt: number | undefined;
}

export type Execution =
  | { kind: 'loopkeeper'; holder: LockHolder }
  /** Our lease is there, but its holder has ended. */
  | { kind: 'stopped' }
  | { kind: 'raymond'; pid: number }
  | { kind: 'unknown'; elsewhere?: LockHolder };

/** Where the lease of a run is while Loopkeeper executes it: a lock file of the engine's kind. */
export function leaseFile(raymond: string, runId: string): string {
  return path.join(raymond, 'loopkeeper', 'leases', runId);
}

/**
 * Who executes a run. raymond takes no lock of any kind, so without a lease of ours or a process that shows itself it is `unknown`.
 * `startedAt`: of the run, in milliseconds; a raymond that made up its own id is held to be at the runs begun within its first ten minutes.
 */
export function executionOf(run: RunFile, raymond: string, startedAt: number, processes: readonly RaymondProcess[]): Execution {
  const holder = lockHolder(leaseFile(raymond, run.id));
  if (holder) {
    const state = holderState(holder);
    if (state === 'alive') return { kind: 'loopkeeper', holder };
    if (state === 'elsewhere') return { kind: 'unknown', elsewhere: holder };
  }
  const real = realPath(raymond);
  const at = processes.find((candidate) => {
    if (candidate.raymond !== undefined && realPath(candidate.raymond) !== real) return false;
    if (candidate.runId !== undefined) return candidate.runId === run.id;
    if (candidate.raymond === undefined || candidate.startedAt === undefined) return false;
    const age = startedAt - candidate.startedAt;
    return age > -5_000 && age < 600_000;
  });
  if (at) return { kind: 'raymond', pid: at.pid };
  return holder ? { kind: 'stopped' } : { kind: 'unknown' };
}

function realPath(file: string): string {
  try { return fs.realpathSync(file); } catch { return file; }
}

/** Flags and words with which `ray` does something other than run a workflow. */
const OTHER_WORK = ['lint', 'diagram', 'convert', 'serve', 'completion', 'help', '--list', '--status', '--recover', '--version', '-v', '--help', '-h', '--init-config'];

/** The run that a command line of raymond is at: undefined for none, `id` undefined for one of an id that raymond made up. */
export function parseRayCommand(args: readonly string[]): { id: string | undefined } | undefined {
  if (path.basename(args[0] ?? '') !== 'ray') return undefined;
  const rest = args.slice(1);
  if (rest.length === 0 || OTHER_WORK.includes(rest[0] ?? '') || rest.some((argument) => OTHER_WORK.includes(argument.replace(/=.*/, '')) && argument.startsWith('-'))) return undefined;
  for (const [index, argument] of rest.entries()) {
    const match = /^--(?:resume|workflow-id)(?:=(.*))?$/s.exec(argument);
    if (match) return { id: match[1] ?? rest[index + 1] };
  }
  return { id: undefined };
}

/**
 * The processes that show themselves to be at a run: `ray` itself, and scripts it started, which carry the id in their environment.
 * Empty where the system does not tell (other than Linux), or may not be asked. `now`: real time, milliseconds since 1970.
 */
export function findRaymondProcesses(now: number): RaymondProcess[] {
  if (process.platform !== 'linux') return [];
  const found: RaymondProcess[] = [];
  const uptime = Number.parseFloat(readText('/proc/uptime')) * 1000;
  for (const row of readProcessTable().values()) {
    const cwd = (): string | undefined => directoryOf(row.pid);
    const raymondOf = (directory: string | undefined): string | undefined => (directory === undefined ? undefined : findRaymond(diskReader, directory));
    // The kernel counts process starts in hundredths of a second since boot.
    const startedAt = now - uptime + Number(row.startTime) * 10;
    if (row.name === 'ray') {
      const command = parseRayCommand(argumentsOf(row.pid));
      if (command) found.push({ pid: row.pid, runId: command.id, raymond: raymondOf(cwd()), startedAt });
      continue;
    }
    const environment = environmentOf(row.pid);
    const value = (name: string): string | undefined => environment?.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
    const runId = value('RAYMOND_WORKFLOW_ID');
    const folder = value('RAYMOND_TASK_FOLDER');
    if (runId !== undefined && folder !== undefined) found.push({ pid: row.pid, runId, raymond: raymondOf(path.dirname(folder)), startedAt });
  }
  return found;
}

function readText(file: string): string {
  try { return fs.readFileSync(file, 'utf8'); } catch { return ''; }
}
