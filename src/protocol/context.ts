import * as z from 'zod/mini';
import { Message } from './message';
import { PlanReply } from './plan';

export const PolicyKey = z.enum(['enabled', 'phaseBoundary', 'taskBoundary', 'midTask']);
export const PolicyValue = z.union([z.boolean(), z.enum(['clear', 'compact', 'off'])]);

/** A value in force: from the policy file, from a spec file's front matter (`override`), or nowhere (`default`). */
export const PolicyValueView = z.object({
  key: PolicyKey, value: PolicyValue, from: z.enum(['default', 'file', 'override']), file: z.nullable(z.string()), line: z.nullable(z.number()),
});
export type PolicyValueView = z.infer<typeof PolicyValueView>;

/** Why the policy is unknown: the place and one sentence. */
export const PolicyProblem = z.object({ file: z.string(), line: z.number(), message: z.string() });

export const ContextShowReply = z.object({
  verb: z.literal('context-show'),
  /** The top of the repository that the policy is of. */
  folder: z.string(),
  /** The policy file; null when there is none and the defaults hold. */
  file: z.nullable(z.string()),
  /** False: there are problems, and nothing acts on the policy. */
  known: z.boolean(),
  /** All four settings; with problems only those that could be read. */
  values: z.array(PolicyValueView),
  /** What applies at each boundary: `off` everywhere when the policy is not enabled; null when it is unknown. */
  applies: z.nullable(z.object({ phase: z.enum(['clear', 'compact', 'off']), task: z.enum(['clear', 'compact', 'off']), midTask: z.enum(['compact', 'off']) })),
  problems: z.array(PolicyProblem),
  /** The work item whose overrides were counted in, and its spec folder. */
  item: z.nullable(z.object({ ref: z.string(), specs: z.string() })),
  warnings: z.array(Message),
});
export type ContextShowReply = z.infer<typeof ContextShowReply>;

export const ContextSetReply = z.extend(PlanReply, {
  set: z.object({
    key: PolicyKey, value: PolicyValue,
    /** The value in force before; null when it was unknown. */
    was: z.nullable(PolicyValue),
    file: z.string(), line: z.number(),
    /** The file is new. */
    created: z.boolean(),
    /** False: the file said so already. */
    changed: z.boolean(),
  }),
  /** Live work items whose checkout is another folder, with a policy file of its own: they keep their value. */
  otherCheckouts: z.array(z.object({ ref: z.string(), folder: z.string() })),
});
export type ContextSetReply = z.infer<typeof ContextSetReply>;

export const ContextInitReply = z.extend(PlanReply, { file: z.string(), created: z.boolean() });
export type ContextInitReply = z.infer<typeof ContextInitReply>;

/** One part of a checkpoint: `unknown` refuses nothing but must be accepted. */
export const CheckpointPart = z.object({
  part: z.enum(['checkmarks', 'log', 'phase', 'work']),
  verdict: z.enum(['ok', 'missing', 'unknown']),
  evidence: z.string(), file: z.nullable(z.string()), line: z.nullable(z.number()),
  accepted: z.boolean(),
});
export type CheckpointPart = z.infer<typeof CheckpointPart>;

export const CheckpointEntry = z.object({
  file: z.string(), line: z.number(), heading: z.string(), did: z.string(), next: z.string(),
  /** SHA-256 of the entry: what the event of a clear or compact names it by. */
  hash: z.string(),
});

export const CheckpointReply = z.object({
  verb: z.literal('context-checkpoint'),
  /** The work item's ref, or the session's id. */
  item: z.string(),
  kind: z.enum(['workItem', 'session']),
  /** The top of the repository, or the session's folder. */
  folder: z.string(),
  /** True when every part is there or accepted; in a dry run, when it would be. */
  complete: z.boolean(),
  /** In a dry run what is there now; otherwise what is there after the writing. */
  parts: z.array(CheckpointPart),
  /** In a dry run that would write something: the parts as they would be. */
  after: z.nullable(z.array(CheckpointPart)),
  /** `not checked`, or the label that was given. */
  label: z.string(),
  entry: z.nullable(CheckpointEntry),
  /** What is written: the entry, the ticked tasks, the committed files (and which of them are new to git), the work that is noted. */
  writes: z.nullable(z.object({
    entry: z.nullable(z.object({ did: z.string(), next: z.string() })), ticked: z.array(z.string()), committed: z.array(z.string()), added: z.array(z.string()), noted: z.array(z.string()),
  })),
  plan: z.nullable(PlanReply),
  warnings: z.array(Message),
});
export type CheckpointReply = z.infer<typeof CheckpointReply>;

export const ReentryReply = z.object({
  verb: z.literal('context-reentry'),
  item: z.string(),
  next: z.string(), did: z.string(), blockers: z.string(),
  phase: z.nullable(z.string()), task: z.nullable(z.string()),
  log: z.object({ file: z.string(), line: z.number() }),
  files: z.array(z.object({ file: z.string(), from: z.nullable(z.number()), to: z.nullable(z.number()), why: z.string() })),
  /** The text for the fresh window. */
  text: z.string(),
  warnings: z.array(Message),
});
export type ReentryReply = z.infer<typeof ReentryReply>;

export const UsageView = z.object({
  id: z.string(),
  harness: z.literal('claude'),
  /** The work item whose record names this session. */
  ref: z.nullable(z.string()),
  title: z.nullable(z.string()),
  cwd: z.nullable(z.string()),
  model: z.nullable(z.string()),
  /** Tokens in the window; null with `reason`, never a value from before a boundary. */
  tokens: z.nullable(z.number()),
  reason: z.nullable(z.enum(['after-boundary', 'not-started', 'not-in-tail'])),
  window: z.number(),
  windowFrom: z.enum(['transcript', 'model', 'given', 'assumed']),
  /** Tokens of the window, 0 to 1 and more; null when the tokens are unknown. */
  share: z.nullable(z.number()),
  lastActive: z.string(),
  /** The process that has it open now. */
  running: z.nullable(z.object({ pid: z.number(), status: z.nullable(z.string()) })),
  transcript: z.string(),
});
export type UsageView = z.infer<typeof UsageView>;

export const UsageReply = z.object({
  verb: z.literal('context-usage'),
  folders: z.array(z.string()),
  /** The last active first. */
  sessions: z.array(UsageView),
  bytesRead: z.number(),
  warnings: z.array(Message),
});
export type UsageReply = z.infer<typeof UsageReply>;

export const GuideReply = z.object({ verb: z.literal('context-guide'), agent: z.boolean(), text: z.string() });
export type GuideReply = z.infer<typeof GuideReply>;
