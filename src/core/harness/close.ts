import { Failure, messageOf } from '../disk/failure';
import { childrenOf, environmentOf, readProcessTable } from '../disk/processTable';
import type { ProcessRow, ProcessTable } from '../disk/processTable';
import { Following, signalProcess } from './following';
import { isCallersOwn, paneInherited, paneKey } from './ownership';
import type { EndingData } from './prepareEndings';
import { isSafeTerminal, terminalOpenCommand } from './terminal';
import type { Tmux } from './terminal';
import { endTerminals, inspectionOf, keepAfterExit, listPanes } from './tmux';
import type { Listing, Terminal } from './tmux';

/** A clock that only moves forward, in milliseconds, and a way to wait on it. `sleep` also returns when the signal aborts. */
export interface MonotonicClock { milliseconds(): number; sleep(milliseconds: number, signal?: AbortSignal): Promise<void> }

/**
 * `done`: it ran and has ended. `already`: nothing of it ran any more. `failed`, with one of these kinds:
 * `unsafe-name` · `own-session` · `tmux-unreachable` and `remain-on-exit` (nothing was signalled) · `changed` (something else runs in the
 * terminal by now; it was left alone) · `not-permitted` · `still-running` · `terminal-stays` · `no-processes` · `aborted`.
 */
export interface EndResult {
  status: 'done' | 'already' | 'failed';
  kind?: string;
  /** One sentence, present when it failed. */
  message?: string;
}

export interface EndOptions {
  signal?: AbortSignal;
  clock: MonotonicClock;
  /** The pid of this program: neither it nor what it runs under is ever signalled. */
  callerPid: number;
  /** How many of the sessions have no process left. */
  onProgress?(ended: number, total: number): void;
}

const POLL_MS = 100;
/** How long a process may take to go after SIGKILL before it is called still running (a disk that does not answer). */
const KILL_MS = 3000;

interface Work {
  step: EndingData;
  following: Following;
  result?: EndResult;
  /** Something of it ran, or its terminal was there to be ended. */
  wasThere: boolean;
  terminal?: Terminal;
  terms: Set<string>;
  denied: Set<number>;
}

/**
 * Ends sessions, all together: what is to stay readable is made to stay (remain-on-exit, set and read back), then every process of
 * every session gets SIGTERM, each checked by pid and start time just before, the grace runs for all at once, and what is left then,
 * with the children it had meanwhile, gets SIGKILL. Where the terminal goes, it goes last. Each effect is looked at before it is told.
 *
 * It can be run again after a crash: a pid that another process has by now is not touched. Gives one result for each step, in order;
 * it throws nothing but faults of its own. Rules: design §3, issue 3; the policy is the-loop's (reference §2.2).
 */
export async function endSessions(steps: readonly EndingData[], options: EndOptions): Promise<EndResult[]> {
  const works = steps.map((step): Work => ({ step, following: new Following(step.processes), wasThere: false, terms: new Set(), denied: new Set() }));
  try {
    const table = readProcessTable();
    for (const work of works) {
      work.following.look(table);
      work.wasThere = work.following.running.length > 0;
      if (!isSafeTerminal(work.step.terminal)) fail(work, 'unsafe-name', `${JSON.stringify(work.step.terminal)} is no terminal of a loop.`);
      else if (isCallersOwn(options.callerPid, table, work.following.running)) fail(work, 'own-session', 'This command runs in that session; nothing was ended.');
    }
    const terminals = await terminalsOf(works, table, options);
    for (const [work, terminal] of terminals) beforeSignals(work, terminal);
    await keepTerminals(works, options);
    await endProcesses(works, table, options);
    await settleTerminals(works, options);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    for (const work of works) fail(work, error.kind, error.kind === 'aborted' ? 'It was stopped before the session had ended for certain; it may still run.' : messageOf(error));
  }
  return works.map((work) => work.result ?? { status: work.wasThere ? 'done' : 'already' });
}

/** The first failure of a session counts. */
function fail(work: Work, kind: string, message: string): void {
  work.result ??= { status: 'failed', kind, message };
}

function isOpen(work: Work): boolean {
  return work.result === undefined;
}

/** The terminal of every open step, with one call of tmux for each server. */
async function terminalsOf(works: readonly Work[], table: ProcessTable, options: EndOptions): Promise<Map<Work, Terminal>> {
  const terminals = new Map<Work, Terminal>();
  for (const [tmux, group] of byServer(works.filter(isOpen))) {
    const listing: Listing = await listPanes(tmux, { signal: options.signal });
    const inspection = inspectionOf(group.map((work) => work.step), tmux, listing, table, () => true);
    for (const work of group) {
      const terminal = inspection.terminals.get(work.step.terminal);
      if (terminal) terminals.set(work, terminal);
    }
  }
  return terminals;
}

function byServer(works: readonly Work[]): [Tmux, Work[]][] {
  const groups = new Map<string, [Tmux, Work[]]>();
  for (const work of works) {
    const { tmux } = work.step;
    const key = JSON.stringify([tmux.command, tmux.socket]);
    const group = groups.get(key);
    if (group) group[1].push(work);
    else groups.set(key, [tmux, [work]]);
  }
  return [...groups.values()];
}

function beforeSignals(work: Work, terminal: Terminal): void {
  work.terminal = terminal;
  if (terminal.state === 'unknown') {
    // Nothing runs and nothing is to be kept or ended that could be seen: then there is nothing left to do.
    if (work.wasThere || !work.step.keepTerminal) fail(work, 'tmux-unreachable', `Its terminal cannot be reached, so nothing was signalled: ${(terminal.why ?? 'tmux does not answer').replace(/\.$/, '')}.`);
  } else if (terminal.state !== 'absent' && !work.step.keepTerminal) work.wasThere = true;
}

/** Sets remain-on-exit on all terminals that stay, before the first signal. */
async function keepTerminals(works: readonly Work[], options: EndOptions): Promise<void> {
  for (const [tmux, group] of byServer(works.filter((work) => isOpen(work) && work.step.keepTerminal))) {
    const panes = new Map(group.map((work) => [work, (work.terminal?.panes ?? []).filter((pane) => !pane.dead && work.following.has(pane.pid, pane.startTime))]));
    const all = [...panes.values()].flat();
    if (all.length === 0) continue;
    const notKept = await keepAfterExit(tmux, all, { signal: options.signal });
    for (const [work, own] of panes) {
      if (own.some((pane) => notKept.has(pane.paneId))) fail(work, 'remain-on-exit', `Its terminal would not stay readable (remain-on-exit cannot be set), so nothing was signalled; ${terminalOpenCommand(work.step.terminal, tmux)} opens it.`);
    }
  }
}

/** SIGTERM to all, one grace for all, SIGKILL to the rest. */
async function endProcesses(works: readonly Work[], before: ProcessTable, options: EndOptions): Promise<void> {
  const { clock, signal } = options;
  const started = clock.milliseconds();
  const total = works.length;
  let ended = -1;
  for (let round = 0; ; round += 1) {
    if (signal?.aborted) throw new Failure('aborted', 'The ending of the sessions was stopped.', 'Run the command again.');
    const table = readProcessTable();
    const open = works.filter(isOpen);
    // A process that was born since and detached itself at once has no parent to be known by, but its environment.
    const born = [...table.values()].filter((row) => before.get(row.pid)?.startTime !== row.startTime);
    const children = childrenOf(table);
    const from = new Map(born.map((row) => [row, paneInherited(environmentOf(row.pid))]));
    for (const work of open) {
      const panes = new Set(work.terminal?.panes.map(paneKey));
      work.following.look(table, children, (row) => panes.has(from.get(row) ?? ''));
    }
    const waited = clock.milliseconds() - started;
    for (const work of open) {
      if (isCallersOwn(options.callerPid, table, work.following.running)) fail(work, 'own-session', 'This command runs in that session; it was left alone.');
      else signalAll(work, round > 0 && waited >= work.step.graceSeconds * 1000 ? 'SIGKILL' : 'SIGTERM');
      if (waited >= work.step.graceSeconds * 1000 + KILL_MS && work.following.running.length > 0) {
        fail(work, 'still-running', `${pidsOf(work.following.running)} did not end, not even by SIGKILL.`);
      }
    }
    const left = works.filter((work) => isOpen(work) && work.following.running.length > 0).length;
    if (total - left !== ended) options.onProgress?.(ended = total - left, total);
    if (left === 0) return;
    await clock.sleep(POLL_MS, signal);
  }
}

function signalAll(work: Work, name: 'SIGTERM' | 'SIGKILL'): void {
  for (const row of work.following.running) {
    const identity = `${String(row.pid)} ${row.startTime}`;
    // Once is enough to be asked; SIGKILL is repeated for what may just have been born.
    if (work.denied.has(row.pid) || (name === 'SIGTERM' && work.terms.has(identity))) continue;
    work.terms.add(identity);
    if (signalProcess(row, name) === 'denied') work.denied.add(row.pid);
  }
  const denied = work.following.running.filter((row) => work.denied.has(row.pid));
  if (denied.length > 0 && denied.length === work.following.running.length) fail(work, 'not-permitted', `${pidsOf(denied)} cannot be ended from here, as another user's.`);
}

function pidsOf(rows: readonly ProcessRow[]): string {
  return `${rows.length === 1 ? 'Process' : 'Processes'} ${rows.map((row) => (row.name ? `${String(row.pid)} (${row.name})` : String(row.pid))).join(', ')}`;
}

/** When the processes have ended: nothing else may run in the terminal; where it is to go, it goes now. */
async function settleTerminals(works: readonly Work[], options: EndOptions): Promise<void> {
  const look = async (): Promise<void> => {
    for (const [work, terminal] of await terminalsOf(works, readProcessTable(), options)) {
      work.terminal = terminal;
      const live = terminal.panes.filter((pane) => !pane.dead);
      if (live.length > 0) fail(work, 'changed', `Something that was not there when the plan was made runs in its terminal (process ${live.map((pane) => `${String(pane.pid)}, ${pane.command}`).join('; ')}); it was left alone.`);
    }
  };
  await look();
  const going = works.filter((work) => isOpen(work) && !work.step.keepTerminal && work.terminal?.state !== 'absent');
  if (going.length === 0) return;
  for (const [tmux, group] of byServer(going)) await endTerminals(tmux, group.map((work) => work.step.terminal), { signal: options.signal });
  await look();
  for (const work of going) {
    if (work.terminal?.state !== 'absent') fail(work, 'terminal-stays', `Its processes have ended, but tmux did not end the terminal ${work.step.terminal}.`);
  }
}
