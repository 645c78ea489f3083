import type { CliConfig } from '../config/cliConfig';
import { Failure } from '../disk/failure';
import type { EndSessionStep } from '../plan/plan';
import type { Message } from '../../protocol/message';
import { terminalText } from '../workItems/ref';
import { isCallersOwn, isTerminalOf, ProcessFacts, processesOf } from './ownership';
import type { Caller, RecordedSession, SessionProcess } from './ownership';
import { isSafeTerminal, terminalOpenCommand } from './terminal';
import type { Inspection, TerminalCondition } from './tmux';

/** The data of an EndSessionStep; the verb adds item, reason, phase and `undo: 'none'`. */
export type EndingData = Pick<EndSessionStep, 'terminal' | 'processes' | 'keepTerminal' | 'graceSeconds' | 'tmux'>;

export interface Ending {
  ref: string;
  /** As tmux keeps it; empty when the session has none. */
  terminal: string;
  state: TerminalCondition | 'none';
  /** What is to be done; absent when there is nothing to end, or it must not be. */
  step?: EndingData;
  /** What ends, for a person, in the order in which it is signalled. */
  processes: SessionProcess[];
  /** Why it is not ended, though it may run: `foreign-terminal`, `shared-terminal`, `unsafe-name`. */
  problem?: Message;
  /** `agent-out-of-reach`, `harness-left-running`, `detached-processes`. */
  notices: Message[];
  /** The command that reads the terminal that is there and stays; null when it goes, is not there or is unknown. */
  open: string | null;
}

export interface EndingRequest {
  /** The config's close policy (`routing.tmux`). */
  policy: CliConfig['tmux'];
  /**
   * True (a reset): no process may outlive its record, so the harness is ended even where the config leaves it running at a close
   * (`killHarnessOnClose: false`). False (a stop): the config decides.
   */
  endAlways: boolean;
  caller: Caller;
  /** From `sharedTerminals`, over all live records. */
  shared: ReadonlyMap<string, string[]>;
  /** The conversation that each agent process says it runs now, by pid, where that is known. */
  conversations?: ReadonlyMap<number, string>;
}

/**
 * What ending these sessions means, one Ending for each, in their order; changes nothing. `inspection` has asked for their terminals.
 * The config's policy is the-loop's (reference §1.1): keep the terminal and end what runs in it, or end the terminal too.
 * Failure `own-session`, exit code 2: the caller is one of these sessions or runs in its terminal.
 */
export function prepareEndings(sessions: readonly RecordedSession[], inspection: Inspection, request: EndingRequest): Ending[] {
  refuseOwnSession(sessions, request.caller);
  const facts = new ProcessFacts(inspection.processes);
  return sessions.map((session) => prepareEnding(session, inspection, facts, request));
}

/** Failure `own-session`, exit code 2, when the caller is the conversation of one of these sessions (design §5). */
export function refuseOwnSession(sessions: readonly Pick<RecordedSession, 'ref' | 'harnessSessionId'>[], caller: Caller): void {
  const own = sessions.find(({ harnessSessionId }) => harnessSessionId !== '' && harnessSessionId === caller.harnessSessionId);
  if (own) throw ownSession(own.ref);
}

function prepareEnding(session: RecordedSession, inspection: Inspection, facts: ProcessFacts, request: EndingRequest): Ending {
  const name = terminalText(session.terminal);
  const terminal = inspection.terminals.get(name);
  const nothing: Ending = { ref: session.ref, terminal: name, state: terminal?.state ?? 'unknown', processes: [], notices: [], open: null };
  if (name === '') return { ...nothing, state: 'none' };
  if (!isSafeTerminal(name)) return { ...nothing, problem: { kind: 'unsafe-name', message: `Its terminal ${JSON.stringify(name)} is no terminal of a loop, so it is not touched.` } };
  if (terminal === undefined || terminal.state === 'unknown') {
    const why = terminal?.why ?? 'its terminal was not looked for';
    return { ...nothing, notices: [{ kind: 'agent-out-of-reach', message: `Its agent cannot be reached from here and may go on: ${why.replace(/\.$/, '')}.` }] };
  }
  if (terminal.state === 'absent') return nothing;

  const open = terminalOpenCommand(name, inspection.tmux);
  const { ours, why } = isTerminalOf(session, terminal, facts, request.conversations);
  if (!ours) return { ...nothing, open, problem: { kind: 'foreign-terminal', message: `The terminal ${name} is not ended, as it is not this session's: ${why} (${open}).` } };
  const { own, detached } = processesOf(session, terminal, facts);
  if (isCallersOwn(request.caller.pid, inspection.processes, own)) throw ownSession(session.ref);
  const others = request.shared.get(name);
  if (others) return { ...nothing, open, problem: { kind: 'shared-terminal', message: `Its terminal ${name} is not ended, as several live records name it: ${others.join(', ')} (${open}).` } };

  const keepTerminal = request.policy.keepSessionOnClose;
  const notices: Message[] = [];
  if (detached.length > 0) {
    const list = detached.map(({ pid, command }) => `${String(pid)} ${command}`).join('; ');
    notices.push({ kind: 'detached-processes', message: `Processes that left its terminal and work elsewhere go on: ${list}.` });
  }
  if (keepTerminal && !request.policy.killHarnessOnClose && !request.endAlways) {
    if (own.length > 0) notices.push({ kind: 'harness-left-running', message: `Its agent goes on in ${name}, as routing.tmux.killHarnessOnClose is false.` });
    return { ...nothing, notices, open };
  }
  const left = { ...nothing, notices, open: keepTerminal ? open : null };
  if (own.length === 0 && keepTerminal) return left;
  const processes = own.map(({ pid, startTime }) => ({ pid, startTime }));
  return { ...left, processes: own, step: { terminal: name, processes, keepTerminal, graceSeconds: graceOf(request.policy.harnessKillGraceSeconds), tmux: inspection.tmux } };
}

/** Seconds, whatever the config says: not below 0 and not beyond an hour. */
function graceOf(seconds: number): number {
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 3600) : 5;
}

function ownSession(ref: string): Failure {
  return new Failure('own-session', `${ref} is the session this command runs in; an agent does not end itself.`, 'Run it from another terminal.', 2, { ref });
}
