import * as z from 'zod/mini';
import { Message } from './message';
import { Attention } from './plan';

/** What a row shows first. `armed`: no live session and the last command lets a daemon start one. `remembered`: only poll or phase choices. */
export const ItemState = z.enum(['live', 'paused', 'armed', 'closed', 'remembered', 'unreadable', 'collided']);
export type ItemState = z.infer<typeof ItemState>;

/** What is known of a terminal without asking tmux: `unknown` until asked, or when tmux cannot be reached from here. */
export const TerminalState = z.enum(['live', 'dead', 'absent', 'none', 'unknown']);

export const PullRequestView = z.object({ ref: z.string(), harness: z.string(), sessionId: z.string(), status: z.string(), cwd: z.string(), terminal: z.string(), url: z.optional(z.string()) });
export type PullRequestView = z.infer<typeof PullRequestView>;

export const SessionView = z.object({
  harness: z.string(),
  sessionId: z.string(),
  status: z.enum(['active', 'paused', 'closed']),
  cwd: z.string(),
  terminal: z.string(),
  createdAt: z.string(),
  lastEventAt: z.nullable(z.string()),
  pullRequests: z.array(PullRequestView),
  path: z.string(),
});
export type SessionView = z.infer<typeof SessionView>;

export const ItemView = z.object({
  ref: z.string(),
  url: z.optional(z.string()),
  state: ItemState,
  armed: z.boolean(),
  /** First heading of requirements.md or bugfix.md in the session's directory; absent when there is none. */
  title: z.optional(z.string()),
  session: z.optional(SessionView),
  control: z.optional(z.object({ command: z.string(), source: z.string(), actor: z.string(), requestedAt: z.string(), note: z.string(), path: z.string() })),
  poll: z.optional(z.object({ seenComments: z.number(), lastPolledAt: z.string(), path: z.string() })),
  graph: z.optional(z.object({ loop: z.string(), workItem: z.string(), nodes: z.number(), path: z.string() })),
  sealed: z.boolean(),
  /** The checkout that the config gives this item, when it is there. */
  checkout: z.optional(z.string()),
  lastActivity: z.nullable(z.string()),
  attention: z.array(Attention),
  /** Files that hold it. */
  paths: z.array(z.string()),
  /** Why a record cannot be read or is another item's, one sentence. */
  problem: z.optional(z.string()),
});
export type ItemView = z.infer<typeof ItemView>;

export const StandingView = z.object({ name: z.string(), harness: z.string(), status: z.string(), cwd: z.string(), terminal: z.string(), path: z.string() });

export const ListReply = z.object({
  verb: z.literal('list'),
  stateRoot: z.string(),
  config: z.nullable(z.string()),
  workspaceRoot: z.nullable(z.string()),
  /** In order of need: what needs a person first, then live, paused, armed, closed, each by last activity. */
  items: z.array(ItemView),
  warnings: z.array(Message),
});
export type ListReply = z.infer<typeof ListReply>;

/** Counts of work in a checkout; null when git could not be asked. */
export const WorkView = z.object({
  path: z.string(), branch: z.nullable(z.string()), uncommitted: z.nullable(z.number()), untracked: z.nullable(z.number()),
  ignored: z.nullable(z.number()), nestedRepositories: z.nullable(z.number()), unpushed: z.nullable(z.number()),
});
export type WorkView = z.infer<typeof WorkView>;

export const ShowReply = z.object({
  verb: z.literal('show'),
  stateRoot: z.string(),
  item: ItemView,
  checkouts: z.array(WorkView),
  terminals: z.array(z.object({ ref: z.string(), terminal: z.string(), state: TerminalState, command: z.nullable(z.string()), open: z.nullable(z.string()) })),
  /** The channel bindings that name the item. */
  channels: z.array(z.object({ path: z.string(), threads: z.number() })),
  warnings: z.array(Message),
});
export type ShowReply = z.infer<typeof ShowReply>;

export const StatusReply = z.object({
  verb: z.literal('status'),
  stateRoot: z.string(),
  /** False: nothing is remembered there; the directory may not even exist. */
  exists: z.boolean(),
  config: z.nullable(z.string()),
  counts: z.object({ live: z.number(), paused: z.number(), armed: z.number(), closed: z.number(), remembered: z.number(), unreadable: z.number(), collided: z.number() }),
  attention: z.array(z.object({ ref: z.string(), attention: Attention })),
  daemons: z.array(z.object({ name: z.string(), pid: z.number() })),
  warnings: z.array(Message),
});
export type StatusReply = z.infer<typeof StatusReply>;

export const EventsReply = z.object({
  verb: z.literal('events'), log: z.string(), events: z.array(z.record(z.string(), z.unknown())), problems: z.array(z.object({ line: z.number(), message: z.string() })), warnings: z.array(Message),
});
export type EventsReply = z.infer<typeof EventsReply>;

export const DoctorReply = z.object({
  verb: z.literal('doctor'),
  /** Each configuration value in force and where it comes from. */
  config: z.array(z.object({ key: z.string(), value: z.unknown(), from: z.string() })),
  findings: z.array(z.object({ kind: z.string(), level: z.enum(['info', 'warning', 'error']), message: z.string(), hint: z.string(), path: z.optional(z.string()) })),
  warnings: z.array(Message),
});
export type DoctorReply = z.infer<typeof DoctorReply>;
