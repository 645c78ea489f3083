import { Failure } from '../disk/failure';
import { timestamp } from './clock';
import { isObject, own } from './decision';
import type { Decision, Skip } from './decision';
import { changeObject, applyEdits, layoutOf } from './jsonEdit';
import type { ObjectChange } from './jsonEdit';
import { keyOf, readEntries, readJson } from './jsonText';
import type { Member } from './jsonText';
import { changeEntry, counterField, pruneTargets } from './targets';
import { notUnderstood } from './unreadable';

export type WriteMode = 'metadata' | 'advance' | 'pending' | 'promote' | 'clear-pending';

export interface TargetWrite {
  target: string;
  outcome: string;
  mode: WriteMode;
  sha?: string;
  /** Stored as `last_reject_reason` when not empty. */
  rejectReason?: string;
  /** JSON text; `[]` when not given. `keep` leaves the field as it is. */
  openRejections?: string | 'keep';
  pendingPr?: number;
  pendingPrUrl?: string;
  loopName?: string;
}

/** What a write leaves. `text` null: there was no file and none is made. `written` false: pruned, but no target was written. */
export interface Written { text: string | null; decisions: Decision[]; skipped: Skip | null; written: boolean }

const emptyFile = '{\n  "targets": {}\n}\n';
const countingOutcomes = ['rejected', 'pr-closed'];
const carryingOutcomes = ['watch', 'error', 'escalated'];
/** Outcomes that store the open rejections given; all others reset them (R10). */
const rejectionOutcomes = ['rejected', 'pr-closed', 'watch'];

/**
 * The whole write of a loop state file: prune, then patch one target (seed: "When to prune: each loop-state-write").
 * @param text the file before, null when there is none
 * @param write the target to patch; undefined = only the prune, which never fails
 * @throws Failure `invalid-json`, `duplicate-key`, `not-an-object`, `malformed-entry`, `bad-argument`; nothing is changed then
 */
export function writeTarget(text: string | null, write: TargetWrite | undefined, now: Date): Written {
  if (text === null && write === undefined) return { text: null, decisions: [], skipped: null, written: false };
  const pruned = pruneTargets(text ?? emptyFile, now);
  const { decisions, skipped } = pruned;
  if (write === undefined) return { text: pruned.text, decisions, skipped, written: false };
  if (skipped !== null) throw notUnderstood(skipped, 'targets');
  const patched = patchTarget(pruned.text, write, now);
  if (patched === undefined) return { text: text === null ? null : pruned.text, decisions, skipped, written: false };
  return { text: patched, decisions, skipped, written: true };
}

/** Patches one target in text that was just pruned; undefined when its pending pull request is not the one meant. */
export function patchTarget(text: string, write: TargetWrite, now: Date): string | undefined {
  const file = readEntries(text, 'targets', (key, value, member) => (key === write.target ? { member, value } : undefined));
  if ('problem' in file) throw notUnderstood(file.problem, 'targets');
  const entry = file.entries.find((found) => found !== undefined);
  const value = entry === undefined ? {} : entry.value;
  if (!isObject(value)) {
    throw new Failure('malformed-entry', `The entry ${JSON.stringify(write.target)} is not an object.`, 'Repair or remove that entry by hand, then write again.');
  }
  if ((write.mode === 'promote' || write.mode === 'clear-pending') && !waitsFor(value, write.pendingPr)) return undefined;

  const fields = newFields(write, value, now);
  const drop = write.mode === 'metadata' || write.mode === 'pending' ? [] : ['pending'];
  const layout = layoutOf(text, file.members);
  if (entry === undefined) {
    const json = `{${fields.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
    const container = { start: file.container.start, end: file.container.end, members: file.container.members ?? [] };
    return applyEdits(text, changeObject(text, container, { add: [{ key: write.target, json }] }, layout, 1));
  }
  return applyEdits(text, changeEntry(text, entry.member, (members) => fieldChange(text, members, fields, drop), layout));
}

/** Whether the entry's pending pull request is the number given; text that looks like it does not match. */
export function waitsFor(entry: Record<string, unknown>, pendingPr: number | undefined): boolean {
  const pending = own(entry, 'pending');
  return pendingPr !== undefined && isObject(pending) && own(pending, 'pr') === pendingPr;
}

/** The fields a write sets, as JSON text, in their order: those of the mode first. */
function newFields(write: TargetWrite, before: Record<string, unknown>, now: Date): [string, string][] {
  const fields: [string, string][] = [];
  if (write.mode === 'advance') fields.push(['last_sha', JSON.stringify(write.sha ?? null)]);
  if (write.mode === 'pending') {
    const pending = {
      sha: write.sha ?? null, pr: write.pendingPr ?? null, pr_url: write.pendingPrUrl ?? null, loop_name: write.loopName ?? null, created_at: timestamp(now),
    };
    fields.push(['pending', JSON.stringify(pending)]);
  }
  if (write.mode === 'promote') {
    const pending = own(before, 'pending');
    // A pending pull request without a sha moves no cursor: the old one stays.
    const sha = isObject(pending) ? own(pending, 'sha') : undefined;
    if (typeof sha === 'string') fields.push(['last_sha', JSON.stringify(sha)]);
  }
  fields.push(['last_run', JSON.stringify(timestamp(now))], ['outcome', JSON.stringify(write.outcome)]);
  const counter = nextCounter(write, before);
  if (counter !== undefined) fields.push([counterField, String(counter)]);
  const rejections = nextRejections(write);
  if (rejections !== undefined) fields.push(['open_rejections', rejections]);
  if (write.rejectReason !== undefined && write.rejectReason !== '') fields.push(['last_reject_reason', JSON.stringify(write.rejectReason)]);
  return fields;
}

/** R10: rejected and pr-closed count, watch, error and escalated keep the number (undefined = as it stands), all others start again. */
function nextCounter(write: TargetWrite, before: Record<string, unknown>): number | undefined {
  const counter = own(before, counterField) ?? 0;
  if (carryingOutcomes.includes(write.outcome)) return Object.hasOwn(before, counterField) ? undefined : 0;
  if (!countingOutcomes.includes(write.outcome)) return 0;
  if (typeof counter !== 'number') {
    throw new Failure('malformed-entry', `${counterField} of ${JSON.stringify(write.target)} is not a number.`, 'Repair that entry by hand, then write again.');
  }
  return counter + 1;
}

function nextRejections(write: TargetWrite): string | undefined {
  const given = write.openRejections ?? '[]';
  if (given !== 'keep' && 'problem' in readJson(given)) {
    throw new Failure('bad-argument', 'The open rejections are not JSON.', 'Pass a JSON array, for example [].', 2);
  }
  if (!rejectionOutcomes.includes(write.outcome)) return '[]';
  return given === 'keep' ? undefined : given.replace(/^\ufeff/, '');
}

/** Existing fields are replaced in place, new ones go to the end. */
function fieldChange(text: string, members: readonly Member[], fields: readonly [string, string][], drop: readonly string[]): ObjectChange {
  const places = new Map(members.map((member) => [keyOf(text, member), member]));
  const replace = new Map<Member, string>();
  const add: { key: string; json: string }[] = [];
  for (const [key, json] of fields) {
    const place = places.get(key);
    if (place === undefined) add.push({ key, json });
    else replace.set(place, json);
  }
  return { remove: new Set(drop.map((key) => places.get(key)).filter((member) => member !== undefined)), replace, add };
}
