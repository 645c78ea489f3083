import fs from 'node:fs';
import path from 'node:path';
import { argumentsOf, childrenOf, directoryOf, environmentOf, lineOf, processTree } from '../disk/processTable';
import type { ProcessRow, ProcessTable } from '../disk/processTable';
import type { Pane, Terminal } from './tmux';

/** What a record says of a session. */
export interface RecordedSession {
  /** Its item, for messages and results. */
  ref: string;
  /** As recorded; tmux keeps a dot or colon as `_`. */
  terminal: string;
  cwd: string;
  harness: string;
  harnessSessionId: string;
}

/** A process of a session, as a person is told of it. */
export interface SessionProcess { pid: number; startTime: string; command: string }

/** What is known of a process beyond the table; a test puts its own here. */
export interface ProcessDetails {
  arguments(pid: number): string[];
  environment(pid: number): string[] | undefined;
  directory(pid: number): string | undefined;
}
const systemDetails: ProcessDetails = { arguments: argumentsOf, environment: environmentOf, directory: directoryOf };

/** The processes of one moment with what is asked of them for many sessions: each is looked at once. */
export class ProcessFacts {
  readonly children: Map<number, ProcessRow[]>;
  private readonly argv = new Map<number, string[]>();
  private byPane: Map<string, ProcessRow[]> | undefined;

  constructor(readonly processes: ProcessTable, private readonly details: ProcessDetails = systemDetails) {
    this.children = childrenOf(processes);
  }

  tree(pid: number): ProcessRow[] {
    return processTree(this.processes, pid, this.children);
  }

  arguments(pid: number): string[] {
    const argv = this.argv.get(pid) ?? this.details.arguments(pid);
    this.argv.set(pid, argv);
    return argv;
  }

  directory(pid: number): string | undefined {
    return this.details.directory(pid);
  }

  /** The processes whose environment was inherited from this pane. */
  inheritedFrom(pane: Pick<Pane, 'serverPid' | 'paneId'>): ProcessRow[] {
    if (this.byPane === undefined) {
      this.byPane = new Map();
      for (const row of this.processes.values()) {
        const key = paneInherited(this.details.environment(row.pid));
        if (key !== undefined) this.byPane.set(key, [...(this.byPane.get(key) ?? []), row]);
      }
    }
    return this.byPane.get(paneKey(pane)) ?? [];
  }
}

/** A pane in a way that is the same for tmux and for what it leaves in environments. */
export function paneKey(pane: Pick<Pane, 'serverPid' | 'paneId'>): string {
  return `${String(pane.serverPid)} ${pane.paneId}`;
}

/** The pane a process descends from, by its environment: tmux gives each program TMUX=<socket>,<server pid>,<session> and TMUX_PANE. */
export function paneInherited(environment: string[] | undefined): string | undefined {
  const tmux = environment?.find((entry) => entry.startsWith('TMUX='));
  const pane = environment?.find((entry) => entry.startsWith('TMUX_PANE='))?.slice('TMUX_PANE='.length);
  const serverPid = tmux?.split(',').at(-2);
  return serverPid === undefined || pane === undefined ? undefined : `${serverPid} ${pane}`;
}

const CONVERSATION_FLAGS = ['--session-id', '--resume', '-r', '--session'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** From this length on an id is found inside a longer word, such as the path of its transcript. */
const TELLING_LENGTH = 16;

/**
 * Whether the terminal that bears a recorded session's name is that session's, and why (`why`: one clause for a person).
 *
 * The name alone proves nothing: two refs can share it, another loop's folder can hold the same item, a person can choose it.
 * The evidence, first that applies:
 *  1. a process in it, or the command it was opened with, carries the recorded conversation id, or `conversations` (the id that
 *     each agent process says it runs now, which a clear renews) has it → ours;
 *  2. a process in it carries the id of another conversation (`--session-id`, `--resume`) → not ours, even in the same directory:
 *     then another loop or a person works there, and a running turn of theirs is not ours to end;
 *  3. the terminal was opened in the recorded directory → ours (a script that stands for the harness, a conversation begun by hand);
 *  4. a process of the recorded harness is in the recorded directory → ours (the terminal was opened elsewhere, then `cd`);
 *  5. otherwise → not ours.
 */
export function isTerminalOf(
  session: RecordedSession, terminal: Terminal, facts: ProcessFacts, conversations: ReadonlyMap<number, string> = new Map(),
): { ours: boolean; why: string } {
  const rows = terminal.panes.flatMap((pane) => (pane.dead ? [] : facts.tree(pane.pid)));
  const argv = new Map(rows.map((row) => [row.pid, facts.arguments(row.pid)]));
  const words = [...argv.values()].flat().concat(terminal.panes.flatMap((pane) => pane.startCommand.split(/[\s"']+/)));
  const running = rows.flatMap((row) => conversations.get(row.pid) ?? []);
  const id = session.harnessSessionId;
  if (id !== '' && (running.includes(id) || words.some((word) => word === id || word.endsWith(`=${id}`) || (id.length >= TELLING_LENGTH && word.includes(id))))) {
    return { ours: true, why: 'it runs the recorded conversation' };
  }
  const other = [...running, ...[...argv.values()].flatMap(conversationsIn)].find((found) => found !== id);
  if (id !== '' && other !== undefined) return { ours: false, why: `it runs the conversation ${other}, not ${id}` };
  const recorded = realPath(session.cwd);
  if (recorded !== undefined && terminal.panes.some((pane) => [pane.startDirectory, pane.sessionDirectory].some((opened) => realPath(opened) === recorded))) {
    return { ours: true, why: 'it was opened in the recorded directory' };
  }
  const ofHarness = (pid: number) => (argv.get(pid) ?? []).slice(0, 2).some((word) => path.basename(word) === session.harness);
  if (recorded !== undefined && rows.some((row) => ofHarness(row.pid) && realPath(facts.directory(row.pid) ?? terminal.panes[0]?.directory ?? '') === recorded)) {
    return { ours: true, why: `${session.harness} runs in the recorded directory` };
  }
  return { ours: false, why: `it was opened in ${terminal.panes[0]?.startDirectory || 'an unknown directory'}, and nothing in it names the recorded conversation or directory` };
}

/** The conversations that a command line names by a flag; only ids that can be nothing else. */
function conversationsIn(argv: string[]): string[] {
  return argv.flatMap((word, i) => {
    const flag = CONVERSATION_FLAGS.find((name) => word === name || word.startsWith(`${name}=`));
    const value = flag === undefined ? undefined : word === flag ? argv[i + 1] : word.slice(flag.length + 1);
    return value !== undefined && UUID.test(value) ? [value] : [];
  });
}

/** Where a directory really is; the text itself, without a slash at its end, when it is not there. */
function realPath(directory: string): string | undefined {
  if (!path.isAbsolute(directory)) return undefined;
  try {
    return fs.realpathSync(directory);
  } catch {
    return path.resolve(directory);
  }
}

/**
 * The processes of a terminal: the whole tree below each pane; those that share a pane's process session, so a child whose parent
 * has ended too; and those whose environment was inherited from one of the panes and that are in the recorded directory (a
 * background process of the agent that detached itself). What was inherited but works elsewhere, a daemon that others may use by
 * now, is `detached`: named, not ended. Parents come before their children. The last two need Linux's /proc.
 */
export function processesOf(session: Pick<RecordedSession, 'cwd'>, terminal: Terminal, facts: ProcessFacts): { own: SessionProcess[]; detached: SessionProcess[] } {
  const own = new Map<number, ProcessRow>();
  const add = (rows: Iterable<ProcessRow>) => { for (const row of rows) if (row.pid > 1) own.set(row.pid, row); };
  const livePanes = terminal.panes.filter((pane) => !pane.dead);
  for (const pane of livePanes) add(facts.tree(pane.pid));
  const paneSessions = new Set(livePanes.map((pane) => pane.pid));
  for (const row of facts.processes.values()) if (paneSessions.has(row.session)) add(facts.tree(row.pid));

  const detached = new Map<number, ProcessRow>();
  const recorded = realPath(session.cwd);
  for (const row of terminal.panes.flatMap((pane) => facts.inheritedFrom(pane))) {
    if (own.has(row.pid)) continue;
    const directory = facts.directory(row.pid);
    const inside = recorded !== undefined && directory !== undefined && (directory === recorded || directory.startsWith(`${recorded}${path.sep}`));
    // A terminal server that was started here serves sessions that are not this one's.
    if (inside && !row.name.includes('tmux')) add(facts.tree(row.pid));
    else detached.set(row.pid, row);
  }
  const view = (row: ProcessRow): SessionProcess => ({ pid: row.pid, startTime: row.startTime, command: shown(facts.arguments(row.pid), row.name) });
  return { own: [...own.values()].map(view), detached: [...detached.values()].filter((row) => !own.has(row.pid)).map(view) };
}

function shown(argv: string[], name: string): string {
  const line = argv.join(' ') || name;
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** Who asks: the pid of this program and the conversation it runs in, if any (CLAUDE_CODE_SESSION_ID). */
export interface Caller { pid: number; harnessSessionId?: string }

/** True when ending these processes would end the caller too: it is one of them or runs below one. */
export function isCallersOwn(callerPid: number, processes: ProcessTable, ending: Iterable<{ pid: number }>): boolean {
  const line = lineOf(processes, callerPid);
  for (const { pid } of ending) if (line.has(pid)) return true;
  return false;
}
