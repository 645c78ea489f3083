import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { pruneTargets } from '../../src/core/retention/targets';
import { anyModel, anyStyle, render, spelled } from '../support/looseJson';
import type { Model } from '../support/looseJson';

const now = new Date('2026-08-22T10:00:00Z');
const day = 86_400_000;

/** One target with what a person would say of it, kept apart from the code under test. */
interface Target { key: string; keyText: string; fields: [string, string, Model][]; clock: 'old' | 'young' | 'none'; outcome: 'terminal' | 'other'; pending: boolean }

const clocks: fc.Arbitrary<{ clock: Target['clock']; raw: string | undefined }> = fc.oneof(
  // A day beyond the window, whatever the time of day, is old by every reading; a day within is young.
  fc.integer({ min: 32, max: 4000 }).map((days) => ({ clock: 'old' as const, raw: JSON.stringify(new Date(now.getTime() - days * day).toISOString()) })),
  fc.integer({ min: -4000, max: 29 }).map((days) => ({ clock: 'young' as const, raw: JSON.stringify(new Date(now.getTime() - days * day).toISOString().slice(0, 19) + 'Z') })),
  fc.constantFrom(undefined, 'null', '5', 'true', '""', '"2026-02-31"', '"2020-01-01 00:00:00"', '"20200101T000000Z"', '[]', '{}').map((raw) => ({ clock: 'none' as const, raw })),
);
const outcomes: fc.Arbitrary<{ outcome: Target['outcome']; raw: string | undefined }> = fc.oneof(
  fc.constantFrom('"rejected"', '"pr-closed"').map((raw) => ({ outcome: 'terminal' as const, raw })),
  fc.constantFrom(undefined, '"pr-created"', '"watch"', '"no-op"', '"merged"', '"error"', '"Rejected"', 'null', '7', '["rejected"]').map((raw) => ({ outcome: 'other' as const, raw })),
);
const pendings = fc.constantFrom(undefined, undefined, 'null', '{}', '{"pr":3}', 'false', '0', '""', '[]');

const target: fc.Arbitrary<Target> = fc.record({
  key: fc.oneof(fc.nat(999).map((n) => `pull_request:${n}`), fc.nat(99).map((n) => `integration:b${n}`), fc.constantFrom('__proto__', '7', 'pull_request', 'constructor')),
  time: clocks, result: outcomes, pending: pendings,
  counter: fc.constantFrom(undefined, '0', '0.0', '3', 'null', '"3"'),
  reason: fc.option(fc.string({ maxLength: 8 }), { nil: undefined }),
  rejections: fc.option(anyModel, { nil: undefined }),
  extra: fc.uniqueArray(fc.tuple(fc.constantFrom('last_sha', '123', 'note', '__proto__'), anyModel), { maxLength: 3, selector: ([key]) => key }),
  order: fc.infiniteStream(fc.nat(1000)),
}).chain((drawn) => {
  const fields: [string, Model][] = [...drawn.extra];
  const put = (name: string, raw: string | undefined): void => { if (raw !== undefined) fields.push([name, { raw }]); };
  put('last_run', drawn.time.raw);
  put('outcome', drawn.result.raw);
  put('pending', drawn.pending);
  put('consecutive_failures', drawn.counter);
  if (drawn.reason !== undefined) put('last_reject_reason', JSON.stringify(drawn.reason));
  if (drawn.rejections !== undefined) fields.push(['open_rejections', drawn.rejections]);
  const shuffled = fields.map((field) => ({ field, at: drawn.order.next().value ?? 0 })).sort((a, b) => a.at - b.at).map(({ field }) => field);
  return fc.tuple(spelled(drawn.key), ...shuffled.map(([name]) => spelled(name))).map(([keyText, ...names]) => ({
    key: drawn.key, keyText,
    fields: shuffled.map(([name, model], i): [string, string, Model] => [name, names[i] ?? JSON.stringify(name), model]),
    clock: drawn.time.clock, outcome: drawn.result.outcome, pending: drawn.pending !== undefined && drawn.pending !== 'null',
  }));
});
const targets = fc.uniqueArray(target, { maxLength: 8, selector: ({ key }) => key });

function document(entries: readonly Target[], before: Model | undefined, after: Model | undefined): Model {
  const held = entries.map(({ keyText, fields }): [string, Model] => [keyText, { members: fields.map(([, text, model]): [string, Model] => [text, model]) }]);
  return { members: [...(before === undefined ? [] : [['"before"', before] as [string, Model]]), ['"targets"', { members: held }], ...(after === undefined ? [] : [['"after"', after] as [string, Model]])] };
}

/** Whether the seed's words let this entry be touched at all. */
function mayBeTouched(entry: Target): boolean {
  return entry.outcome === 'terminal' && entry.clock === 'old' && !entry.pending;
}

/** The entry as the seed leaves it: undefined when it goes, without its reject history when it is a watch target. */
function after(entry: Target): Target | undefined {
  if (!mayBeTouched(entry)) return entry;
  if (entry.key.startsWith('pull_request:')) return undefined;
  const counter = entry.fields.find(([name]) => name === 'consecutive_failures');
  const isZero = counter !== undefined && 'raw' in counter[2] && Number(counter[2].raw) === 0 && /^[0-9.]+$/.test(counter[2].raw);
  const hasHistory = entry.fields.some(([name]) => name === 'last_reject_reason' || name === 'open_rejections');
  if (isZero && !hasHistory) return entry;
  const fields = entry.fields.filter(([name]) => name !== 'last_reject_reason' && name !== 'open_rejections')
    .map(([name, text, model]): [string, string, Model] => (name === 'consecutive_failures' ? [name, text, { raw: '0' }] : [name, text, model]));
  if (counter === undefined) fields.push(['consecutive_failures', '"consecutive_failures"', { raw: '0' }]);
  return { ...entry, fields };
}

describe('property: the prune of targets', () => {
  const files = fc.record({ entries: targets, before: fc.option(anyModel, { nil: undefined }), after: fc.option(anyModel, { nil: undefined }), style: anyStyle });

  it('leaves, byte for byte, the file as if what goes had never been written', () => {
    fc.assert(fc.property(files, (file) => {
      const text = render(document(file.entries, file.before, file.after), file.style);
      const expected = file.entries.map(after).filter((entry) => entry !== undefined);
      assert.equal(pruneTargets(text, now).text, render(document(expected, file.before, file.after), file.style));
    }), { numRuns: 1500 });
  });

  it('never removes a cursor, a pending, an undated, an unknown or a young entry', () => {
    fc.assert(fc.property(files, (file) => {
      const text = render(document(file.entries, file.before, file.after), file.style);
      const pruned = pruneTargets(text, now);
      const left = JSON.parse(pruned.text.replace('\ufeff', '')) as { targets: Record<string, Record<string, unknown>> };
      const had = JSON.parse(text.replace('\ufeff', '')) as typeof left;
      for (const entry of file.entries) {
        const isLeft = Object.hasOwn(left.targets, entry.key);
        if (!mayBeTouched(entry)) assert.deepEqual(left.targets[entry.key], had.targets[entry.key]);
        if (!entry.key.startsWith('pull_request:')) {
          assert.ok(isLeft);
          for (const field of ['last_sha', 'pending', 'last_run', 'outcome']) assert.deepEqual(left.targets[entry.key]?.[field], had.targets[entry.key]?.[field]);
        }
      }
      // The plan and the text say the same.
      const kept = pruned.decisions.filter(({ action }) => action !== 'delete').map(({ key }) => key);
      assert.deepEqual(new Set(Object.keys(left.targets)), new Set(kept));
      assert.deepEqual(pruned.decisions.map(({ key }) => key), file.entries.map(({ key }) => key));
    }), { numRuns: 800 });
  });

  it('is the same done twice, and the second time touches nothing', () => {
    fc.assert(fc.property(files, (file) => {
      const once = pruneTargets(render(document(file.entries, file.before, file.after), file.style), now);
      const twice = pruneTargets(once.text, now);
      assert.ok(Object.is(twice.text, once.text));
      assert.ok(twice.decisions.every(({ action }) => action === 'keep'));
    }), { numRuns: 500 });
  });

  it('with white space in odd places keeps the values of what stays', () => {
    const space = fc.constantFrom('', ' ', '\n', '\t ', '\r\n  ');
    fc.assert(fc.property(files, fc.infiniteStream(space), (file, spaces) => {
      const tidy = render(document(file.entries, file.before, file.after), { unit: '', eol: '\n', comma: ',', colon: ':', bom: false, end: '' });
      const loose = tidy.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs, (token) => (spaces.next().value ?? '') + token + (spaces.next().value ?? ''));
      const pruned = pruneTargets(loose, now);
      assert.deepEqual(JSON.parse(pruned.text), JSON.parse(pruneTargets(tidy, now).text));
      assert.deepEqual(pruned.decisions, pruneTargets(tidy, now).decisions);
    }), { numRuns: 500 });
  });

  it('leaves text alone that is not one JSON document with an object targets', () => {
    fc.assert(fc.property(files, fc.nat(), fc.constantFrom('', ',', '{', '}', '"', '\\', '0', ':'), (file, at, put) => {
      const text = render(document(file.entries, file.before, file.after), file.style);
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + put + text.slice(place + (put === '' ? 1 : 0));
      let isJson = true;
      try { JSON.parse(broken.replace(/^\ufeff/, '')); } catch { isJson = false; }
      const pruned = pruneTargets(broken, now);
      assert.equal(pruned.skipped === 'invalid-json', !isJson);
      if (!isJson) assert.ok(Object.is(pruned.text, broken) && pruned.decisions.length === 0);
    }), { numRuns: 1500 });
  });
});
