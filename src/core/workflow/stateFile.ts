import * as z from 'zod/mini';
import { Failure } from '../disk/failure';

/** An entry of the return stack: where a `result` goes back to, and with what. */
export const Frame = z.looseObject({
  session: z._default(z.nullable(z.string()), null),
  state: z.string(),
  scope_dir: z.optional(z.string()),
  cwd: z.optional(z.string()),
  nesting_depth: z.optional(z.number()),
  scope_url: z.optional(z.string()),
  task_folder: z.optional(z.string()),
});
export type Frame = z.infer<typeof Frame>;

/** One thread of a run. The top of its stack is the last entry; `null` there is read as empty. */
export const Agent = z.looseObject({
  id: z.string(),
  current_state: z.string(),
  session_id: z._default(z.nullable(z.string()), null),
  stack: z.pipe(z.optional(z.nullable(z.array(Frame))), z.transform((stack) => stack ?? [])),
  /** The input of the state; `""` is one, absent is none. */
  pending_result: z.optional(z.nullable(z.string())),
  pending_ask_id: z.optional(z.string()),
  /** Absent = the directory in which the runner was started. */
  cwd: z.optional(z.string()),
  scope_dir: z.optional(z.string()),
  scope_url: z.optional(z.string()),
  nesting_depth: z.optional(z.number()),
  /** Absent or empty = active; `paused`; `asking`. */
  status: z.optional(z.string()),
  retry_count: z.optional(z.number()),
  error: z.optional(z.string()),
  continue_and_fork: z.optional(z.boolean()),
  task_folder: z.optional(z.string()),
  task_count: z.optional(z.number()),
  ask_prompt: z.optional(z.string()),
  ask_next_state: z.optional(z.string()),
  ask_timeout: z.optional(z.string()),
  ask_timeout_next: z.optional(z.string()),
  ask_id: z.optional(z.string()),
  ask_file_affordance: z.optional(z.unknown()),
  ask_staged_files: z.optional(z.nullable(z.array(z.unknown()))),
  ask_entered_at: z.optional(z.string()),
});
export type Agent = z.infer<typeof Agent>;

/** A run as raymond keeps it in `.raymond/state/<id>.json`; unknown fields are kept. */
export const RunState = z.looseObject({
  workflow_id: z.string(),
  scope_dir: z.string(),
  total_cost_usd: z._default(z.number(), 0),
  /** 0 = no limit. */
  budget_usd: z._default(z.number(), 0),
  started_at: z._default(z.string(), '0001-01-01T00:00:00Z'),
  agents: z.pipe(z.optional(z.nullable(z.array(Agent))), z.transform((agents) => agents ?? [])),
  fork_counters: z.optional(z.nullable(z.record(z.string(), z.number()))),
  launch_params: z.optional(z.nullable(z.looseObject({}))),
  resolved_inputs: z.optional(z.nullable(z.array(z.unknown()))),
});
export type RunState = z.infer<typeof RunState>;

/** The time raymond writes where none is set. */
export const NO_TIME = '0001-01-01T00:00:00Z';

/** Reads a state file. Failure `unreadable-run`: no JSON, or not of a run's shape; the file is left alone. */
export function parseRunState(text: string, file: string): RunState {
  const refuse = (why: string): Failure => new Failure('unreadable-run', `${file} cannot be read as a workflow run: ${why}.`,
    'Look at the file; Loopkeeper leaves it as it is.');
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw refuse('it is no JSON');
  }
  const parsed = RunState.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw refuse(`${issue && issue.path.length > 0 ? issue.path.join('.') : 'the whole'} is not as expected`);
}

// raymond's own order of fields; `?` = left out when empty (`pending_result` and the two objects: only when absent).
const FRAME = ['session', 'state', 'scope_dir?', 'cwd?', 'nesting_depth?', 'scope_url?', 'task_folder?'];
const AGENT = [
  'id', 'current_state', 'session_id', 'stack', 'pending_result?', 'pending_ask_id?', 'cwd?', 'scope_dir?', 'scope_url?', 'nesting_depth?', 'status?',
  'retry_count?', 'error?', 'continue_and_fork?', 'task_folder?', 'task_count?', 'ask_prompt?', 'ask_next_state?', 'ask_timeout?', 'ask_timeout_next?',
  'ask_id?', 'ask_file_affordance?', 'ask_staged_files?', 'ask_entered_at',
];
const RUN = ['workflow_id', 'scope_dir', 'total_cost_usd', 'budget_usd', 'started_at', 'agents', 'fork_counters?', 'launch_params?', 'resolved_inputs?'];
const LAUNCH = ['dangerously_skip_permissions', 'model?', 'effort?', 'timeout?', 'continue_and_fork?', 'on_ask?'];

/**
 * The text of a state file in raymond's form: its order of fields, empty ones left out, two spaces, `<`, `>`, `&`, U+2028 and U+2029
 * escaped, a newline at the end. It adds no field of ours; fields raymond does not know stay behind the known ones.
 */
export function formatRunState(run: RunState): string {
  const counters = Object.entries(run.fork_counters ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const value = ordered(RUN, {
    ...run,
    agents: run.agents.map((agent) => ordered(AGENT, {
      ...agent,
      stack: agent.stack.map((frame) => ordered(FRAME, frame)),
      ask_entered_at: agent.ask_entered_at ?? NO_TIME,
    })),
    fork_counters: counters.length > 0 ? Object.fromEntries(counters) : undefined,
    launch_params: run.launch_params ? ordered(LAUNCH, { dangerously_skip_permissions: false, ...run.launch_params }) : undefined,
  });
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

function ordered(fields: readonly string[], value: Record<string, unknown>): Record<string, unknown> {
  const known = new Set(fields.map((field) => field.replace('?', '')));
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const name = field.replace('?', '');
    if (!field.endsWith('?') || !isEmpty(name, value[name])) entries.push([name, value[name]]);
  }
  for (const entry of Object.entries(value)) if (!known.has(entry[0])) entries.push(entry);
  return Object.fromEntries(entries);
}

function isEmpty(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (name === 'pending_result') return false;
  return value === '' || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}
