import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Failure } from '../../src/core/disk/failure';
import { sha256 } from '../../src/core/disk/hash';
import { runPlan, type PlanDraft, type RunRequest } from '../../src/core/plan/engine';
import { fileExecutors } from '../../src/core/plan/fileSteps';
import { openJournal, unfinishedPlans } from '../../src/core/plan/journal';
import { ABSENT, type Plan, type Step } from '../../src/core/plan/plan';
import { closedDirectory, planTrash } from '../../src/core/plan/store';
import { listPlans, planToUndo, planUndo } from '../../src/core/plan/undo';
import { makePlace, readTree, type Place } from '../support/program';

describe('the engine', () => {
  let place: Place;
  let calls = 0;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  const store = () => ({ directory: path.join(place.work, 'loopkeeper'), root: place.work });
  const at = (name: string) => path.join(place.work, name);
  const request = (build: RunRequest['build'], more: Partial<RunRequest> = {}): RunRequest => {
    calls += 1;
    return {
      store: store(), verb: 'test', build, dryRun: false, executors: fileExecutors, clock: { now: () => '2026-08-04T09:00:00.000Z', real: () => '2026-08-04T09:00:00.000Z' },
      random: calls.toString(16).padStart(32, '0').replace(/^(.{24})(.{8})$/, '$2$1'), pid: 4242, ...more,
    };
  };
  const draft = (steps: Step[], more: Partial<PlanDraft> = {}): PlanDraft => ({
    items: [{ ref: 'a', found: true, live: false, kept: [], errors: [], notices: [], decision: steps.map((step) => step.kind) }], steps, warnings: [],
    events: [{ item: 'a', log: at('log.jsonl'), root: place.work, source: 't', event: 't.done', fields: { work_item: 'a' }, piecesAs: 'removed', withFound: true }],
    pieceOrder: ['one', 'two'], keepTrash: true, ...more,
  });
  const remove = (name: string, text: string, pieces: string[] = ['one']): Step => ({ kind: 'deleteFile', item: 'a', path: at(name), root: place.work, before: sha256(text), reason: 'r', undo: 'restore', phase: 0, pieces });
  const write = (name: string, before: string | undefined, after: string, pieces: string[] = ['two']): Step => ({
    kind: 'writeFile', item: 'a', path: at(name), root: place.work, before: before === undefined ? ABSENT : sha256(before), after: sha256(after), content: { text: after }, reason: 'r', undo: 'restore', phase: 1, pieces,
  });
  const outside = () => readTree(place.work, (name) => name === 'loopkeeper' || name === 'log.jsonl');
  const undo = async (id: string) => {
    const closed = planToUndo(store(), id);
    assert.ok(closed);
    return runPlan(request((reader) => planUndo(store(), closed, reader, 'me'), { verb: 'undo' }));
  };

  it('deletes and rewrites, files the plan, writes one event, and undo puts every byte back', async () => {
    fs.writeFileSync(at('gone'), 'old');
    fs.writeFileSync(at('kept'), 'before');
    const before = outside();
    const result = await runPlan(request(() => draft([remove('gone', 'old'), write('kept', 'before', 'after'), write('new', undefined, 'fresh')])));
    assert.deepEqual(outside(), { kept: 'after', new: 'fresh' });
    assert.deepEqual(result.outcome?.items[0]?.removed, ['one', 'two']);
    const lines = fs.readFileSync(at('log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(lines.map(({ event, removed, found, plan }) => ({ event, removed, found, plan })), [{ event: 't.done', removed: ['one', 'two'], found: true, plan: result.plan.id }]);
    assert.deepEqual(unfinishedPlans(store()), []);
    assert.equal(listPlans(store())[0]?.state, 'undoable');
    const undone = await undo(result.plan.id);
    assert.deepEqual(outside(), before);
    assert.deepEqual(undone.outcome?.items[0]?.errors, []);
    assert.deepEqual(listPlans(store()).map(({ state }) => state), ['undoable', 'undone']);
    assert.ok(!fs.existsSync(planTrash(store(), result.plan.id)), 'the trash of an undone plan is no longer needed');
    await undo(undone.plan.id);
    assert.deepEqual(outside(), { kept: 'after', new: 'fresh' }, 'an undo can be undone');
  });

  it('a dry run creates nothing and gives the digest that --expect takes', async () => {
    fs.writeFileSync(at('gone'), 'old');
    const dry = await runPlan(request(() => draft([remove('gone', 'old')]), { dryRun: true }));
    assert.deepEqual(readTree(place.work), { gone: 'old' });
    await assert.rejects(runPlan(request(() => draft([]), { expect: dry.plan.digest })), (error: Failure) => error.kind === 'stale-plan' && error.exitCode === 3);
    assert.deepEqual(outside(), { gone: 'old' });
    await runPlan(request(() => draft([remove('gone', 'old')]), { expect: dry.plan.digest }));
    assert.deepEqual(outside(), {});
  });

  it('leaves a file alone that is not as it was planned, says so, and does the rest', async () => {
    fs.writeFileSync(at('gone'), 'changed by a daemon');
    fs.writeFileSync(at('kept'), 'before');
    const { outcome } = await runPlan(request(() => draft([remove('gone', 'old'), write('kept', 'before', 'after')])));
    assert.deepEqual(outside(), { gone: 'changed by a daemon', kept: 'after' });
    assert.deepEqual(outcome?.items[0]?.errors.map(({ kind }) => kind), ['changed']);
    assert.deepEqual(outcome?.items[0]?.removed, ['two']);
    assert.match(fs.readFileSync(at('log.jsonl'), 'utf8'), /"level":"warning"/);
  });

  it('does not replace a file that came up where one is to be made', async () => {
    fs.writeFileSync(at('new'), 'somebody else');
    const { outcome } = await runPlan(request(() => draft([write('new', undefined, 'fresh')])));
    assert.deepEqual(outside(), { new: 'somebody else' });
    assert.deepEqual(outcome?.items[0]?.errors.map(({ kind }) => kind), ['changed']);
  });

  it('undo leaves an item whole that changed since, exit by the error changed', async () => {
    fs.writeFileSync(at('gone'), 'old');
    fs.writeFileSync(at('kept'), 'before');
    const { plan } = await runPlan(request(() => draft([remove('gone', 'old'), write('kept', 'before', 'after')])));
    fs.writeFileSync(at('kept'), 'edited since');
    const { outcome } = await undo(plan.id);
    assert.deepEqual(outside(), { kept: 'edited since' });
    assert.deepEqual(outcome?.items[0]?.errors.map(({ kind }) => kind), ['changed']);
    assert.equal(listPlans(store()).find((entry) => entry.plan === plan.id)?.state, 'undoable');
  });

  it('rolls an unfinished plan forward before the next one, and a dry run meanwhile sees what it will leave', async () => {
    fs.writeFileSync(at('gone'), 'old');
    await runPlan(request(() => draft([]))); // makes the store
    const half: Plan = { id: '20260804T090000Z-deadbeef', verb: 'test', createdAt: '2026-08-04T09:00:00.000Z', ...draft([remove('gone', 'old')]), digest: '' };
    await openJournal(store(), half);
    const seen: string[] = [];
    const dry = await runPlan(request((reader) => { seen.push(reader.kind(at('gone'))); return draft([]); }, { dryRun: true }));
    assert.deepEqual(seen, ['absent']);
    assert.deepEqual(dry.plan.warnings.map(({ kind }) => kind), ['unfinished-plan']);
    const next = await runPlan(request((reader) => { seen.push(reader.kind(at('gone'))); return draft([]); }));
    assert.deepEqual(next.recovered, [half.id]);
    assert.deepEqual(seen, ['absent', 'absent']);
    assert.equal(fs.readFileSync(at('log.jsonl'), 'utf8').split('\n').filter((line) => line.includes(half.id)).length, 1);
    assert.equal(next.plan.digest, dry.plan.digest, 'the warning of the rehearsal is no part of what is decided');
  });

  it('sets a plan aside that cannot be read, and goes on', async () => {
    await runPlan(request(() => draft([])));
    fs.writeFileSync(path.join(store().directory, 'journal', '20260804T090000Z-deadbeef.json'), '{"plan": 1');
    const { plan } = await runPlan(request(() => draft([])));
    assert.deepEqual(plan.warnings.map(({ kind }) => kind), ['plan-failed']);
    assert.deepEqual(unfinishedPlans(store()), []);
    assert.ok(fs.existsSync(path.join(store().directory, 'journal', 'failed', '20260804T090000Z-deadbeef.json')));
  });

  it('without trash nothing is kept and undo says so', async () => {
    fs.writeFileSync(at('gone'), 'old');
    const { plan } = await runPlan(request(() => draft([remove('gone', 'old')], { keepTrash: false })));
    assert.ok(!fs.existsSync(planTrash(store(), plan.id)));
    assert.deepEqual(outside(), {});
    await assert.rejects(undo(plan.id), (error: Failure) => error.kind === 'nothing-to-undo');
  });

  it('touches nothing through a link that is planted for a file, its folder, or our own directory', async () => {
    const victim = path.join(place.top, 'victim');
    fs.mkdirSync(victim);
    fs.writeFileSync(path.join(victim, 'gone'), 'old');
    fs.symlinkSync(victim, at('folder'));
    fs.symlinkSync(path.join(victim, 'gone'), at('link'));
    const { outcome } = await runPlan(request(() => draft([remove('folder/gone', 'old'), remove('link', 'old')])));
    assert.deepEqual(outcome?.items[0]?.errors.map(({ kind }) => kind), ['unsafe-path', 'unsafe-path']);
    assert.deepEqual(readTree(victim), { gone: 'old' });
    fs.rmSync(store().directory, { recursive: true });
    fs.symlinkSync(victim, store().directory);
    await assert.rejects(runPlan(request(() => draft([remove('link', 'old')]))), (error: Failure) => error.kind === 'unsafe-path');
    assert.deepEqual(readTree(victim), { gone: 'old' });
  });

  it('does not remove what cannot be put in the trash', async () => {
    fs.writeFileSync(at('gone'), 'old');
    await runPlan(request(() => draft([])));
    const trash = path.join(store().directory, 'trash');
    fs.rmSync(trash, { recursive: true });
    fs.writeFileSync(trash, 'a file in its place');
    await assert.rejects(runPlan(request(() => draft([remove('gone', 'old')]))), (error: Failure) => error.kind === 'unsafe-path');
    assert.deepEqual(outside(), { gone: 'old' });
    assert.ok(fs.existsSync(closedDirectory(store())));
  });
});
