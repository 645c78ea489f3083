import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { pruneRuns, recordRun } from '../../src/core/retention/runLedger';
import { appendRun, pruneLog } from '../../src/core/retention/runLog';
import { writeTarget } from '../../src/core/retention/writeTarget';
import { anyModel, anyStyle, render, spelled } from '../support/looseJson';
import type { Model } from '../support/looseJson';

const now = new Date('2026-08-22T10:00:00Z');
const cutoff = now.getTime() - 30 * 86_400_000;

/** A clock near the boundary in some offset, and whether the instant it names is before the cutoff. */
const clock = fc.record({
  seconds: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -200_000, max: 200_000 })), offsetMinutes: fc.integer({ min: -1439, max: 1439 }),
  fraction: fc.constantFrom('', '.0', '.000000000001', '.999999999999'),
}).map(({ seconds, offsetMinutes, fraction }) => {
  const instant = cutoff + seconds * 1000;
  const local = new Date(instant + offsetMinutes * 60_000).toISOString().slice(0, 19);
  const minutes = Math.abs(offsetMinutes);
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  // A fraction only moves forward within its second: only whole seconds decide which side of the cutoff it is on.
  return { text: local + fraction + offset, isOld: seconds < 0, date: new Date(instant).toISOString().slice(0, 10) };
});
const unreadable = fc.constantFrom('"2026-06-31"', 'null', '12', '"x"', '[]').map((raw) => ({ raw, isOld: false, isOldDate: false }));
const anyClock = fc.oneof(
  { weight: 4, arbitrary: clock.map(({ text, isOld, date }) => ({ raw: JSON.stringify(text), isOld, isOldDate: date < new Date(cutoff).toISOString().slice(0, 10) })) },
  { weight: 1, arbitrary: unreadable },
);

interface Run { key: string; keyText: string; isOld: boolean; model: Model }
const runs: fc.Arbitrary<Run[]> = fc.uniqueArray(
  fc.tuple(fc.oneof(fc.nat(20).map(String), fc.constantFrom('29310573442', '__proto__', 'abc')), anyClock, fc.option(anyModel, { nil: undefined }), anyModel).chain(([key, time, pending, other]) =>
    spelled(key).map((keyText): Run => ({
      key, keyText, isOld: time.isOld,
      model: { members: [['"outcome"', { raw: '"rejected"' }], ...(pending === undefined ? [] : [['"pending"', pending] as [string, Model]]), ['"updated_at"', { raw: time.raw }], ['"z"', other]] },
    }))),
  { maxLength: 8, selector: ({ key }) => key },
);

function ledger(entries: readonly Run[]): Model {
  return { members: [['"version"', { raw: '1.0' }], ['"runs"', { members: entries.map(({ keyText, model }): [string, Model] => [keyText, model]) }]] };
}

describe('property: ledger, run log and write', () => {
  it('the ledger loses exactly the runs whose instant is before the cutoff, and no other byte', () => {
    fc.assert(fc.property(runs, anyStyle, (entries, style) => {
      const pruned = pruneRuns(render(ledger(entries), style), now);
      assert.equal(pruned.text, render(ledger(entries.filter(({ isOld }) => !isOld)), style));
      assert.ok(Object.is(pruneRuns(pruned.text, now).text, pruned.text));
    }), { numRuns: 800 });
  });

  it('recording a run leaves the others as the prune leaves them', () => {
    fc.assert(fc.property(runs, anyStyle, fc.oneof(fc.nat(20).map(String), fc.constantFrom('__proto__', 'new')), (entries, style, runId) => {
      const recorded = recordRun(render(ledger(entries), style), { runId, workflowName: 'w', headSha: 'h', outcome: 'rejected' }, now);
      const made: Model = { members: Object.entries({
        workflow_name: '"w"', head_sha: '"h"', outcome: '"rejected"', reject_count: '1', loop_run_id: '""', updated_at: '"2026-08-22T10:00:00Z"',
      }).map(([name, raw]): [string, Model] => [JSON.stringify(name), { raw }]) };
      const place = entries.findIndex(({ key }) => key === runId);
      const run: Run = { key: runId, keyText: entries[place]?.keyText ?? JSON.stringify(runId), isOld: false, model: made };
      const merged = place < 0 ? [...entries, run] : entries.map((entry, i) => (i === place ? run : entry));
      assert.equal(recorded.text, render(ledger(merged.filter(({ isOld }) => !isOld)), style));
    }), { numRuns: 800 });
  });

  it('the run log loses exactly the lines whose UTC date is before the cutoff, and no other line', () => {
    const line = fc.oneof(
      { weight: 4, arbitrary: anyClock.map(({ raw, isOldDate }) => ({ text: `{"run_id":${raw},"n":12345678901234567890}`, isOld: isOldDate })) },
      { weight: 1, arbitrary: fc.constantFrom('', '# Loop Run Log', ' {"run_id":"2020-01-01"}', '{"run_id":"2020-01-01","run_id":"2020-01-01"}', '{"run_id":"2020-01-01"', '{} {}').map((text) => ({ text, isOld: false })) },
    );
    fc.assert(fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.boolean(), (lines, eol, hasEnd) => {
      const join = (kept: typeof lines): string => kept.map(({ text }) => text + eol).join('');
      const full = join(lines);
      assert.equal(pruneLog(full, now).text, join(lines.filter(({ isOld }) => !isOld)));
      const text = hasEnd || lines.at(-1)?.text === '' ? full : full.slice(0, full.length - eol.length);
      const appended = appendRun(text, '{"run_id":"2026-08-22T10:00:00Z"}', now).text ?? '';
      const lastEol = text.includes('\n') ? eol : '\n';
      const kept = join(lines.filter(({ isOld }) => !isOld));
      if (text === full) assert.equal(appended, kept + '{"run_id":"2026-08-22T10:00:00Z"}' + lastEol);
      assert.ok(appended.endsWith('{"run_id":"2026-08-22T10:00:00Z"}' + lastEol));
    }), { numRuns: 800 });
  });

  it('a write changes the fields it names in place and adds the others last, in the style of the file', () => {
    const entry = fc.uniqueArray(fc.tuple(fc.constantFrom('last_run', 'outcome', 'open_rejections', 'last_reject_reason', 'last_sha', 'note', '7'), anyModel), { maxLength: 7, selector: ([name]) => name });
    fc.assert(fc.property(entry, fc.nat(5), anyModel, anyStyle, (fields, counter, given, style) => {
      const held: [string, Model][] = [...fields, ['consecutive_failures', { raw: String(counter) }]];
      const document = (members: [string, Model][]): Model => ({
        members: [['"targets"', { members: [['"integration:a"', { members: members.map(([name, model]): [string, Model] => [JSON.stringify(name), model]) }], ['"b"', { raw: '1.0' }]] }]],
      });
      const openRejections = render(given, { unit: '', eol: '\n', comma: ' , ', colon: ' :\n', bom: false, end: '\n' });
      const before = render(document(held), style);
      // An entry whose clock happens to be readable and old would be cooled first; these never are.
      const written = writeTarget(before, { target: 'integration:a', outcome: 'rejected', mode: 'advance', sha: 'n', rejectReason: 'why', openRejections }, now);
      const set: [string, Model][] = [
        ['last_sha', { raw: '"n"' }], ['last_run', { raw: '"2026-08-22T10:00:00Z"' }], ['outcome', { raw: '"rejected"' }], ['consecutive_failures', { raw: String(counter + 1) }],
        ['open_rejections', given], ['last_reject_reason', { raw: '"why"' }],
      ];
      const expected = [
        ...held.map(([name, model]): [string, Model] => [name, set.find(([field]) => field === name)?.[1] ?? model]),
        ...set.filter(([name]) => !held.some(([field]) => field === name)),
      ];
      assert.equal(written.text, render(document(expected), style));
    }), { numRuns: 800 });
  });
});
