import { Failure } from '../disk/failure';
import { assertInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import { changeOf, draftOf } from './changes';
import type { DraftOptions, FileChange, LoopStatePlan } from './changes';
import { isObject } from './decision';
import { readEntries } from './jsonText';
import { recordRun } from './runLedger';
import type { RunRecord } from './runLedger';
import { appendRun } from './runLog';
import { ledgerFile, loopFile, runLogFile, stateFiles } from './stateFiles';
import type { StateFile } from './stateFiles';
import { skipSentence } from './unreadable';
import { patchTarget, waitsFor, writeTarget } from './writeTarget';
import type { TargetWrite, Written } from './writeTarget';

/** How a write path is run: where, when, and whether it commits. Git is its undo, so it keeps no trash. */
export interface WritePlace { directory: string; now: Date; commit?: DraftOptions['commit'] }

/**
 * Plans the write of one target: load, prune, patch (seed "Architecture"). `write` undefined = only the prune, which never fails.
 * Failures: those of `writeTarget`, `bad-argument` (the loop's name), `unsafe-path`, `not-utf8`, `io`.
 */
export function planWrite(reader: Reader, place: WritePlace, loop: string, write: TargetWrite | undefined): LoopStatePlan {
  const file = loopFile(place.directory, loop);
  const change = changeFile(reader, place, file, (text) => writeTarget(text, write, place.now));
  if (write !== undefined) {
    change.decision = { write };
    if (change.written.length > 0) change.written = [write.target];
    else change.notices.push({ kind: 'no-match', message: `${write.target} does not wait for pull request ${String(write.pendingPr)}; it was not written.` });
  }
  if (change.skipped !== null) change.notices.push({ kind: change.skipped, message: `${file.ref} was not pruned: ${skipSentence(change.skipped, 'targets')}` });
  return draftOf([change], { ...place, keepTrash: false });
}

/** Plans the record of one CI run in the ledger. Failures: those of `recordRun`, `unsafe-path`, `not-utf8`, `io`. */
export function planRecord(reader: Reader, place: WritePlace, name: string | undefined, run: RunRecord): LoopStatePlan {
  const change = changeFile(reader, place, ledgerFile(place.directory, name), (text) => recordRun(text, run, place.now));
  change.decision = { record: run };
  if (change.written.length > 0) change.written = [run.runId ?? ''];
  if (change.skipped !== null) change.notices.push({ kind: change.skipped, message: `The outcome ${run.outcome} is not one a ledger holds; nothing was recorded.` });
  return draftOf([change], { ...place, keepTrash: false });
}

/** Plans one more line of the run log. Failures: those of `appendRun`, `unsafe-path`, `not-utf8`, `io`. */
export function planAppend(reader: Reader, place: WritePlace, entry: string): LoopStatePlan {
  const change = changeFile(reader, place, runLogFile(place.directory), (text) => appendRun(text, entry, place.now));
  change.decision = { append: entry };
  change.written = ['line'];
  return draftOf([change], { ...place, keepTrash: false });
}

/**
 * Plans what the end of a pull request means for every target that waits for it, in all loops; each file is pruned first.
 * Merged: the cursor moves to the pending sha, outcome `merged`. Closed: pending goes, outcome `pr-closed`, which counts as a failure
 * (R10), and what was rejected before stays to be told to the next attempt. A file that cannot be understood is an error of that file only.
 */
export function planPromote(reader: Reader, place: WritePlace, pullRequest: number, end: 'merged' | 'closed'): LoopStatePlan {
  const changes = stateFiles(reader, place.directory).filter(({ kind }) => kind === 'loop').map((file) => {
    try {
      return changeFile(reader, place, file, (text) => promoteAll(text ?? '', pullRequest, end, place.now));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ...changeOf(file, null), errors: [{ kind: error.kind, message: error.message }] };
    }
  });
  for (const change of changes) change.decision = { promoted: change.written };
  const warnings = changes.some(({ written }) => written.length > 0) ? [] : [{ kind: 'no-match', message: `No target waits for pull request ${String(pullRequest)}.` }];
  return draftOf(changes, { ...place, keepTrash: false, warnings });
}

interface Promoted extends Written { keys: string[] }

function promoteAll(text: string, pendingPr: number, end: 'merged' | 'closed', now: Date): Promoted {
  const first = writeTarget(text, undefined, now);
  if (first.skipped !== null || first.text === null) {
    throw new Failure(first.skipped ?? 'invalid-json', skipSentence(first.skipped ?? 'invalid-json', 'targets'), 'Repair it, or take an older version from git.');
  }
  const file = readEntries(first.text, 'targets', (key, value) => (isObject(value) && waitsFor(value, pendingPr) ? key : undefined));
  const keys = 'problem' in file ? [] : file.entries.filter((key) => key !== undefined);
  const write = end === 'merged'
    ? { outcome: 'merged', mode: 'promote' as const, pendingPr }
    : { outcome: 'pr-closed', mode: 'clear-pending' as const, pendingPr, openRejections: 'keep' as const };
  const after = keys.reduce((current, target) => patchTarget(current, { ...write, target }, now) ?? current, first.text);
  return { ...first, text: after, written: keys.length > 0, keys };
}

/** Reads a file and lets `edit` make the new text; failures name the file. */
function changeFile(reader: Reader, place: WritePlace, file: StateFile, edit: (text: string | null) => Written | Promoted): FileChange {
  assertInside(place.directory, file.path);
  const before = reader.text(file.path) ?? null;
  try {
    const result = edit(before);
    return {
      ...changeOf(file, before), after: result.text, decisions: result.decisions, skipped: result.skipped,
      written: 'keys' in result ? result.keys : result.written ? [''] : [],
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.kind, `${file.ref}: ${error.message}`, error.hint, error.exitCode, { path: file.path });
  }
}

