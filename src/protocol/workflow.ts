import * as z from 'zod/mini';
import { Message } from './message';
import { Attention, PlanReply } from './plan';

/** Something lint says about a workflow. Lines and columns count from 1; `endColumn` is on the same line. */
export const Diagnostic = z.object({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  endColumn: z.number(),
  severity: z.enum(['error', 'warning', 'info']),
  check: z.string(),
  message: z.string(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;

/** An entry of the return stack: what a result goes back to. */
export const FrameView = z.object({
  returnsTo: z.string(),
  /** The conversation that goes on there; null = a fresh one. */
  session: z.nullable(z.string()),
  /** Null = the agent keeps the directory it is in (frames that raymond wrote for a caller without one). */
  directory: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  taskFolder: z.nullable(z.string()),
  nestingDepth: z.number(),
});
export type FrameView = z.infer<typeof FrameView>;

export const AskView = z.object({
  id: z.string(), prompt: z.string(), next: z.string(), since: z.nullable(z.string()), timeout: z.nullable(z.string()), timeoutNext: z.nullable(z.string()),
});
export type AskView = z.infer<typeof AskView>;

/** One thread of a run. */
export const AgentView = z.object({
  /** As commands take it: its id, with `#2` behind it where an earlier agent of the run has the same. */
  name: z.string(),
  state: z.string(),
  status: z.enum(['active', 'paused', 'asking', 'failed']),
  session: z.nullable(z.string()),
  /** The next model turn forks that session, which is still the caller's. */
  forks: z.boolean(),
  /** Null = where the runner is started. */
  directory: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  nestingDepth: z.number(),
  taskFolder: z.nullable(z.string()),
  /** How deep the return stack is, and the state the next result goes back to. */
  depth: z.number(),
  returnsTo: z.nullable(z.string()),
  /** The input that waits for the state; `""` is one. */
  input: z.nullable(z.string()),
  ask: z.nullable(AskView),
  error: z.nullable(z.string()),
  retries: z.number(),
});
export type AgentView = z.infer<typeof AgentView>;

export const RunView = z.object({
  id: z.string(),
  /** The name of its folder or file. */
  workflow: z.string(),
  scope: z.string(),
  path: z.string(),
  /** It belongs to raymond's daemon, so it can only be looked at. */
  readOnly: z.boolean(),
  /** `loopkeeper`: executed by us now. `raymond`: a process of it seems to be at it. `stopped`: ours, and it ended. */
  execution: z.enum(['loopkeeper', 'raymond', 'stopped', 'unknown']),
  /** The same as a sentence, with how long ago the file was written. */
  executionSentence: z.string(),
  writtenAt: z.nullable(z.string()),
  startedAt: z.nullable(z.string()),
  costUsd: z.number(),
  /** Null = no limit. */
  budgetUsd: z.nullable(z.number()),
  agents: z.array(AgentView),
  attention: z.array(Attention),
  /** Why the file cannot be read, one sentence; the rest is then empty. */
  problem: z.optional(z.string()),
});
export type RunView = z.infer<typeof RunView>;

export const WorkflowListReply = z.object({
  verb: z.literal('workflow-list'),
  /** The `.raymond` directory that was found, or null. */
  directory: z.nullable(z.string()),
  /** What needs a person first, then by when they were written. */
  runs: z.array(RunView),
  warnings: z.array(Message),
});
export type WorkflowListReply = z.infer<typeof WorkflowListReply>;

export const WorkflowShowReply = z.object({
  verb: z.literal('workflow-show'),
  directory: z.string(),
  run: RunView,
  /** The return stack of each agent, in their order, its top first. */
  stacks: z.array(z.array(FrameView)),
  /** The states of each agent's workflow, in their order, by name; empty where it cannot be read from here. */
  states: z.array(z.array(z.string())),
  warnings: z.array(Message),
});
export type WorkflowShowReply = z.infer<typeof WorkflowShowReply>;

/** What the reset of an agent changes, and the stack that stays, its top first. */
export const AgentReset = z.object({
  run: z.string(),
  before: AgentView,
  after: AgentView,
  stack: z.array(FrameView),
});
export type AgentReset = z.infer<typeof AgentReset>;

export const WorkflowResetReply = z.extend(PlanReply, { reset: AgentReset });
export type WorkflowResetReply = z.infer<typeof WorkflowResetReply>;

export const WorkflowLintReply = z.object({
  verb: z.literal('workflow-lint'),
  workflow: z.string(),
  diagnostics: z.array(Diagnostic),
  /** Of all severities, also those that `--level` leaves out. */
  counts: z.object({ error: z.number(), warning: z.number(), info: z.number() }),
  warnings: z.array(Message),
});
export type WorkflowLintReply = z.infer<typeof WorkflowLintReply>;

export const WorkflowDiagramReply = z.object({
  verb: z.literal('workflow-diagram'),
  workflow: z.string(),
  /** A Mermaid flowchart. */
  mermaid: z.string(),
  warnings: z.array(Message),
});
export type WorkflowDiagramReply = z.infer<typeof WorkflowDiagramReply>;

export const WorkflowGuideReply = z.object({ verb: z.literal('workflow-guide'), text: z.string(), warnings: z.array(Message) });
export type WorkflowGuideReply = z.infer<typeof WorkflowGuideReply>;
