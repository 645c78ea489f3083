import * as z from 'zod/mini';
import { Message } from './message';
import { Attention, PlanReply } from './plan';

export const RetestStatus = z.enum(['idle', 'working', 'awaiting_command', 'awaiting_operator', 'stopped', 'concluded', 'ended', 'error']);
export type RetestStatus = z.infer<typeof RetestStatus>;

export const VerdictStatus = z.enum(['fixed', 'still_open', 'inconclusive']);
export type VerdictStatus = z.infer<typeof VerdictStatus>;

export const Actor = z.enum(['agent', 'operator', 'system']);
export type Actor = z.infer<typeof Actor>;

/** One line of a transcript. Any kind is allowed. */
export const RetestEvent = z.object({ seq: z.number(), ts: z.string(), kind: z.string(), actor: Actor, payload: z.record(z.string(), z.unknown()) });
export type RetestEvent = z.infer<typeof RetestEvent>;

/** The command output a verdict rests on: the last one before it and after the last withdrawal. */
export const Evidence = z.object({ seq: z.number(), command: z.string(), exit_code: z.nullable(z.number()) });
export type Evidence = z.infer<typeof Evidence>;

export const CurrentVerdict = z.object({ seq: z.number(), status: VerdictStatus, rationale: z.string(), actor: Actor, evidence: z.nullable(Evidence) });
export type CurrentVerdict = z.infer<typeof CurrentVerdict>;

export const VerdictState = z.enum(['current', 'superseded', 'withdrawn']);
export const HistoryEntry = z.object({ seq: z.number(), status: VerdictStatus, state: VerdictState });
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** What a transcript says, in the order in which an audit compares it. */
export const Projection = z.object({
  status: RetestStatus,
  currentVerdict: z.nullable(CurrentVerdict),
  /** When it was concluded, ended or failed; null while it is live. */
  endedAt: z.nullable(z.string()),
  history: z.array(HistoryEntry),
  /** The current verdict is an adjudication. */
  adjudicated: z.boolean(),
  goal: z.array(z.string()),
  scope: z.array(z.string()),
});
export type Projection = z.infer<typeof Projection>;

/** A history entry with all that the transcript says about it. */
export const VerdictRecord = z.object({
  seq: z.number(), ts: z.string(), kind: z.enum(['verdict', 'verdict_adjudicated']), actor: Actor, status: VerdictStatus, rationale: z.string(), state: VerdictState,
  /** The event that withdrew it; null unless `state` is `withdrawn`. */
  withdrawn: z.nullable(z.object({ seq: z.number(), ts: z.string(), actor: Actor, reason: z.nullable(z.string()) })),
});
export type VerdictRecord = z.infer<typeof VerdictRecord>;

/** What is wrong with a line of a transcript, counted from 1. `torn-tail` is no corruption. */
export const TranscriptProblem = z.object({
  line: z.number(), kind: z.enum(['gap', 'duplicate', 'not-json', 'not-an-event', 'torn-tail']), expected: z.optional(z.number()), found: z.optional(z.number()),
});
export type TranscriptProblem = z.infer<typeof TranscriptProblem>;

/** What a finding is taken to be: the current verdict of the session that gave the latest one. */
export const Determination = z.object({ session: z.string(), seq: z.number(), status: VerdictStatus, rationale: z.string() });
export type Determination = z.infer<typeof Determination>;

/** A determination with who and when, for a row or a dialog. */
export const FindingVerdict = z.extend(Determination, { actor: Actor, ts: z.string() });
export type FindingVerdict = z.infer<typeof FindingVerdict>;

/** verdicts.json: a projection of all transcripts, for other readers; rebuilt by every command that appends. */
export const VerdictsFile = z.object({
  version: z.literal(1),
  /** The current verdict of each finding that has one, by finding. Lists, because a finding may have any name. */
  findings: z.array(z.extend(FindingVerdict, { finding: z.string() })),
  /** One row a session, by session id. */
  sessions: z.array(z.extend(Projection, { session: z.string(), finding: z.nullable(z.string()) })),
});
export type VerdictsFile = z.infer<typeof VerdictsFile>;

export const RetestRow = z.object({
  session: z.string(),
  /** Null in a transcript that does not name one. */
  finding: z.nullable(z.string()),
  status: RetestStatus,
  currentVerdict: z.nullable(CurrentVerdict),
  endedAt: z.nullable(z.string()),
  adjudicated: z.boolean(),
  /** How many verdicts were withdrawn. */
  withdrawn: z.number(),
  startedAt: z.nullable(z.string()),
  lastActivity: z.nullable(z.string()),
  events: z.number(),
  problems: z.array(TranscriptProblem),
  attention: z.array(Attention),
  path: z.string(),
  /** Why the transcript cannot be read, one sentence; the rest is then empty. */
  unreadable: z.optional(z.string()),
});
export type RetestRow = z.infer<typeof RetestRow>;

export const RetestListReply = z.object({
  verb: z.literal('retest-list'),
  stateRoot: z.string(),
  findings: z.array(z.object({ finding: z.string(), determination: z.nullable(FindingVerdict), sessions: z.array(z.string()) })),
  /** What needs a person first, then live, then concluded, then ended or failed, each by last activity. */
  sessions: z.array(RetestRow),
  warnings: z.array(Message),
});
export type RetestListReply = z.infer<typeof RetestListReply>;

export const RetestShowReply = z.extend(Projection, {
  verb: z.literal('retest-show'),
  session: z.string(),
  finding: z.nullable(z.string()),
  /** What the finding shows now, and what it would show without this session's verdict. */
  determination: z.nullable(FindingVerdict),
  without: z.nullable(FindingVerdict),
  verdicts: z.array(VerdictRecord),
  problems: z.array(TranscriptProblem),
  events: z.number(),
  startedAt: z.nullable(z.string()),
  lastActivity: z.nullable(z.string()),
  attention: z.array(Attention),
  path: z.string(),
  warnings: z.array(Message),
});
export type RetestShowReply = z.infer<typeof RetestShowReply>;

/** The reply of every verb that appends: what was (or, in a dry run, would be) appended, and what the transcript then says. */
export const RetestChangeReply = z.extend(PlanReply, {
  session: z.string(),
  finding: z.nullable(z.string()),
  appended: z.array(RetestEvent),
  /** Unterminated text at the end of the transcript that was closed with a newline first: `torn-tail`, or `no-newline` for a whole event. */
  closed: z.nullable(z.enum(['torn-tail', 'no-newline'])),
  after: Projection,
  /** What the finding shows before and after. */
  determination: z.object({ before: z.nullable(FindingVerdict), after: z.nullable(FindingVerdict) }),
  /** What an agent is to be started with; only of a message that wakes an idle session. */
  prompt: z.optional(z.string()),
  path: z.string(),
});
export type RetestChangeReply = z.infer<typeof RetestChangeReply>;

export const WakeReply = z.object({
  verb: z.literal('retest-wake'), dryRun: z.literal(true), session: z.string(), finding: z.nullable(z.string()), prompt: z.string(),
  appended: z.array(RetestEvent), after: Projection, warnings: z.array(Message),
});
export type WakeReply = z.infer<typeof WakeReply>;

export const Discrepancy = z.object({
  /** The session or the finding that it is about; neither when it is the file as a whole. */
  session: z.optional(z.string()),
  finding: z.optional(z.string()),
  field: z.string(),
  kind: z.enum(['differs', 'withdrawn-verdict', 'not-stored', 'no-transcript', 'unreadable']),
  message: z.string(),
});
export type Discrepancy = z.infer<typeof Discrepancy>;

export const AuditReply = z.object({
  verb: z.literal('retest-audit'),
  stateRoot: z.string(),
  ok: z.boolean(),
  sessions: z.number(),
  discrepancies: z.array(Discrepancy),
  problems: z.array(z.extend(TranscriptProblem, { session: z.string() })),
  warnings: z.array(Message),
});
export type AuditReply = z.infer<typeof AuditReply>;

export const ExportReply = z.object({
  verb: z.literal('retest-export'),
  version: z.literal(1),
  session: z.string(),
  finding: z.nullable(z.string()),
  exportedAt: z.string(),
  /** SHA-256 of the transcript's bytes, in hex. */
  sha256: z.string(),
  projection: Projection,
  /** Every verdict ever given, the withdrawn ones with who, when and why. */
  verdicts: z.array(VerdictRecord),
  transcript: z.array(RetestEvent),
  problems: z.array(TranscriptProblem),
  /** The lines that are no event, as they are. */
  unreadable: z.array(z.object({ line: z.number(), text: z.string() })),
  warnings: z.array(Message),
});
export type ExportReply = z.infer<typeof ExportReply>;
