import type { Place } from '../places';

/** The words a row's context value may hold; menus match them with `viewItem =~ /\bword\b/`. A unit test compares them with package.json. */
export const rowWords = [
  'root', 'problem',
  'item', 'session', 'piece', 'pull',
  'live', 'paused', 'armed', 'closed', 'remembered', 'unreadable', 'collided',
  'dirty', 'attention', 'tmux',
  'record', 'ticket', 'checkout',
  'finding', 'retest', 'past', 'concluded', 'verdict', 'open', 'idle', 'over',
  'run', 'agent', 'frame', 'workflow', 'asking', 'failed', 'readonly', 'executed', 'resettable',
  'policy', 'invalid', 'plain', 'older', 'folder',
  'target', 'blocked', 'loop', 'entry', 'forge',
] as const;
export type RowWord = (typeof rowWords)[number];

/** What commands on a row work with. Each is there only when the row has it; a command names the facet it needs. */
export interface Subject {
  place: Place;
  /** The item it is, or belongs to. */
  ref?: string;
  /** The file that holds it (Open Record, Open). */
  path?: string;
  /** The line in that file, from 1 (Open File). */
  line?: number;
  /** The policy value or loop-state entry that it is. */
  key?: string;
  /** The loop that it belongs to. */
  loop?: string;
  /** The session it is, where no work item's record names it. */
  session?: string;
  /** Its page (Open Ticket). */
  url?: string;
  /** Its directory (Open Checkout in New Window). */
  directory?: string;
  /** Its tmux session (Attach). */
  terminal?: string;
  /** The finding that its retest is about (Start Retest Session…). */
  finding?: string;
  /** The number of its event in the transcript (Open Transcript). */
  seq?: number;
  /** Which agent of the run (Reset Agent to State…). */
  agent?: string;
  /** The folder or file of its workflow, and its state there (Open Workflow). */
  scope?: string;
  state?: string;
  /** The command that tells more about it, without the program's name (Copy as Command Line). */
  arguments?: readonly string[];
}

export interface Link {
  title: string;
  /** A command of this extension that takes the row's id. */
  command: string;
}

/** A tooltip as data; Markdown is made of it in one place, where every foreign text is escaped. */
export interface Tooltip {
  /** The state in one sentence. */
  sentence: string;
  facts: readonly { name: string; value: string }[];
  paths: readonly string[];
  /** At most four. */
  links: readonly Link[];
}

/** One row of a tree, as data: built by pure functions, drawn by `RowView`. Foreign text in `label` and `description` is made visible by the builder. */
export interface Row {
  /** Stable: a refresh keeps selection, focus and what is open by it. For an item it is its ref. */
  readonly id: string;
  label: string;
  description?: string;
  /** A codicon's name, and the id of a theme colour. */
  icon: string;
  colour?: string;
  words: readonly RowWord[];
  /** What a screen reader says: the label and its state as a sentence. */
  spoken: string;
  tooltip?: Tooltip;
  /** Rows below it; `later`: the view is asked when it is opened. */
  children?: readonly Row[] | 'later';
  /** Opened at first sight. */
  expanded?: boolean;
  subject: Subject;
  /** The command that a click runs with this row; a piece with a file opens it. */
  opens?: string;
}
