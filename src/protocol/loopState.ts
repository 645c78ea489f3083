import * as z from 'zod/mini';
import { Message } from './message';
import { Attention, PlanReply } from './plan';

export const PruneReason = z.enum(['malformed-entry', 'pending', 'not-terminal', 'unknown-outcome', 'no-clock', 'unparseable-clock', 'recent', 'watch-key', 'expired']);
export type PruneReason = z.infer<typeof PruneReason>;

/** Why a file was not pruned; `nothing-recorded` is no error. */
export const PruneSkip = z.enum(['invalid-json', 'duplicate-key', 'not-an-object', 'nothing-recorded']);

/** What the prune decides about an entry now. */
export const PruneDecision = z.object({ action: z.enum(['keep', 'delete', 'cooldown']), reason: PruneReason });
export type PruneDecision = z.infer<typeof PruneDecision>;

/** What will be done to an entry that is kept for its age alone, and the first moment at which a prune does it. */
export const NextPrune = z.object({ action: z.enum(['delete', 'cooldown']), at: z.string() });
export type NextPrune = z.infer<typeof NextPrune>;

const entry = {
  key: z.string(),
  /** Line in the file, from 1. */
  line: z.number(),
  outcome: z.nullable(z.string()),
  ageDays: z.nullable(z.number()),
  decision: PruneDecision,
  /** Null when it stays for another reason than its age, or goes now. */
  next: z.nullable(NextPrune),
};

export const TargetView = z.object({
  ...entry,
  kind: z.enum(['pull-request', 'watch']),
  lastRun: z.nullable(z.string()),
  lastSha: z.nullable(z.string()),
  consecutiveFailures: z.nullable(z.number()),
  /** Three failures and more: the loop skips the target. `since` is its last run. */
  breaker: z.object({ open: z.boolean(), since: z.nullable(z.string()) }),
  /** The pull request in flight; its fields are null when the file does not say them. */
  pending: z.nullable(z.object({ pr: z.nullable(z.number()), url: z.nullable(z.string()) })),
  rejectReason: z.nullable(z.string()),
});
export type TargetView = z.infer<typeof TargetView>;

export const RunView = z.object({ ...entry, workflow: z.nullable(z.string()), headSha: z.nullable(z.string()), updatedAt: z.nullable(z.string()), rejectCount: z.nullable(z.number()) });
export type RunView = z.infer<typeof RunView>;

export const LogEntryView = z.object({ ...entry, loop: z.nullable(z.string()), runId: z.nullable(z.string()), skipReason: z.nullable(z.string()) });
export type LogEntryView = z.infer<typeof LogEntryView>;

const file = {
  path: z.string(),
  /** The path below the working directory; names the file in plans. */
  ref: z.string(),
  /** Why it cannot be read or understood, or null. */
  problem: z.nullable(Message),
};
export const LoopView = z.object({ ...file, loop: z.string(), targets: z.array(TargetView) });
export type LoopView = z.infer<typeof LoopView>;
export const LedgerView = z.object({ ...file, runs: z.array(RunView) });
export type LedgerView = z.infer<typeof LedgerView>;
export const RunLogView = z.object({ ...file, entries: z.array(LogEntryView) });
export type RunLogView = z.infer<typeof RunLogView>;

/** How old the checkout's knowledge is: others push the state, so an old checkout shows an old truth. */
export const Knowledge = z.object({
  commit: z.nullable(z.string()),
  committedAt: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  upstream: z.nullable(z.string()),
  /** Commits of the upstream that are not here, as of the last fetch; null without an upstream. */
  behind: z.nullable(z.number()),
  ahead: z.nullable(z.number()),
  /** When anything was last fetched, or null when it is not known. */
  fetchedAt: z.nullable(z.string()),
  /** State files that differ from the commit. */
  uncommitted: z.array(z.string()),
  /** The web address of the repository where the remote is on GitHub. */
  web: z.nullable(z.string()),
});
export type Knowledge = z.infer<typeof Knowledge>;

export const LoopStateListReply = z.object({
  verb: z.literal('loop-state-list'),
  directory: z.string(),
  loops: z.array(LoopView),
  ledgers: z.array(LedgerView),
  runLog: z.nullable(RunLogView),
  /** Null outside of a repository, without git, and with --no-exec. */
  knowledge: z.nullable(Knowledge),
  /** `item` is the target's key. */
  attention: z.array(z.object({ item: z.string(), loop: z.string(), attention: Attention })),
  warnings: z.array(Message),
});
export type LoopStateListReply = z.infer<typeof LoopStateListReply>;

/** One entry that goes or is cooled down. */
export const PrunedEntry = z.object({ ref: z.string(), key: z.string(), action: z.enum(['delete', 'cooldown']), reason: PruneReason });
export type PrunedEntry = z.infer<typeof PrunedEntry>;

/** The reply of every verb that changes loop state. */
export const LoopStateChangeReply = z.extend(PlanReply, {
  pruned: z.array(PrunedEntry),
  /** Keys that were written, besides the prune: targets, the run, `line` for the log. */
  written: z.array(z.object({ ref: z.string(), key: z.string() })),
  skipped: z.array(z.object({ ref: z.string(), why: PruneSkip })),
  /** How many entries each decision holds for, over all files. */
  counts: z.array(z.object({ action: z.string(), reason: z.string(), count: z.number() })),
  /** The commit of `--commit` here; null without it, with --push, and when nothing differs. */
  committed: z.nullable(z.object({ message: z.string(), paths: z.array(z.string()), status: z.enum(['planned', 'done', 'already', 'failed', 'skipped', 'interrupted']) })),
  /** The commit that was pushed, and how often it was tried; null without --push, or when nothing differed. */
  pushed: z.nullable(z.object({ commit: z.string(), remote: z.string(), branch: z.string(), attempts: z.number() })),
});
export type LoopStateChangeReply = z.infer<typeof LoopStateChangeReply>;
