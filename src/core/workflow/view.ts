import path from 'node:path';
import type { Attention } from '../../protocol/plan';
import type { AgentView, AskView, FrameView, RunView } from '../../protocol/workflow';
import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { executionOf, type Execution, type RaymondProcess } from './execution';
import { listRunFiles, MAX_RUN_BYTES, writtenAt, type RunFile } from './runs';
import { NO_TIME, parseRunState, type Agent, type Frame, type RunState } from './stateFile';
import { nextTurn } from './transition';

/** The names commands take for the agents of a run: ids, and `#2` behind one that an earlier agent has too (raymond could give one twice). */
export function agentNames(agents: readonly Agent[]): string[] {
  const seen = new Map<string, number>();
  return agents.map(({ id }) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${String(count)}`;
  });
}

export function frameView(frame: Frame): FrameView {
  return {
    returnsTo: frame.state, session: frame.session, directory: frame.cwd || null, scope: frame.scope_dir || null, taskFolder: frame.task_folder || null,
    nestingDepth: frame.nesting_depth ?? 0,
  };
}

/** The return stack as it is shown: the top, to which the next result goes, first. */
export function stackView(agent: Agent): FrameView[] {
  return agent.stack.map(frameView).reverse();
}

export function agentView(agent: Agent, name: string): AgentView {
  const status = agent.status === 'paused' || agent.status === 'asking' || agent.status === 'failed' ? agent.status : 'active';
  return {
    name, state: agent.current_state, status, session: agent.session_id, forks: nextTurn(agent).fork, directory: agent.cwd || null,
    scope: agent.scope_dir || null, nestingDepth: agent.nesting_depth ?? 0, taskFolder: agent.task_folder || null,
    depth: agent.stack.length, returnsTo: agent.stack.at(-1)?.state ?? null, input: agent.pending_result ?? null,
    ask: status === 'asking' ? askView(agent) : null, error: agent.error || null, retries: agent.retry_count ?? 0,
  };
}

function askView(agent: Agent): AskView {
  const since = agent.ask_entered_at ?? NO_TIME;
  return {
    id: agent.ask_id ?? '', prompt: agent.ask_prompt ?? '', next: agent.ask_next_state ?? '', since: since === NO_TIME ? null : since,
    timeout: agent.ask_timeout || null, timeoutNext: agent.ask_timeout_next || null,
  };
}

/** The name of a workflow: its folder or file, and what it lies in where that says nothing. */
export function workflowName(scopeDirectory: string): string {
  return path.basename(scopeDirectory).replace(/\.(ya?ml|zip)$/i, '') || scopeDirectory;
}

/** What a view needs to know besides the file: the directory, what runs, and the time (real, milliseconds since 1970). */
export interface Surroundings { raymond: string; processes: readonly RaymondProcess[]; now: number }

export function runView(file: RunFile, run: RunState, around: Surroundings): RunView {
  const written = writtenAt(file.path);
  const execution = executionOf(file, around.raymond, Date.parse(run.started_at), around.processes);
  const names = agentNames(run.agents);
  const agents = run.agents.map((agent, index) => agentView(agent, names[index] ?? agent.id));
  return {
    id: file.id, workflow: workflowName(run.scope_dir), scope: run.scope_dir, path: file.path, readOnly: file.readOnly,
    execution: execution.kind, executionSentence: executionSentence(execution, written, around.now, file.readOnly),
    writtenAt: written === undefined ? null : new Date(written).toISOString(), startedAt: run.started_at === NO_TIME ? null : run.started_at,
    costUsd: run.total_cost_usd, budgetUsd: run.budget_usd > 0 ? run.budget_usd : null, agents, attention: attentionOf(file, agents),
  };
}

/** A file that cannot be read as a run is shown, with the reason, and left alone. */
function unreadableView(file: RunFile, problem: string): RunView {
  const written = writtenAt(file.path);
  return {
    id: file.id, workflow: '', scope: '', path: file.path, readOnly: file.readOnly, execution: 'unknown', executionSentence: 'unreadable',
    writtenAt: written === undefined ? null : new Date(written).toISOString(), startedAt: null, costUsd: 0, budgetUsd: null, agents: [],
    attention: [{ kind: 'unreadable', since: null, sentence: problem, command: '' }], problem,
  };
}

/** Reads one run for showing it. Failures: `unreadable-run`, `no-such-run` when it ended meanwhile, and those of reading. */
export function readRun(reader: Reader, file: RunFile): RunState {
  const text = reader.text(file.path, MAX_RUN_BYTES);
  if (text === undefined) throw new Failure('no-such-run', `The run ${file.id} is gone: it has ended.`, 'See `loopkeeper workflow list`.', 1);
  return parseRunState(text, file.path);
}

const NEED = ['asks-you', 'failed', 'unreadable'];

/** All runs of a directory: what needs a person first, then by when they were written, newest first. */
export function listRuns(reader: Reader, around: Surroundings): RunView[] {
  const views = listRunFiles(reader, around.raymond).flatMap((file) => {
    try {
      return [runView(file, readRun(reader, file), around)];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return error.kind === 'no-such-run' ? [] : [unreadableView(file, error.message)];
    }
  });
  const rank = (view: RunView): number => Math.min(NEED.length, ...view.attention.map(({ kind }) => NEED.indexOf(kind)));
  return views.sort((a, b) => rank(a) - rank(b) || (b.writtenAt ?? '').localeCompare(a.writtenAt ?? '') || a.id.localeCompare(b.id));
}

function attentionOf(file: RunFile, agents: readonly AgentView[]): Attention[] {
  const command = `loopkeeper workflow show ${file.id}`;
  return agents.flatMap((agent): Attention[] => {
    if (agent.ask) return [{ kind: 'asks-you', since: agent.ask.since, sentence: `${agent.name} asks: ${firstLine(agent.ask.prompt)}`, command }];
    if (agent.status === 'active') return [];
    return [{ kind: 'failed', since: null, sentence: `${agent.name} is paused at ${agent.state}${agent.error === null ? '' : `: ${firstLine(agent.error)}`}`, command }];
  });
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

export function executionSentence(execution: Execution, written: number | undefined, now: number, readOnly: boolean): string {
  const when = written === undefined ? 'gone meanwhile' : `written ${ageOf(now - written)} ago`;
  switch (execution.kind) {
    case 'loopkeeper': return `running: Loopkeeper, pid ${String(execution.holder.pid)}; ${when}`;
    case 'raymond': return `running: raymond seems to be at it, pid ${String(execution.pid)}; ${when}`;
    case 'stopped': return `stopped: the Loopkeeper that ran it has ended; ${when}`;
    case 'unknown':
      if (execution.elsewhere) return `unknown here: Loopkeeper on ${execution.elsewhere.host.split(' ')[0] ?? ''} has it; ${when}`;
      return `running or stopped: unknown, ${when}${readOnly ? ' by raymond\'s daemon' : ''}`;
  }
}

/** A span of time as a person says it: `20 s`, `5 min`, `3 h`, `12 days`. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${String(seconds)} s`;
  if (seconds < 7200) return `${String(Math.round(seconds / 60))} min`;
  return seconds < 172_800 ? `${String(Math.round(seconds / 3600))} h` : `${String(Math.round(seconds / 86_400))} days`;
}
