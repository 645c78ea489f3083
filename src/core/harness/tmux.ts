import fs from 'node:fs';
import path from 'node:path';
import { Failure, messageOf } from '../disk/failure';
import type { ProcessTable } from '../disk/processTable';
import { readProcessTable } from '../disk/processTable';
import { runProgram } from '../disk/run';
import { isSafeTerminal, safeTerminal, tmuxArguments } from './terminal';
import type { Tmux } from './terminal';

/** One pane as tmux tells it. `command` and `directory` are those of now, the `start…` ones those it was opened with. */
export interface Pane {
  terminal: string;
  sessionId: string;
  windowId: string;
  paneId: string;
  pid: number;
  /** Its program has ended and its last screen stays (remain-on-exit). */
  dead: boolean;
  serverPid: number;
  /** The value in force for this pane: on, off, failed. */
  remainOnExit: string;
  startDirectory: string;
  sessionDirectory: string;
  directory: string;
  command: string;
  startCommand: string;
}

/**
 * `running`: it answered. `stopped`: one ran here and has ended. `none`: none has run here for this user and socket.
 * `missing`: tmux itself cannot be started. `unreachable`: anything else (permissions, no answer in time).
 */
export type ServerState = 'running' | 'stopped' | 'none' | 'missing' | 'unreachable';

export interface Listing {
  server: ServerState;
  /** What tmux said, when it is not running. */
  why?: string;
  panes: Pane[];
  /** Terminals of which a line could not be read. */
  unreadable: Set<string>;
}

export interface TmuxOptions {
  signal?: AbortSignal;
  /** How long tmux may take for one answer. Default 10 s. */
  timeoutMs?: number;
}

// Everything a person can choose is shell-quoted (`q:`), so that a plain space only ever separates fields.
const FIELDS = [
  '#{q:session_name}', '#{session_id}', '#{window_id}', '#{pane_id}', '#{pane_pid}', '#{pane_dead}', '#{pid}', '#{q:remain-on-exit}',
  '#{q:pane_start_path}', '#{q:session_path}', '#{q:pane_current_path}', '#{q:pane_current_command}', '#{q:pane_start_command}',
];
const FORMAT = ['P', ...FIELDS].join(' ');

/** The panes in the output of `list-panes -F`; a line that is not whole makes its terminal `unreadable` (a line break in a path). */
export function parsePanes(text: string): Pick<Listing, 'panes' | 'unreadable'> {
  const panes: Pane[] = [];
  const unreadable = new Set<string>();
  for (const line of text.split('\n')) {
    if (!line.startsWith('P ')) continue;
    const fields = splitQuoted(line).slice(1);
    const [terminal = '', sessionId = '', windowId = '', paneId = '', pid = '', dead = '', serverPid = '', remainOnExit = '', startDirectory = '', sessionDirectory = '', directory = '', command = '', startCommand = ''] = fields;
    const whole = fields.length === FIELDS.length && /^\$\d+$/.test(sessionId) && /^@\d+$/.test(windowId) && /^%\d+$/.test(paneId) && /^\d+$/.test(pid) && /^\d+$/.test(serverPid);
    if (!whole) {
      unreadable.add(terminal);
      continue;
    }
    panes.push({
      terminal, sessionId, windowId, paneId, pid: Number(pid), dead: dead !== '' && dead !== '0', serverPid: Number(serverPid), remainOnExit,
      startDirectory, sessionDirectory, directory, command, startCommand,
    });
  }
  return { panes, unreadable };
}

/** Splits at plain spaces and takes the quoting off: `a\ b` is one field. */
function splitQuoted(line: string): string[] {
  const fields: string[] = [];
  let field = '';
  for (let i = 0; i < line.length; i += 1) {
    const c = line.charAt(i);
    if (c === '\\') field += line.charAt(i += 1);
    else if (c === ' ') {
      fields.push(field);
      field = '';
    } else field += c;
  }
  return [...fields, field];
}

/** Every pane of the server, by one call. It never fails but for the failure `aborted`: what went wrong is its `server` and `why`. */
export async function listPanes(tmux: Tmux, options: TmuxOptions = {}): Promise<Listing> {
  const nothing = (server: ServerState, why: string): Listing => ({ server, why, panes: [], unreadable: new Set() });
  try {
    const { code, stdout, stderr } = await runTmux(tmux, ['list-panes', '-a', '-F', FORMAT], options);
    if (code === 0) return { server: 'running', ...parsePanes(stdout.toString('utf8')) };
    const said = stderr.trim();
    if (/^no server running/m.test(said)) return nothing('stopped', said);
    if (/^error connecting to .*\(No such file or directory\)/m.test(said)) return nothing('none', said);
    return nothing('unreachable', said || `tmux ended with code ${String(code)}`);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'aborted') throw error;
    const missing = error instanceof Failure && error.kind === 'program-missing';
    return nothing(missing ? 'missing' : 'unreachable', messageOf(error));
  }
}

function runTmux(tmux: Tmux, args: string[], options: TmuxOptions) {
  return runProgram(tmux.command, [...tmuxArguments(tmux), ...args], { signal: options.signal, timeoutMs: options.timeoutMs ?? 10_000 });
}

/** `live`: a program runs in it. `dead`: it has ended and the last screen stays. `absent`: there is none. `unknown`: it cannot be told from here. */
export type TerminalCondition = 'live' | 'dead' | 'absent' | 'unknown';

/** A pane with the process in it; `startTime` is absent when that has ended. */
export interface TerminalPane extends Pane { startTime?: string }

export interface Terminal {
  name: string;
  state: TerminalCondition;
  /** Why it is unknown: one clause. */
  why?: string;
  panes: TerminalPane[];
}

/** Terminals and processes at one moment. */
export interface Inspection {
  tmux: Tmux;
  server: ServerState;
  terminals: Map<string, Terminal>;
  /** Empty when no terminal is there. */
  processes: ProcessTable;
}

/**
 * What is in the terminals that records name, with one call of tmux for all of them. `cwd`: the directory the record gives.
 *
 * `absent` means that the agent has ended, so it is only said where this is the record's own machine: tmux answers, or none runs
 * here, and the record's directory is here. Otherwise, and when tmux is missing, out of reach, or answers from another pid
 * namespace (its server or its panes are no processes here), the terminal is `unknown` (editor.md, Environments; issue 3).
 * It cannot see a server under another TMUX_TMPDIR or another user. Failures: `aborted`, `no-processes`.
 */
export async function inspectTerminals(asked: readonly { terminal: string; cwd?: string }[], tmux: Tmux, options: TmuxOptions = {}): Promise<Inspection> {
  const listing = await listPanes(tmux, options);
  // Without a pane there is nothing to look up, and a system without tmux may not tell its processes either.
  return inspectionOf(asked, tmux, listing, listing.panes.length > 0 ? readProcessTable() : new Map(), isDirectory);
}

/** As `inspectTerminals`, from what was read already. */
export function inspectionOf(
  asked: readonly { terminal: string; cwd?: string }[], tmux: Tmux, listing: Listing, processes: ProcessTable, directoryIsHere: (directory: string) => boolean,
): Inspection {
  const byName = new Map<string, Pane[]>();
  for (const pane of listing.panes) {
    const panes = byName.get(pane.terminal);
    if (panes) panes.push(pane);
    else byName.set(pane.terminal, [pane]);
  }
  const terminals = new Map<string, Terminal>();
  for (const { terminal: name, cwd } of asked) {
    const unknown = (why: string): Terminal => ({ name, state: 'unknown', why, panes: [] });
    const elsewhere = cwd !== undefined && cwd !== '' && !directoryIsHere(cwd);
    const panes = byName.get(name) ?? [];
    if (!isSafeTerminal(name)) terminals.set(name, unknown('its name is no name of a loop\'s terminal'));
    else if (listing.server === 'missing' || listing.server === 'unreachable') terminals.set(name, unknown(listing.why ?? 'tmux does not answer'));
    else if (listing.unreadable.has(name)) terminals.set(name, unknown('tmux describes it in a way that cannot be read'));
    else if (panes.some((pane) => isOfAnotherSpace(pane, tmux, processes))) terminals.set(name, unknown('its processes are none of this machine or container'));
    else if (panes.length > 0) terminals.set(name, terminalOf(name, panes, processes));
    else if (elsewhere) terminals.set(name, unknown(`tmux has no such terminal here, nor is there a directory ${cwd}: it may be on another machine or in another container`));
    else terminals.set(name, { name, state: 'absent', panes: [] });
  }
  return { tmux, server: listing.server, terminals, processes };
}

function terminalOf(name: string, listed: Pane[], processes: ProcessTable): Terminal {
  const panes = listed.map((pane): TerminalPane => {
    const row = pane.dead ? undefined : processes.get(pane.pid);
    // It may have ended since tmux answered.
    return row ? { ...pane, startTime: row.startTime } : { ...pane, dead: true };
  });
  return { name, state: panes.some((pane) => !pane.dead) ? 'live' : 'dead', panes };
}

/** The server is a process here, named as tmux, and the pane's process is its child; anything else are pids of another namespace. */
function isOfAnotherSpace(pane: Pane, tmux: Tmux, processes: ProcessTable): boolean {
  const server = processes.get(pane.serverPid);
  if (!server) return true;
  if (server.name !== '' && !server.name.includes('tmux') && !server.name.startsWith(path.basename(tmux.command).slice(0, 8))) return true;
  const row = pane.dead ? undefined : processes.get(pane.pid);
  return row !== undefined && row.parent !== pane.serverPid;
}

function isDirectory(directory: string): boolean {
  try {
    return fs.statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** Exactly this pane, never another that begins with the same name; tmux checks that window and pane belong to the session. */
function targetOf(pane: Pane, what: 'window' | 'pane'): string {
  const window = `=${safeTerminal(pane.terminal)}:${pane.windowId}`;
  return what === 'window' ? window : `${window}.${pane.paneId}`;
}

/**
 * Makes panes stay after their program ends, and reads it back. Gives the ids of the panes for which it is not in force.
 * A pane's own setting comes before its window's, so where the window's is not enough the pane's is set too.
 */
export async function keepAfterExit(tmux: Tmux, panes: readonly Pane[], options: TmuxOptions = {}): Promise<Set<string>> {
  const missing = async () => {
    const kept = new Set((await listPanes(tmux, options)).panes.filter((pane) => pane.remainOnExit === 'on').map((pane) => pane.paneId));
    return new Set(panes.map((pane) => pane.paneId).filter((id) => !kept.has(id)));
  };
  const set = (pane: Pane, what: 'window' | 'pane') => ['set-option', what === 'window' ? '-w' : '-p', '-t', targetOf(pane, what), 'remain-on-exit', 'on'];
  await runAll(tmux, panes.map((pane) => set(pane, 'window')), options);
  let left = await missing();
  if (left.size > 0) {
    await runAll(tmux, panes.filter((pane) => left.has(pane.paneId)).map((pane) => set(pane, 'pane')), options);
    left = await missing();
  }
  return left;
}

/** Ends terminals with all that is in them. What is still there afterwards shows in `listPanes`. */
export async function endTerminals(tmux: Tmux, names: readonly string[], options: TmuxOptions = {}): Promise<void> {
  await runAll(tmux, names.map((name) => ['kill-session', '-t', `=${safeTerminal(name)}`]), options);
}

/** Many commands of tmux in few calls; one that fails (a terminal that has just gone) does not keep the others from running. */
async function runAll(tmux: Tmux, commands: string[][], options: TmuxOptions): Promise<void> {
  // A client's message to the server holds 16 KB.
  for (let start = 0; start < commands.length;) {
    let size = 0;
    let end = start;
    for (; end < commands.length && (end === start || size < 8000); end += 1) size += (commands[end] ?? []).join(' ').length + 3;
    const chunk = commands.slice(start, end);
    const done = await succeeds(tmux, chunk.flatMap((command, i) => (i === 0 ? command : [';', ...command])), options);
    if (!done && chunk.length > 1) for (const command of chunk) await succeeds(tmux, command, options);
    start = end;
  }
}

async function succeeds(tmux: Tmux, args: string[], options: TmuxOptions): Promise<boolean> {
  try {
    return (await runTmux(tmux, args, options)).code === 0;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'aborted') throw error;
    return false; // what was not done is seen when it is read back
  }
}
