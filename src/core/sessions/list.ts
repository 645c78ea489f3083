import path from 'node:path';
import type { Message } from '../../protocol/message';
import type { Attention } from '../../protocol/plan';
import type { ItemState, ItemView, ListReply, StatusReply } from '../../protocol/sessions';
import type { CliConfig } from '../config/cliConfig';
import { Failure } from '../disk/failure';
import type { FileKind, Reader } from '../disk/reader';
import type { Question } from '../events/eventLog';
import type { Daemon } from '../workItems/daemons';
import { byCodePoint } from '../workItems/ref';
import type { BadFile, StateSnapshot } from '../workItems/snapshot';
import { isShown, itemView } from './itemView';

export interface ListFacts {
  config: CliConfig;
  snapshot: StateSnapshot;
  /** By ref: who waits for an answer. */
  questions: ReadonlyMap<string, Question>;
  /** By ref: when an unfinished plan of it was begun. */
  unfinished: ReadonlyMap<string, string>;
  /** Warnings of the call itself. */
  warnings: readonly Message[];
}

const urgency = new Map<string, number>(['asks-you', 'failed', 'terminal-died', 'unreadable', 'unfinished-plan', 'no-checkpoint', 'armed-without-session', 'breaker-open'].map((kind, i) => [kind, i]));
const rank: Record<ItemState, number> = { unreadable: 0, collided: 1, live: 2, paused: 3, armed: 4, closed: 5, remembered: 6 };

/** Every item, in order of need (protocol, ListReply). Reads titles and looks for checkouts; starts no program. */
export function listReply(reader: Reader, facts: ListFacts): ListReply {
  const { config, snapshot } = facts;
  const folders = inFolders(reader);
  const views = snapshot.items.filter(isShown).map((item) => {
    const [question, unfinishedSince] = [facts.questions.get(item.ref.ref), facts.unfinished.get(item.ref.ref)];
    return itemView(folders, config, item, { ...(question ? { question } : {}), ...(unfinishedSince === undefined ? {} : { unfinishedSince }) });
  });
  return {
    verb: 'list', stateRoot: config.stateRoot, config: config.file, workspaceRoot: config.workspace.root,
    items: inOrderOfNeed([...views, ...strayViews(snapshot.strays)]), warnings: [...facts.warnings, ...snapshotWarnings(config, snapshot)],
  };
}

/** Counts and what needs a person, from the rows of a list. `exists`: whether there is a state root at all. */
export function statusReply(list: ListReply, exists: boolean, daemons: readonly Daemon[]): StatusReply {
  const counts: StatusReply['counts'] = { live: 0, paused: 0, armed: 0, closed: 0, remembered: 0, unreadable: 0, collided: 0 };
  for (const { state } of list.items) counts[state]++;
  return {
    verb: 'status', stateRoot: list.stateRoot, exists, config: list.config, counts,
    attention: list.items.flatMap(({ ref, attention }) => attention.map((one) => ({ ref, attention: one }))).sort((a, b) => urgencyOf([a.attention]) - urgencyOf([b.attention])),
    daemons: daemons.map(({ name, pid }) => ({ name, pid })), warnings: list.warnings,
  };
}

function urgencyOf(attention: readonly Attention[]): number {
  return attention.reduce((least, { kind }) => Math.min(least, urgency.get(kind) ?? Infinity), Infinity);
}

/** What needs a person first, the most urgent on top; then by state; each by last activity, the latest first. */
function inOrderOfNeed(views: ItemView[]): ItemView[] {
  const keys = new Map(views.map((view) => [view, { urgency: urgencyOf(view.attention), rank: rank[view.state], time: view.lastActivity === null ? -Infinity : Date.parse(view.lastActivity) }]));
  const none = { urgency: Infinity, rank: Infinity, time: -Infinity };
  const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
  return views.sort((a, b) => {
    const [x, y] = [keys.get(a) ?? none, keys.get(b) ?? none];
    return compare(x.urgency, y.urgency) || compare(x.rank, y.rank) || compare(y.time, x.time) || byCodePoint(a.ref, b.ref);
  });
}

/** Broken files whose item cannot be told are rows, too: nothing is hidden because it is broken. Their file name stands for the ref. */
function strayViews(strays: readonly BadFile[]): ItemView[] {
  const byName = new Map<string, BadFile[]>();
  for (const stray of strays) byName.set(path.basename(stray.path), [...byName.get(path.basename(stray.path)) ?? [], stray]);
  return [...byName].map(([name, files]) => {
    const problem = files.map((file) => `${file.path} cannot be read as a ${file.piece} record: ${file.why}.`).join(' ');
    return {
      ref: name, state: 'unreadable', armed: false, sealed: false, lastActivity: null, paths: files.map((file) => file.path), problem,
      attention: [{ kind: 'unreadable', since: null, sentence: problem, command: 'loopkeeper doctor' }],
    };
  });
}

/** What a snapshot has to say besides its items. */
export function snapshotWarnings(config: CliConfig, snapshot: StateSnapshot): Message[] {
  return [
    ...config.problems.map((message) => ({ kind: 'config', message })),
    ...snapshot.misplaced.map(({ path: file, ref }) => ({ kind: 'misplaced-record', message: `${file} is a record of ${ref.ref} but not named after it, so the loop does not find it.` })),
    ...snapshot.legacyProblems.map((message) => ({ kind: 'legacy-unreadable', message })),
  ];
}

/** A reader that answers `kind` from one listing of each folder: thousands of checkouts are looked for in few folders. */
function inFolders(reader: Reader): Reader {
  const names = new Map<string, Set<string> | null>();
  const kinds = new Map<string, FileKind>();
  const listed = (directory: string): Set<string> | null => {
    let found = names.get(directory);
    if (found === undefined) {
      try {
        found = new Set(reader.list(directory));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        found = null;
      }
      names.set(directory, found);
    }
    return found;
  };
  return {
    ...reader,
    kind: (file) => {
      const known = kinds.get(file);
      if (known !== undefined) return known;
      const kind = listed(path.dirname(file))?.has(path.basename(file)) === false ? 'absent' : reader.kind(file);
      kinds.set(file, kind);
      return kind;
    },
  };
}
