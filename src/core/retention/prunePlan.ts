import { Failure, messageOf } from '../disk/failure';
import { assertInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import { changeOf, draftOf } from './changes';
import type { DraftOptions, FileChange, LoopStatePlan } from './changes';
import { isObject, own } from './decision';
import type { Pruned } from './decision';
import { applyEdits, layoutOf } from './jsonEdit';
import { keyOf, readEntries } from './jsonText';
import { pruneRuns } from './runLedger';
import { pruneLog } from './runLog';
import { loopFile, stateFiles } from './stateFiles';
import type { StateFile, StateKind } from './stateFiles';
import { breakerThreshold, changeEntry, counterField, pruneTargets } from './targets';
import { notUnderstood, skipSentence } from './unreadable';

/** How the verbs by hand are run. `loop`: only this loop's file. */
export interface HandPlace { directory: string; now: Date; days?: number; loop?: string; commit?: DraftOptions['commit'] }

/** The prune of each kind of file: the same planners as on the write paths. */
export const pruneOf: Record<StateKind, (text: string, now: Date, days?: number) => Pruned> = { loop: pruneTargets, ledger: pruneRuns, log: pruneLog };

/** The object that holds the entries of a kind of file. */
export const fieldOf: Record<StateKind, 'targets' | 'runs'> = { loop: 'targets', ledger: 'runs', log: 'runs' };

/** The files that a verb by hand looks at. Failures: `bad-argument`, and `not-found` for a loop that has no file. */
export function chosenFiles(reader: Reader, directory: string, loop: string | undefined): StateFile[] {
  if (loop === undefined) return stateFiles(reader, directory);
  const file = loopFile(directory, loop);
  if (reader.kind(file.path) === 'absent') throw new Failure('not-found', `There is no ${file.ref}.`, 'See `loopkeeper loop-state list`.', 1);
  return [file];
}

/**
 * Plans the prune of every file by hand, with trash. A file that cannot be understood stays as it is; one that cannot be read is an error of it alone.
 */
export function planPrune(reader: Reader, place: HandPlace): LoopStatePlan {
  const changes = chosenFiles(reader, place.directory, place.loop).map((file) => pruneFile(reader, place, file));
  return draftOf(changes, { ...place, keepTrash: true });
}

function pruneFile(reader: Reader, place: HandPlace, file: StateFile): FileChange {
  try {
    assertInside(place.directory, file.path);
    const before = reader.text(file.path) ?? '';
    const result = pruneOf[file.kind](before, place.now, place.days);
    const change = { ...changeOf(file, before), after: result.text, decisions: result.decisions, skipped: result.skipped };
    // Nothing was asked of this file but to be pruned, so this is no error (R6).
    if (result.skipped !== null) change.notices.push({ kind: result.skipped, message: `${file.ref} was left as it is. ${skipSentence(result.skipped, fieldOf[file.kind])}` });
    return change;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...changeOf(file, null), errors: [{ kind: error.kind, message: messageOf(error) }] };
  }
}

/**
 * Plans that the breaker of one target is closed on purpose: its counter becomes 0, all else stays.
 * Failures: `not-found`; `ambiguous` when several loops have the key; `malformed-entry`; those of a file that cannot be understood.
 */
export function planUnblock(reader: Reader, place: HandPlace, key: string): LoopStatePlan {
  const holders = chosenFiles(reader, place.directory, place.loop).filter(({ kind }) => kind === 'loop').flatMap((file) => {
    assertInside(place.directory, file.path);
    const text = reader.text(file.path) ?? '';
    const read = readEntries(text, 'targets', (name, value, member) => (name === key ? { value, member } : undefined));
    if ('problem' in read) {
      // With the loop named it is this file that is meant; else another may have the key.
      if (place.loop !== undefined) throw notUnderstood(read.problem, 'targets');
      return [];
    }
    const entry = read.entries.find((found) => found !== undefined);
    return entry === undefined ? [] : [{ file, text, read, ...entry }];
  });
  const [holder, other] = holders;
  if (holder === undefined) throw new Failure('not-found', `No loop has a target ${JSON.stringify(key.slice(0, 200))}.`, 'See `loopkeeper loop-state list`.', 1);
  if (other !== undefined) {
    throw new Failure('ambiguous', `${holders.map(({ file }) => file.loop ?? file.ref).join(', ')} all have a target ${JSON.stringify(key)}.`, 'Name the loop with --loop.', 2);
  }
  const { file, text, read, value, member } = holder;
  if (!isObject(value)) throw new Failure('malformed-entry', `${file.ref}: the entry ${JSON.stringify(key)} is not an object.`, 'Repair or remove that entry by hand.');
  const counter = own(value, counterField);
  const isOpen = typeof counter === 'number' && counter >= breakerThreshold;
  const change: FileChange = { ...changeOf(file, text), decision: { unblock: key, isOpen } };
  if (!isOpen) {
    change.notices.push({ kind: 'not-blocked', message: `The breaker of ${key} is not open.` });
  }
  if (counter !== 0 && counter !== undefined) {
    const edits = changeEntry(text, member, (members) => {
      const place = members.find((field) => keyOf(text, field) === counterField);
      return place === undefined ? {} : { replace: new Map([[place, '0']]) };
    }, layoutOf(text, read.members));
    change.after = applyEdits(text, edits);
    change.written = [key];
  }
  return draftOf([change], { ...place, keepTrash: true });
}
