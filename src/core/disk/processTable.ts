import fs from 'node:fs';
import { childProcess } from './builtin';
import { Failure, messageOf } from './failure';

/** A running process. `startTime` is the text `startTimeOf` gives, so both can be compared. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  /** The id of its session (setsid); 0 where the system does not tell. */
  session: number;
  startTime: string;
  /** Stopped by a signal (SIGSTOP, Ctrl-Z). */
  stopped: boolean;
  /** The short name the process gives itself; empty where the system does not tell. */
  name: string;
}

/** All processes at one moment, by pid. Zombies have ended and are left out. */
export type ProcessTable = ReadonlyMap<number, ProcessRow>;

const LINUX = process.platform === 'linux';

/** One line of Linux's /proc/<pid>/stat, or undefined for a zombie or a text of another form (proc(5)). */
export function parseStat(stat: string): ProcessRow | undefined {
  const open = stat.indexOf('(');
  // The name may hold spaces and parentheses, so the fields are counted from the last one.
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).trimEnd().split(' ');
  const [state, parent, group, session] = fields;
  const startTime = fields[19];
  const pid = Number.parseInt(stat, 10);
  if (open < 0 || close < open || !Number.isSafeInteger(pid) || !state || startTime === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime, stopped: state === 'T', name: stat.slice(open + 1, close) };
}

/** The output of `ps -axo pid=,ppid=,pgid=,stat=,lstart=`; a line of another form is left out. */
export function parsePs(text: string): ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line);
    const [, pid, parent, group, state, startTime] = match ?? [];
    if (state === undefined || startTime === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startTime, stopped: state.startsWith('T'), name: '' }];
  });
}

/** The processes that run now, read once. Failure `no-processes`: the system does not tell. */
export function readProcessTable(): ProcessTable {
  try {
    const rows = LINUX
      ? fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => readStat(pid) ?? [])
      : parsePs(childProcess().execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 * 1024 * 1024 }));
    return new Map(rows.map((row) => [row.pid, row]));
  } catch (error) {
    throw new Failure('no-processes', `The running processes cannot be read: ${messageOf(error)}.`, 'Check that /proc or ps can be used here.');
  }
}

function readStat(pid: string): ProcessRow | undefined {
  try {
    return parseStat(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** The children of each process, by the parent's pid. */
export function childrenOf(table: ProcessTable): Map<number, ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>();
  for (const row of table.values()) {
    const siblings = children.get(row.parent);
    if (siblings) siblings.push(row);
    else children.set(row.parent, [row]);
  }
  return children;
}

/** A process and all that descend from it, parents before their children; empty when it does not run. */
export function processTree(table: ProcessTable, root: number, children = childrenOf(table)): ProcessRow[] {
  const first = table.get(root);
  const tree = new Set(first ? [first] : []);
  for (const row of tree) for (const child of children.get(row.pid) ?? []) tree.add(child);
  return [...tree];
}

/** The pid and those of its parents up to the first process; the pid alone when it is not in the table. */
export function lineOf(table: ProcessTable, pid: number): Set<number> {
  const line = new Set([pid]);
  for (let row = table.get(pid); row && row.parent > 0 && !line.has(row.parent); row = table.get(row.parent)) line.add(row.parent);
  return line;
}

/** The arguments a process was started with, its program first; empty when it ended or may not be looked at. */
export function argumentsOf(pid: number): string[] {
  try {
    // Arguments hold no NUL, so on Linux they come back exactly. Elsewhere ps joins them with spaces, which is good enough to find an id.
    if (LINUX) return fs.readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replace(/\0$/, '').split('\0');
    return childProcess().execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split(/\s+/);
  } catch {
    return [];
  }
}

/** The environment a process was started with; undefined where the system does not tell (Linux only, own processes only). */
export function environmentOf(pid: number): string[] | undefined {
  try {
    return LINUX ? fs.readFileSync(`/proc/${String(pid)}/environ`, 'latin1').split('\0') : undefined;
  } catch {
    return undefined;
  }
}

/** The directory a process is in; undefined where the system does not tell (Linux only, own processes only). */
export function directoryOf(pid: number): string | undefined {
  try {
    return LINUX ? fs.readlinkSync(`/proc/${String(pid)}/cwd`) : undefined;
  } catch {
    return undefined;
  }
}
