import { cutoffAt } from './clock';
import type { Cutoff } from './clock';
import { isObject, keptByDate, own } from './decision';
import type { Decision, Pruned } from './decision';
import { applyEdits, changeObject, layoutOf } from './jsonEdit';
import type { Edit, Layout, ObjectChange } from './jsonEdit';
import { keyOf, readEntries, scanMembers } from './jsonText';
import type { EntryFile, Member } from './jsonText';

/** The breaker of a target is open from this many failures on (seed non-goal: the threshold stays). */
export const breakerThreshold = 3;

const terminalOutcomes: unknown[] = ['rejected', 'pr-closed'];
const runningOutcomes: unknown[] = ['pr-created', 'watch', 'no-op'];

/** The fields of the reject history that a cooldown removes. */
export const rejectFields: readonly string[] = ['last_reject_reason', 'open_rejections'];
export const counterField = 'consecutive_failures';

/** Whether a key names a pull request. Every other key is a watch target, whose cursor is never lost. */
export function isPullRequestKey(key: string): boolean {
  return key.startsWith('pull_request:');
}

/** Neither reject field is there and the counter is zero: there is nothing to cool. */
function isCool(entry: Record<string, unknown>): boolean {
  return !rejectFields.some((field) => Object.hasOwn(entry, field)) && own(entry, counterField) === 0;
}

/** The rules of the seed for one target, made fail-safe: what is in flight, unknown, undated or malformed is kept. */
export function decideTarget(key: string, entry: unknown, cutoff: Cutoff): Decision {
  if (!isObject(entry)) return { key, action: 'keep', reason: 'malformed-entry' };
  const pending = own(entry, 'pending');
  if (pending !== undefined && pending !== null) return { key, action: 'keep', reason: 'pending' };
  const outcome = own(entry, 'outcome');
  if (runningOutcomes.includes(outcome)) return { key, action: 'keep', reason: 'not-terminal' };
  if (!terminalOutcomes.includes(outcome)) return { key, action: 'keep', reason: 'unknown-outcome' };
  const kept = keptByDate(own(entry, 'last_run'), cutoff);
  if (kept !== undefined) return { key, action: 'keep', reason: kept };
  if (isPullRequestKey(key)) return { key, action: 'delete', reason: 'expired' };
  return isCool(entry) ? { key, action: 'keep', reason: 'watch-key' } : { key, action: 'cooldown', reason: 'expired' };
}

/** What a cooldown does to an entry's members: the reject history goes, the counter becomes 0, all else stays in place. */
function cooldown(text: string, members: readonly Member[]): ObjectChange {
  const named = (field: string): Member | undefined => members.find((member) => keyOf(text, member) === field);
  const counter = named(counterField);
  return {
    remove: new Set(rejectFields.map(named).filter((member) => member !== undefined)),
    ...(counter === undefined ? { add: [{ key: counterField, json: '0' }] } : { replace: new Map([[counter, '0']]) }),
  };
}

/** The edits that change one entry of a file. */
export function changeEntry(text: string, entry: Member, change: (members: readonly Member[]) => ObjectChange, layout: Layout): Edit[] {
  const { members } = scanMembers(text, entry.start, entry.end, 1);
  return changeObject(text, { start: entry.start, end: entry.end, members }, change(members), layout, 2);
}

/** The text of a file without the members that go and with the changed entries, in one pass over both. */
export function rewriteEntries(file: EntryFile<unknown>, gone: ReadonlySet<Member>, entryEdits: readonly Edit[], layout: Layout): string {
  const { container } = file;
  const removals = changeObject(file.text, { start: container.start, end: container.end, members: container.members ?? [] }, { remove: gone }, layout, 1);
  // An entry that is changed is never one that goes, so the two lists do not overlap.
  const edits = [...removals, ...entryEdits].sort((a, b) => a.start - b.start);
  return applyEdits(file.text, edits);
}

/**
 * The prune of a loop state file.
 * @param text the file's text; @param now the clock; @param days the window
 * @returns the text after it and the decisions; a file that cannot be understood is skipped, not an error
 */
export function pruneTargets(text: string, now: Date, days?: number): Pruned {
  const cutoff = cutoffAt(now, days);
  const gone = new Set<Member>();
  const cooled: Member[] = [];
  const file = readEntries(text, 'targets', (key, value, member) => {
    const decision = decideTarget(key, value, cutoff);
    if (decision.action === 'delete') gone.add(member);
    if (decision.action === 'cooldown') cooled.push(member);
    return decision;
  });
  if ('problem' in file) return { text, decisions: [], skipped: file.problem };
  if (gone.size === 0 && cooled.length === 0) return { text, decisions: file.entries, skipped: null };
  const layout = layoutOf(text, file.members);
  const edits = cooled.flatMap((member) => changeEntry(text, member, (members) => cooldown(text, members), layout));
  return { text: rewriteEntries(file, gone, edits, layout), decisions: file.entries, skipped: null };
}
