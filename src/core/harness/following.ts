import { isRunning } from '../disk/processes';
import { childrenOf, processTree } from '../disk/processTable';
import type { ProcessRow, ProcessTable } from '../disk/processTable';

/**
 * The processes of one session while it ends: those it began with and whatever descends from them, also once a parent has gone.
 * A process counts by pid and start time, never by pid alone.
 */
export class Following {
  private readonly known: Map<number, string>;
  /** Process sessions and groups seen on known processes, as of the last look. */
  private places = new Set<number>();
  /** Those that run, parents first. */
  running: ProcessRow[] = [];

  constructor(begin: readonly { pid: number; startTime: string }[]) {
    this.known = new Map(begin.filter(({ pid }) => pid > 1).map(({ pid, startTime }) => [pid, startTime]));
  }

  /** True for a process that belongs to it, by pid and start time. */
  has(pid: number, startTime: string | undefined): boolean {
    return startTime !== undefined && this.known.get(pid) === startTime;
  }

  /**
   * Looks at a new table: learns the descendants, and those that share a process session or group with one that is known.
   * `isOurs` names more processes that belong to it.
   */
  look(table: ProcessTable, children = childrenOf(table), isOurs: (row: ProcessRow) => boolean = () => false): void {
    const found = new Set<ProcessRow>();
    const take = (row: ProcessRow) => { for (const each of processTree(table, row.pid, children)) if (each.pid > 1) found.add(each); };
    for (const [pid, startTime] of this.known) {
      const row = table.get(pid);
      if (row?.startTime === startTime) take(row);
    }
    // Its number cannot pass to another session or group as long as one process is in it; from one look to the next it may be empty
    // but for a child born between, and then only a new leader of that number would say that it was given away.
    const places = new Set([...this.places].filter((place) => !table.has(place)));
    const mark = () => { for (const row of found) for (const place of [row.session, row.group]) if (place > 1) places.add(place); };
    mark();
    for (const row of table.values()) if (places.has(row.session) || places.has(row.group) || isOurs(row)) take(row);
    places.clear();
    mark();
    this.places = places;
    this.running = [...found];
    for (const row of found) this.known.set(row.pid, row.startTime);
  }
}

/** Signals one process, if it is still that very one. `denied`: the system does not allow it. */
export function signalProcess(row: ProcessRow, signal: 'SIGTERM' | 'SIGKILL'): 'sent' | 'ended' | 'denied' {
  if (row.pid <= 1 || !isRunning(row.pid, row.startTime)) return 'ended';
  try {
    process.kill(row.pid, signal);
    // A stopped process gets to its signal only when it goes on.
    if (signal === 'SIGTERM' && row.stopped) process.kill(row.pid, 'SIGCONT');
    return 'sent';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? 'denied' : 'ended';
  }
}
