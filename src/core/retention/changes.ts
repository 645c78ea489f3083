import { sha256 } from '../disk/hash';
import type { Message } from '../../protocol/message';
import type { PlanDraft } from '../plan/engine';
import { ABSENT } from '../plan/plan';
import type { PlanItem, Step } from '../plan/plan';
import type { Decision, Skip } from './decision';
import type { StateFile } from './stateFiles';

/** What a verb makes of one file. */
export interface FileChange {
  file: StateFile;
  /** The text as it was read; null = there is no file. */
  before: string | null;
  /** The text to write; the same as before, or null, when there is nothing to do. */
  after: string | null;
  decisions: Decision[];
  skipped: Skip | null;
  /** The keys that were written besides the prune. */
  written: string[];
  errors: Message[];
  notices: Message[];
  /** False: what was asked for is not in this file. */
  found: boolean;
  /** What a person decides on, besides the prune. */
  decision: unknown;
}

/** A verb's plan and what it says of each file. */
export interface LoopStatePlan { draft: PlanDraft; changes: FileChange[] }

export interface DraftOptions {
  /** The working directory: nothing outside of it is written. */
  directory: string;
  /** False for the write paths, whose undo is git. */
  keepTrash: boolean;
  /** Commit the state files when something was changed. */
  commit?: { repository: string; message: string; paths: string[] };
  warnings?: Message[];
}

/** An empty change of a file, to be filled in. */
export function changeOf(file: StateFile, before: string | null): FileChange {
  return { file, before, after: before, decisions: [], skipped: null, written: [], errors: [], notices: [], found: true, decision: null };
}

/** What goes or is cooled down. */
export function pruned(change: FileChange): Decision[] {
  return change.decisions.filter(({ action }) => action !== 'keep');
}

/** The plan of the changes: one write for each file that differs, then the commit. */
export function draftOf(changes: FileChange[], options: DraftOptions): LoopStatePlan {
  const steps: Step[] = [];
  const items = changes.flatMap((change): PlanItem[] => {
    const gone = pruned(change);
    const isChanged = change.after !== null && change.after !== change.before;
    // Of many files only those are named with which something is.
    if (!isChanged && changes.length > 1 && change.found && change.errors.length + change.notices.length === 0) return [];
    if (change.after !== null && isChanged) {
      steps.push({
        kind: 'writeFile', item: change.file.ref, path: change.file.path, root: options.directory, mode: 0o644,
        before: change.before === null ? ABSENT : sha256(change.before), after: sha256(change.after), content: { text: change.after },
        reason: reasonOf(change), undo: options.keepTrash ? 'restore' : 'none', phase: 0, pieces: gone.map(({ key }) => key),
      });
    }
    return [{
      ref: change.file.ref, found: change.found, live: false, kept: [], errors: change.errors, notices: change.notices,
      decision: { pruned: gone.map(({ key, action }) => ({ key, action })), skipped: change.skipped, change: change.decision },
    }];
  });
  if (options.commit !== undefined && steps.length > 0) {
    const { repository, message, paths } = options.commit;
    steps.push({ kind: 'gitCommit', repository, message, paths, reason: 'the commit stays; git revert takes it back', undo: 'none', phase: 1, requiresAny: steps.map((_, index) => index) });
  }
  return { draft: { items, steps, warnings: options.warnings ?? [], events: [], pieceOrder: [], keepTrash: options.keepTrash }, changes };
}

function reasonOf(change: FileChange): string {
  const gone = change.decisions.filter(({ action }) => action === 'delete').length;
  const cooled = change.decisions.filter(({ action }) => action === 'cooldown').length;
  const parts = [
    ...(change.written.length > 0 ? [`write ${change.written.slice(0, 3).join(', ')}${change.written.length > 3 ? ` and ${String(change.written.length - 3)} more` : ''}`] : []),
    ...(gone > 0 ? [`${String(gone)} expired`] : []),
    ...(cooled > 0 ? [`${String(cooled)} cooled down`] : []),
  ];
  return parts.length === 0 ? 'the file is new' : parts.join(', ');
}
