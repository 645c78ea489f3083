import path from 'node:path';
import type { Agent, Frame } from './stateFile';
import { isFork, targetsWorkflow, type Transition } from './tags';
import { renderTemplate } from './template';

/** A workflow specifier resolved: its scope, the state to start at, and the name its workers are called by. */
export interface ResolvedWorkflow { scope_dir: string; entry: string; abbrev: string; scope_url?: string }

export interface TransitionContext {
  workflowId: string;
  /** Absolute, with `{{workflow_id}}` and `{{agent_id}}`. */
  taskFolderPattern: string;
  forkCounters: Readonly<Record<string, number>>;
  /** The ids of all agents now in the run. */
  agentIds: readonly string[];
  /** The runner's own directory, absolute: where an agent without one runs. */
  cwd: string;
  /** Variables this agent got from the `fork` that started it; for its first state. */
  vars: Readonly<Record<string, string>>;
  /** Finds the workflow that a specifier means from this agent's scope. */
  resolve(specifier: string, agent: Agent): ResolvedWorkflow | { error: string };
  now: Date;
}

export interface Applied {
  /** Null when it ended. Paused, at the state it was in, when the transition could not be applied (decision W8). */
  agent: Agent | null;
  worker: Agent | null;
  /** The payload with which the agent ended. */
  result: string | null;
  /** Variables for the worker's first state. */
  workerVars: Record<string, string>;
  /** The counters afterwards. */
  forkCounters: Record<string, number>;
}

/** How deep workflows may call workflows. */
const MAX_NESTING = 4;

/** Attributes of `fork` that mean something; every other one is a variable for the worker. */
const FORK_ATTRIBUTES = new Set(['next', 'cd', 'input', 'task']);

class Refused extends Error {}

/**
 * Applies one transition to one agent, names already resolved. Pure: the agent given is left as it is. Rules: raymond's table of
 * effects with decisions W1 (a frame always carries an absolute directory), W2b, W3 (reset keeps the stack), W4, W6 and W8.
 */
export function applyTransition(before: Agent, transition: Transition, context: TransitionContext): Applied {
  const unchanged = { worker: null, result: null, workerVars: {}, forkCounters: { ...context.forkCounters } };
  try {
    return { ...unchanged, ...effectOf(moved(before), before, transition, context) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...unchanged, agent: { ...before, stack: [...before.stack], status: 'paused', error: `${transition.tag}: ${error.message}` } };
  }
}

/** The session of the agent's next model turn, and whether it is forked (decision W2: read from the state, so that it outlives a crash). */
export function nextTurn(agent: Agent): { resume: string | null; fork: boolean } {
  return { resume: agent.session_id, fork: agent.session_id !== null && agent.stack.at(-1)?.session === agent.session_id };
}

/** An answered question: the agent goes on at its `next` with the answer as input. */
export function answerAsk(before: Agent, answer: string): Agent {
  return { ...moved(before), current_state: before.ask_next_state ?? before.current_state, pending_result: answer, pending_ask_id: before.ask_id };
}

/** The directory `cd` means: absolute as it is, else from the agent's directory, or the runner's where it has none. */
export function resolveDirectory(cd: string, agent: Agent, cwd: string): string {
  return path.resolve(cwd, agent.cwd ?? '', cd);
}

/** `reset`: the target with a fresh session. Stack, scope, depth and, without `cd`, directory stay. */
export function resetAgent(before: Agent, target: string, options: { cd?: string; input?: string }, cwd: string): Agent {
  const agent: Agent = { ...moved(before), current_state: target, session_id: null };
  if (options.cd !== undefined) agent.cwd = resolveDirectory(options.cd, before, cwd);
  return withInput(agent, options.input);
}

/** What every transition does first: a copy without the input, error and open question that belonged to the state it leaves. */
function moved(before: Agent): Agent {
  const agent: Agent = { ...before, stack: before.stack.map((frame) => ({ ...frame })) };
  for (const key of Object.keys(agent)) {
    if (key.startsWith('ask_') || ['pending_result', 'pending_ask_id', 'status', 'retry_count', 'error', 'continue_and_fork'].includes(key)) {
      Reflect.deleteProperty(agent, key);
    }
  }
  return agent;
}

function effectOf(agent: Agent, before: Agent, transition: Transition, context: TransitionContext): Pick<Applied, 'agent'> & Partial<Applied> {
  const { tag, target, attributes, payload } = transition;
  const input = targetsWorkflow(tag) ? rendered(attributes['input'], before, context) : attributes['input'];
  switch (tag) {
    case 'goto':
      return { agent: withInput({ ...agent, current_state: target }, input) };
    case 'reset': {
      const after = resetAgent(before, target, { cd: attributes['cd'], input }, context.cwd);
      return { agent: attributes['task'] === 'new' ? withNewTask(after, context) : after };
    }
    case 'call':
      return { agent: withInput({ ...pushed(agent, before, attributes, context), current_state: target }, input) };
    case 'function':
      return { agent: withInput({ ...pushed(agent, before, attributes, context), current_state: target, session_id: null }, input) };
    case 'call-workflow':
    case 'function-workflow':
      return { agent: withInput(intoWorkflow(agent, before, transition, context), input) };
    case 'reset-workflow': {
      const found = resolved(target, before, context);
      const after: Agent = { ...agent, current_state: found.entry, session_id: null, stack: [], ...scopeOf(found) };
      delete after.nesting_depth;
      if (attributes['cd'] !== undefined && attributes['cd'] !== '') after.cwd = resolveDirectory(attributes['cd'], before, context.cwd);
      return { agent: withInput(attributes['task'] === 'new' ? withNewTask(after, context) : after, input) };
    }
    case 'fork':
    case 'fork-workflow':
      return forked(agent, before, transition, input, context);
    case 'ask': {
      if (target === '') throw new Refused('it has no `next`');
      const nanoseconds = BigInt(context.now.getTime()) * 1_000_000n;
      const asking: Agent = {
        ...agent, status: 'asking', ask_prompt: payload, ask_next_state: target, ask_id: `ask_${agent.id}_${nanoseconds.toString()}`,
        ask_entered_at: context.now.toISOString(),
      };
      if (attributes['timeout']) asking.ask_timeout = attributes['timeout'];
      if (attributes['timeout_next']) asking.ask_timeout_next = attributes['timeout_next'];
      return { agent: asking };
    }
    case 'result':
      return agent.stack.length === 0 ? { agent: null, result: payload } : { agent: popped(agent, payload) };
  }
}

/** The input of the next state; an empty one is none. */
function withInput(agent: Agent, input: string | undefined): Agent {
  return input ? { ...agent, pending_result: input } : agent;
}

function rendered(input: string | undefined, before: Agent, context: TransitionContext): string | undefined {
  if (!input) return undefined;
  const pending: Record<string, string> = {};
  if (typeof before.pending_result === 'string') pending['input'] = before.pending_result;
  if (before.pending_ask_id) pending['ask_id'] = before.pending_ask_id;
  return renderTemplate(input, {
    ...pending, ...context.vars, workflow_id: context.workflowId, agent_id: before.id, task_folder: before.task_folder ?? '',
  });
}

/** The agent with a frame of the caller as it is now on top of its stack. */
function pushed(agent: Agent, before: Agent, attributes: Readonly<Record<string, string>>, context: TransitionContext): Agent {
  const state = attributes['return'];
  if (!state) throw new Refused('it has no `return`');
  const frame: Frame = { session: before.session_id, state };
  if (before.scope_dir !== undefined) frame.scope_dir = before.scope_dir;
  frame.cwd = path.resolve(context.cwd, before.cwd ?? '');
  if (before.nesting_depth !== undefined) frame.nesting_depth = before.nesting_depth;
  if (before.scope_url !== undefined) frame.scope_url = before.scope_url;
  if (before.task_folder !== undefined) frame.task_folder = before.task_folder;
  return { ...agent, stack: [...agent.stack, frame] };
}

/** Back in the caller. A frame that raymond wrote may lack directory, scope or task folder: the agent then keeps its own. */
function popped(agent: Agent, payload: string): Agent {
  const frame = agent.stack.at(-1);
  if (!frame) return agent;
  const after: Agent = { ...agent, current_state: frame.state, session_id: frame.session, stack: agent.stack.slice(0, -1), pending_result: payload };
  if (frame.cwd) after.cwd = frame.cwd;
  if (frame.scope_dir) after.scope_dir = frame.scope_dir;
  if (frame.task_folder) after.task_folder = frame.task_folder;
  for (const key of ['scope_url', 'nesting_depth'] as const) {
    if (frame[key] === undefined) Reflect.deleteProperty(after, key);
    else Object.assign(after, { [key]: frame[key] });
  }
  return after;
}

function resolved(specifier: string, before: Agent, context: TransitionContext): ResolvedWorkflow {
  const found = context.resolve(specifier, before);
  if ('error' in found) throw new Refused(found.error);
  return found;
}

/** The scope of another workflow; the address the agent's scope came from does not go along. */
function scopeOf(found: ResolvedWorkflow): { scope_dir: string; scope_url: string | undefined } {
  return { scope_dir: found.scope_dir, scope_url: found.scope_url };
}

function intoWorkflow(agent: Agent, before: Agent, { tag, target, attributes }: Transition, context: TransitionContext): Agent {
  // A conversation is found only from the directory it was made in, so one that is forked cannot move.
  if (tag === 'call-workflow' && attributes['cd'] !== undefined) throw new Refused('`cd` is not allowed here; function-workflow takes it');
  const depth = before.nesting_depth ?? 0;
  if (depth >= MAX_NESTING) throw new Refused(`nesting depth ${String(depth)}: workflows may call workflows ${String(MAX_NESTING)} deep`);
  const found = resolved(target, before, context);
  const after: Agent = { ...pushed(agent, before, attributes, context), current_state: found.entry, ...scopeOf(found), nesting_depth: depth + 1 };
  if (tag === 'function-workflow') {
    after.session_id = null;
    if (attributes['cd'] !== undefined) after.cwd = resolveDirectory(attributes['cd'], before, context.cwd);
  }
  return after;
}

function taskFolder(agentId: string, context: TransitionContext): string {
  return renderTemplate(context.taskFolderPattern, { workflow_id: context.workflowId, agent_id: agentId });
}

function withNewTask(agent: Agent, context: TransitionContext): Agent {
  const count = (agent.task_count ?? 0) + 1;
  return { ...agent, task_count: count, task_folder: taskFolder(`${agent.id}_task${String(count)}`, context) };
}

/** `fork` and `fork-workflow`: the parent goes on at `next` (without one, fork-workflow runs its own state again), a worker starts afresh. */
function forked(agent: Agent, before: Agent, transition: Transition, input: string | undefined, context: TransitionContext): Pick<Applied, 'agent'> & Partial<Applied> {
  const { tag, target, attributes } = transition;
  const next = attributes['next'];
  if (tag === 'fork' && !next) throw new Refused('it has no `next`');
  const parent: Agent = next ? { ...agent, current_state: next } : agent;
  const found = tag === 'fork-workflow' ? resolved(target, before, context) : undefined;
  // The name by which workers are called is cut to six bytes, not characters.
  const abbrev = firstBytes((found?.abbrev ?? path.parse(target).name).toLowerCase(), 6);
  const key = found ? `${before.id}_${abbrev}` : before.id;
  const taken = new Set(context.agentIds);
  let number = (Object.hasOwn(context.forkCounters, key) ? (context.forkCounters[key] ?? 0) : 0) + 1;
  while (taken.has(`${before.id}_${abbrev}${String(number)}`)) number += 1;
  const id = `${before.id}_${abbrev}${String(number)}`;

  const worker: Agent = { id, current_state: found?.entry ?? target, session_id: null, stack: [] };
  const cwd = attributes['cd'] !== undefined ? resolveDirectory(attributes['cd'], before, context.cwd) : found ? before.cwd : undefined;
  if (cwd !== undefined) worker.cwd = cwd;
  worker.scope_dir = found ? found.scope_dir : before.scope_dir;
  const url = found ? found.scope_url : before.scope_url;
  if (url !== undefined) worker.scope_url = url;
  if (found && before.nesting_depth !== undefined) worker.nesting_depth = before.nesting_depth;
  worker.task_folder = attributes['task'] === 'inherit' ? before.task_folder : taskFolder(id, context);
  const vars = isFork(tag) && !found ? Object.entries(attributes).filter(([name]) => !FORK_ATTRIBUTES.has(name)) : [];
  return {
    agent: parent, worker: withInput(worker, input), workerVars: Object.fromEntries(vars),
    forkCounters: { ...context.forkCounters, [key]: number },
  };
}

function firstBytes(text: string, count: number): string {
  return Buffer.from(text).subarray(0, count).toString();
}
