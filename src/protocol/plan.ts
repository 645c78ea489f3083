import * as z from 'zod/mini';
import { Message } from './message';

export const Kept = z.object({ what: z.string(), why: z.string() });
export type Kept = z.infer<typeof Kept>;

/** Something that needs a person; `command` is what to run, as a line to paste, or empty. Kinds in order of urgency (editor.md). */
export const Attention = z.object({
  kind: z.enum(['asks-you', 'failed', 'terminal-died', 'unreadable', 'unfinished-plan', 'no-checkpoint', 'armed-without-session', 'breaker-open']),
  since: z.nullable(z.string()),
  sentence: z.string(),
  command: z.string(),
});
export type Attention = z.infer<typeof Attention>;

/** A step as it is shown: what, to which path, why, and how it can be taken back. */
export const StepView = z.object({
  kind: z.string(),
  path: z.optional(z.string()),
  reason: z.string(),
  undo: z.enum(['restore', 'inverse', 'none']),
});
export type StepView = z.infer<typeof StepView>;

/** A session that the plan ends. */
export const EndingSession = z.object({
  ref: z.string(),
  harness: z.string(),
  terminal: z.string(),
  /** The command that opens the terminal that stays, or null when it goes or is not there. */
  open: z.nullable(z.string()),
});
export type EndingSession = z.infer<typeof EndingSession>;

/** The checkout that goes. Counts are null when git could not be asked. */
export const CheckoutView = z.object({
  path: z.string(),
  uncommitted: z.nullable(z.number()),
  untracked: z.nullable(z.number()),
  ignored: z.nullable(z.number()),
  nestedRepositories: z.nullable(z.number()),
  unpushed: z.nullable(z.number()),
  branch: z.nullable(z.string()),
  /** Where it is kept, or null with --no-trash. */
  keptAt: z.nullable(z.string()),
});
export type CheckoutView = z.infer<typeof CheckoutView>;

export const ItemReply = z.object({
  ref: z.string(),
  found: z.boolean(),
  live: z.boolean(),
  removed: z.array(z.string()),
  kept: z.array(Kept),
  errors: z.array(Message),
  notices: z.array(Message),
  attention: z.array(Attention),
  steps: z.array(StepView),
  /** What a person is told before a reset; absent where there is nothing of the kind. */
  ends: z.optional(z.array(EndingSession)),
  checkouts: z.optional(z.array(CheckoutView)),
  control: z.optional(z.object({ command: z.string(), actor: z.string(), requestedAt: z.string() })),
  poll: z.optional(z.object({ seenComments: z.number() })),
});
export type ItemReply = z.infer<typeof ItemReply>;

/** The reply of every verb that is a plan: reset, undo, prune, … */
export const PlanReply = z.object({
  verb: z.string(),
  dryRun: z.boolean(),
  plan: z.string(),
  digest: z.string(),
  stateRoot: z.optional(z.string()),
  items: z.array(ItemReply),
  /** What `--all` passed by, and why. */
  passedOver: z.optional(z.array(Kept)),
  warnings: z.array(Message),
});
export type PlanReply = z.infer<typeof PlanReply>;

/** One line on stderr while a verb works (`--json`): steps done of all. */
export const ProgressLine = z.object({ progress: z.object({ done: z.number(), total: z.number(), item: z.optional(z.string()) }) });
export type ProgressLine = z.infer<typeof ProgressLine>;

export const PlanSummary = z.object({
  plan: z.string(),
  verb: z.string(),
  createdAt: z.string(),
  items: z.array(z.string()),
  /** `undoable`, `undone`, `purged` (its trash is gone), `irreversible` (nothing in it can be undone), `unfinished`, `failed`. */
  state: z.enum(['undoable', 'undone', 'purged', 'irreversible', 'unfinished', 'failed']),
  /** What undo cannot bring back, one clause each. */
  cannot: z.array(z.string()),
  store: z.string(),
});
export type PlanSummary = z.infer<typeof PlanSummary>;

export const UndoListReply = z.object({ verb: z.literal('undo-list'), plans: z.array(PlanSummary), warnings: z.array(Message) });
export type UndoListReply = z.infer<typeof UndoListReply>;

export const TrashEntry = z.object({
  plan: z.string(), verb: z.string(), createdAt: z.string(), ageDays: z.number(), bytes: z.number(), files: z.number(), path: z.string(), items: z.array(z.string()),
});
export type TrashEntry = z.infer<typeof TrashEntry>;
export const TrashReply = z.object({
  verb: z.enum(['trash-list', 'trash-purge']), entries: z.array(TrashEntry), bytes: z.number(), errors: z.array(Message), warnings: z.array(Message),
});
export type TrashReply = z.infer<typeof TrashReply>;
