import type { Message } from '../../protocol/message';

/** How a step can be taken back. `inverse` names another way (a verb, a rebuild); `none` is said to the person first. */
export type Undo = 'restore' | 'inverse' | 'none';

interface StepBase {
  /** The item it belongs to (a ref, a run id, a session id); absent for a step of the whole plan, such as the index. */
  item?: string;
  /** Why it is done, one clause without a full stop: shown in a dry run. */
  reason: string;
  undo: Undo;
  /** Steps run in phases; the directories touched in one phase are flushed together at its end. Ascending through the plan. */
  phase: number;
  /** The pieces of the item that are gone once this step is verified (`session`, `control`, …). */
  pieces?: string[];
  /** Indices of steps that must have succeeded; otherwise this one is skipped. */
  requires?: number[];
  /** Indices of steps of which one must have changed something; otherwise there is nothing to do. */
  requiresAny?: number[];
  /** Added to the message when the step fails, e.g. `still armed`. */
  onFailure?: string;
}

/** A file is known by the SHA-256 of its bytes (hex), or `absent`. */
export type FileState = string;
export const ABSENT: FileState = 'absent';

/** A step on one file. `root`: the folder that `path` must stay inside, links resolved. */
interface FileStepBase extends StepBase { path: string; root: string }

export interface DeleteFileStep extends FileStepBase { kind: 'deleteFile'; before: FileState }
export interface WriteFileStep extends FileStepBase {
  kind: 'writeFile'; before: FileState; after: FileState;
  /** The new bytes: UTF-8 text, or a file to take them from (an undo takes them from the trash). */
  content: { text: string } | { from: string };
  /** Permission bits for a file that is new; a rewritten one keeps its own. Default 0600. */
  mode?: number;
}
/** The state of the file behind a step. */
export function afterOf(step: DeleteFileStep | WriteFileStep): FileState {
  return step.kind === 'deleteFile' ? ABSENT : step.after;
}

export interface AppendBytesStep extends FileStepBase {
  kind: 'appendBytes'; offset: number; text: string;
  /** Fail instead of appending behind what another program appended meanwhile (a transcript's sequence would break). */
  exclusive?: boolean;
}
export interface MoveCheckoutStep extends StepBase {
  kind: 'moveCheckout';
  /** Directories that are renamed together, the checkout first, then git's own record of it. `root` bounds each path. */
  moves: { from: string; to: string; root: string; toRoot: string; identity: string }[];
}
/** A file that follows from others and is made anew from them; `target` names which (`portable-index`, `retest-verdicts`). */
export interface RebuildIndexStep extends FileStepBase { kind: 'rebuildIndex'; target: string }
export interface EndSessionStep extends StepBase {
  kind: 'endSession';
  terminal: string;
  /** The processes to end, each known by pid and start time. */
  processes: { pid: number; startTime: string }[];
  /** Keep the terminal with its last screen, or end it too. */
  keepTerminal: boolean;
  graceSeconds: number;
  tmux: { command: string; socket?: string };
}
export interface DriveStep extends StepBase { kind: 'drive'; terminal: string; text: string }
export interface StartSessionStep extends StepBase { kind: 'startSession'; terminal: string; cwd: string; argv: string[] }
export interface GitCommitStep extends StepBase { kind: 'gitCommit'; repository: string; message: string; paths: string[] }
export interface GitPushStep extends StepBase { kind: 'gitPush'; repository: string; remote: string; branch: string }

export type Step = DeleteFileStep | WriteFileStep | AppendBytesStep | MoveCheckoutStep | RebuildIndexStep
  | EndSessionStep | DriveStep | StartSessionStep | GitCommitStep | GitPushStep;
export type StepKind = Step['kind'];

/** What a plan holds about one item, before anything was done. */
export interface PlanItem {
  ref: string;
  found: boolean;
  live: boolean;
  kept: { what: string; why: string }[];
  errors: Message[];
  notices: Message[];
  /** What a person decides on, for the digest: no clocks, counts or fields that daemons rewrite. */
  decision: unknown;
}

/** One line for the event log, written after the steps; the outcome of its item is filled in. */
export interface EventTemplate {
  item: string;
  log: string;
  /** The fields in their order; the engine puts `ts`, `source`, `event`, `level` and `pid` before and `plan` behind them. */
  /** The folder that `log` must stay inside. */
  root: string;
  source: string;
  event: string;
  fields: Record<string, unknown>;
  /** The name under which the verified pieces are reported: `removed`, `restored`; absent = not reported. */
  piecesAs?: string;
  /** Add `found`: true when something was found, was live or failed. */
  withFound?: boolean;
}

/** A plan is data: what was shown is what is applied, and what a crash left half is finished from. */
export interface Plan {
  id: string;
  verb: string;
  /** RFC 3339, from the clock in force. */
  createdAt: string;
  items: PlanItem[];
  steps: Step[];
  warnings: Message[];
  events: EventTemplate[];
  /** The order in which pieces are reported, whatever the order of the steps. */
  pieceOrder: string[];
  /** False: nothing is kept to undo it (`--no-trash`, loop state). */
  keepTrash: boolean;
  /** The plan this one takes back. */
  undoes?: string;
  digest: string;
}

/** Pieces in the order in which the verb reports them. */
export function inOrder(plan: Pick<Plan, 'pieceOrder'>, pieces: string[]): string[] {
  const rank = (piece: string): number => { const at = plan.pieceOrder.indexOf(piece); return at < 0 ? plan.pieceOrder.length : at; };
  return pieces.sort((a, b) => rank(a) - rank(b));
}
