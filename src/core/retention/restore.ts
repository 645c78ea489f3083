import { isObject, own } from './decision';
import type { Decision } from './decision';
import { applyEdits, changeObject, layoutOf } from './jsonEdit';
import type { Edit, ObjectChange } from './jsonEdit';
import { keyOf, readEntries, scanMembers } from './jsonText';
import type { Member } from './jsonText';
import { logLines } from './runLog';
import { changeEntry, counterField, rejectFields } from './targets';

/** What came back of what a prune took, and what did not because somebody wrote it anew. `text` is the very same when nothing came back. */
export interface Restored { text: string; back: string[]; kept: string[] }

/**
 * Puts back what a prune took out of `before`, entry by entry, into the file as it is now: a deleted entry where its key is absent, a
 * cooled one where the reject history is absent and the counter is still 0 (issue: loop-state prune).
 * @returns undefined when one of the two cannot be understood
 */
export function restoreEntries(before: string, now: string, field: 'targets' | 'runs', taken: readonly Decision[]): Restored | undefined {
  const old = readEntries(before, field, (key, value, member): [string, { value: unknown; member: Member }] => [key, { value, member }]);
  const current = readEntries(now, field, (key, value, member): [string, { value: unknown; member: Member }] => [key, { value, member }]);
  if ('problem' in old || 'problem' in current) return undefined;
  const olds = new Map(old.entries);
  const currents = new Map(current.entries);
  const layout = layoutOf(now, current.members);
  const result: Restored = { text: now, back: [], kept: [] };
  const add: { key: string; json: string }[] = [];
  const edits: Edit[] = [];
  for (const { key, action } of taken) {
    const was = olds.get(key);
    const is = currents.get(key);
    if (was === undefined) continue;
    if (action === 'delete' && is === undefined) add.push({ key, json: before.slice(was.member.start, was.member.end) });
    else if (action === 'cooldown' && is !== undefined && isCooledSince(is.value)) {
      edits.push(...changeEntry(now, is.member, (members) => rewarm(now, members, before, was.member), layout));
    } else {
      result.kept.push(key);
      continue;
    }
    result.back.push(key);
  }
  const container = { start: current.container.start, end: current.container.end, members: current.container.members ?? [] };
  // Entries come back at the end: behind every edit inside the entries that are there.
  edits.sort((a, b) => a.start - b.start);
  return { ...result, text: applyEdits(now, [...edits, ...changeObject(now, container, { add }, layout, 1)]) };
}

function isCooledSince(entry: unknown): boolean {
  return isObject(entry) && own(entry, counterField) === 0 && rejectFields.every((field) => !Object.hasOwn(entry, field));
}

/** The reject history and the counter of an entry as they were in `before`. */
function rewarm(now: string, members: readonly Member[], before: string, was: Member): ObjectChange {
  const fields = new Map<string, string>();
  for (const member of scanMembers(before, was.start, was.end, 1).members) fields.set(keyOf(before, member), before.slice(member.start, member.end));
  const counter = members.find((member) => keyOf(now, member) === counterField);
  const oldCounter = fields.get(counterField);
  return {
    add: rejectFields.flatMap((key) => { const json = fields.get(key); return json === undefined ? [] : [{ key, json }]; }),
    ...(counter === undefined ? {} : oldCounter === undefined ? { remove: new Set([counter]) } : { replace: new Map([[counter, oldCounter]]) }),
  };
}

/** Puts lines of the run log back before the first entry that is there; a line that is there already is left at that. */
export function restoreLines(before: string, now: string, taken: readonly Decision[]): Restored {
  const gone = new Set(taken.map(({ key }) => key));
  const present = new Set(logLines(now).map(({ text }) => text));
  const lines = logLines(before).filter(({ number }) => gone.has(`line:${String(number)}`));
  const missing = lines.filter(({ text }) => !present.has(text));
  const eol = /\r\n/.test(before) ? '\r\n' : '\n';
  const at = logLines(now)[0]?.start ?? now.length;
  const gap = at > 0 && !now.slice(0, at).endsWith('\n') ? eol : '';
  return {
    text: missing.length === 0 ? now : now.slice(0, at) + gap + missing.map(({ text }) => text + eol).join('') + now.slice(at),
    back: missing.map(({ number }) => `line:${String(number)}`),
    kept: lines.filter(({ text }) => present.has(text)).map(({ number }) => `line:${String(number)}`),
  };
}
