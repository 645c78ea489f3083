import path from 'node:path';
import type { AgentReset } from '../../protocol/workflow';
import type { Message } from '../../protocol/message';
import { Failure } from '../disk/failure';
import { sha256 } from '../disk/hash';
import type { Reader } from '../disk/reader';
import type { PlanDraft } from '../plan/engine';
import { executionOf } from './execution';
import { findRunFile, MAX_RUN_BYTES, temporaryFiles, writtenAt } from './runs';
import { openWorkflow, refuseUnsupported, resolveState, type Platform } from './scope';
import { formatRunState, parseRunState, type Agent } from './stateFile';
import { resetAgent, resolveDirectory } from './transition';
import { agentNames, agentView, executionSentence, stackView, type Surroundings } from './view';

export interface ResetRequest {
  run: string;
  /** As `agentNames` gives it; may be left out where there is only one. */
  agent?: string;
  to: string;
  cd?: string;
  input?: string;
  /** Where the person is: the base of a relative `cd` for an agent that has no directory of its own. */
  cwd: string;
  platform: Platform;
  /** Who asks, for the event. */
  actor?: string;
  /** The conversation that the command runs in, if any. */
  callerSession?: string;
}

/** The pieces that go, in the order in which they are reported. */
const PIECES = ['session', 'input', 'question', 'error'];

/**
 * Plans the operator's own reset of one agent: to a state with a fresh session; return stack, workflow, directory, task folder and all else
 * stay. One write of raymond's state file, in raymond's form, undone byte for byte.
 * Failures, nothing touched: `no-such-run` (exit 1), `invalid-run-id`, `read-only-run`, `run-is-executed`, `no-such-agent`, `ambiguous-agent`,
 * `no-such-state`, `own-session`, `unsupported-scope` (exit 2), `unreadable-run`.
 */
export function planRunReset(reader: Reader, request: ResetRequest, around: Surroundings): { draft: PlanDraft; meaning: AgentReset } {
  const { raymond } = around;
  const file = findRunFile(reader, raymond, request.run);
  if (file.readOnly) throw new Failure('read-only-run', `The run ${file.id} belongs to raymond's daemon.`, 'Cancel it there; Loopkeeper only looks at serve-state.', 2);
  const oldText = reader.text(file.path, MAX_RUN_BYTES) ?? '';
  const run = parseRunState(oldText, file.path);
  const execution = executionOf(file, raymond, Date.parse(run.started_at), around.processes);
  const written = writtenAt(file.path);
  if (execution.kind === 'loopkeeper' || execution.kind === 'raymond' || (execution.kind === 'unknown' && execution.elsewhere)) {
    throw new Failure('run-is-executed', `The run ${file.id} is being executed (${executionSentence(execution, written, around.now, false)}).`, 'Stop it first, then reset.', 2);
  }
  const beingWritten = temporaryFiles(reader, file).find((temporary) => around.now - (writtenAt(temporary) ?? 0) < 60_000);
  if (beingWritten !== undefined) {
    throw new Failure('run-is-executed', `The run ${file.id} is being written: ${path.basename(beingWritten)} is there.`, 'Stop raymond first; a file that it left when it was killed no longer counts after a minute.', 2);
  }

  const names = agentNames(run.agents);
  const index = chooseAgent(names, run.agents, request.agent, file.id);
  const before = run.agents[index] as Agent;
  const name = names[index] ?? before.id;
  if (request.callerSession !== undefined && before.session_id === request.callerSession) {
    throw new Failure('own-session', `${name} is the session this command runs in; an agent does not reset itself.`, 'Let it answer with a reset tag, or run this from another terminal.', 2);
  }
  const warnings: Message[] = [];
  const target = resolveTarget(reader, before.scope_dir || run.scope_dir, request, warnings);
  const after = resetAgent(before, target, request, request.cwd);
  if (request.cd !== undefined) {
    const directory = resolveDirectory(request.cd, before, request.cwd);
    const open = before.stack.filter((frame) => !frame.cwd).map((frame) => frame.state);
    if (open.length > 0) {
      warnings.push({ kind: 'directory-reaches-caller', message: `raymond wrote no directory into the frame of ${open.join(', ')}: after the return the caller goes on in ${directory} too.` });
    }
    if (reader.kind(directory) !== 'directory') warnings.push({ kind: 'no-such-directory', message: `${directory} is no directory: the next turn of ${name} will fail there until it is.` });
  }

  const text = formatRunState({ ...run, agents: run.agents.map((agent, position) => (position === index ? after : agent)) });
  const gone = PIECES.filter((piece) => goes(piece, before));
  const meaning: AgentReset = { run: file.id, before: agentView(before, name), after: agentView(after, name), stack: stackView(before) };
  const unknown = executionSentence(execution, written, around.now, false);
  return {
    meaning,
    draft: {
      items: [{
        ref: file.id, found: true, live: false, errors: [], kept: keptOf(run.agents, before, after),
        notices: [
          // raymond holds no lock: a raymond that is not seen from here would write over it with its next transition.
          ...(execution.kind === 'unknown' ? [{ kind: 'execution-unknown', message: `${unknown}. If raymond is at it where that cannot be seen from here, stop it first: it would write its own state over this.` }] : []),
          ...(gone.includes('question') ? [{ kind: 'question-withdrawn', message: `The open question of ${name} is withdrawn.` }] : []),
        ],
        decision: { agent: name, from: before.current_state, to: target, session: before.session_id, stack: before.stack.map((frame) => frame.state), directory: after.cwd ?? null, input: after.pending_result ?? null },
      }],
      steps: [{
        kind: 'writeFile', item: file.id, path: file.path, root: raymond, before: sha256(oldText), after: sha256(text), content: { text }, undo: 'restore', phase: 0, pieces: gone,
        reason: `${name} goes from ${before.current_state} to ${target} with a fresh session, the return stack kept`,
      }],
      warnings,
      events: [{
        item: file.id, log: path.join(raymond, 'loopkeeper', 'events.jsonl'), root: raymond, source: 'loopkeeper', event: 'workflow.reset', piecesAs: 'removed',
        fields: { run: file.id, agent: name, from: before.current_state, to: target, session: before.session_id, stack: before.stack.length, actor: request.actor },
      }],
      pieceOrder: PIECES, keepTrash: true,
    },
  };
}

function goes(piece: string, agent: Agent): boolean {
  if (piece === 'session') return agent.session_id !== null;
  if (piece === 'input') return typeof agent.pending_result === 'string';
  return piece === 'question' ? agent.status === 'asking' : Boolean(agent.error);
}

function chooseAgent(names: readonly string[], agents: readonly Agent[], wanted: string | undefined, run: string): number {
  const all = names.join(', ');
  if (wanted === undefined) {
    if (names.length === 1) return 0;
    if (names.length === 0) throw new Failure('no-such-agent', `The run ${run} has no agents.`, 'Nothing is left to reset.', 2);
    throw new Failure('ambiguous-agent', `The run ${run} has ${String(names.length)} agents: ${all}.`, 'Say which one with --agent.', 2);
  }
  const index = names.indexOf(wanted.replace(/#1$/, ''));
  if (index < 0) throw new Failure('no-such-agent', `The run ${run} has no agent ${JSON.stringify(wanted.slice(0, 80))}; it has ${all}.`, 'Name one of them with --agent.', 2);
  if (agents.filter(({ id }) => id === wanted).length > 1) {
    throw new Failure('ambiguous-agent', `The run ${run} has several agents of the name ${wanted}: ${all}.`, `Say ${wanted}#1 for the first, ${wanted}#2 for the second.`, 2);
  }
  return index;
}

/** The state's file name. Where the workflow is not to be found from here, a name with its extension is taken as it is, with a warning. */
function resolveTarget(reader: Reader, scopeDirectory: string, request: ResetRequest, warnings: Message[]): string {
  refuseUnsupported(reader, scopeDirectory);
  if (reader.kind(scopeDirectory) === 'absent') {
    if (!/^[^/\\]+\.(md|sh|ps1|bat)$/.test(request.to)) {
      throw new Failure('no-such-state', `The workflow ${scopeDirectory} is not here, so it cannot be told which file the state ${request.to} is.`, 'Name the file of the state, with its extension.', 2);
    }
    warnings.push({ kind: 'state-not-checked', message: `The workflow ${scopeDirectory} is not here, so it was not checked that it has a state ${request.to}.` });
    return request.to;
  }
  const found = resolveState(openWorkflow(reader, scopeDirectory, request.platform).scope, request.to, request.platform);
  if ('error' in found) throw new Failure('no-such-state', found.message, 'Name a state of the workflow; `loopkeeper workflow show` lists them.', 2);
  return found.name;
}

/** What stays, and why: the stack first, since it is what the old reset lost. */
function keptOf(agents: readonly Agent[], before: Agent, after: Agent): { what: string; why: string }[] {
  const top = before.stack.at(-1);
  const others = agents.length - 1;
  return [
    top ? { what: 'return stack', why: `${String(before.stack.length)} deep; the next result goes back to ${top.state}` }
      : { what: 'return stack', why: 'it is empty; a result ends the agent' },
    ...(after.cwd === before.cwd ? [{ what: 'directory', why: before.cwd || 'where the runner is started' }] : []),
    { what: 'workflow', why: before.scope_dir || 'that of the run' },
    ...(before.task_folder ? [{ what: 'task folder', why: before.task_folder }] : []),
    { what: 'transcript', why: 'the old session stays in the agent program\'s own files' },
    ...(others > 0 ? [{ what: 'other agents', why: `${String(others)} of them, as they are` }] : []),
  ];
}
