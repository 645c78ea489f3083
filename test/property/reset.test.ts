import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import fs from 'node:fs';
import path from 'node:path';
import type { CliConfig } from '../../src/core/config/cliConfig';
import type { Failure } from '../../src/core/disk/failure';
import { diskReader } from '../../src/core/disk/reader';
import { executorsFor } from '../../src/core/executors';
import { runPlan, type RunRequest, type RunResult } from '../../src/core/plan/engine';
import { inOrder } from '../../src/core/plan/plan';
import { planToUndo, planUndo } from '../../src/core/plan/undo';
import { gatherReset } from '../../src/core/sessions/resetFacts';
import { planReset } from '../../src/core/sessions/resetPlan';
import { buildPortableIndex } from '../../src/core/workItems/portableIndex';
import { parseRef } from '../../src/core/workItems/ref';
import { build, bystander, everything, generatedState, pool, type Built, type GeneratedItem, type GeneratedState } from '../support/generatedState';

interface Asked { all: boolean; refs: string[]; includeGraph: boolean; keepTrash: boolean }
const asked: fc.Arbitrary<Asked> = fc.record({ all: fc.nat(3).map((n) => n === 0), refs: fc.shuffledSubarray(pool, { minLength: 2, maxLength: 7 }), includeGraph: fc.boolean(), keepTrash: fc.nat(5).map((n) => n > 0) });

const executors = executorsFor({ git: { command: 'no-git', env: {} }, clock: { milliseconds: () => performance.now(), sleep: () => Promise.resolve() }, callerPid: process.pid });
const clock = { now: () => '2026-08-04T12:00:00.000Z', real: () => '2026-08-04T12:00:00.000Z' };
const storeOf = (config: CliConfig) => ({ directory: path.join(config.stateRoot, 'loopkeeper'), root: config.stateRoot });

function run(config: CliConfig, verb: string, make: RunRequest['build'], more: Partial<RunRequest> = {}): Promise<RunResult> {
  return runPlan({ store: storeOf(config), verb, build: make, dryRun: false, executors, clock, random: randomBytes(16).toString('hex'), pid: process.pid, ...more });
}

function reset(config: CliConfig, { all, refs, includeGraph, keepTrash }: Asked, more: Partial<RunRequest> = {}): Promise<RunResult> {
  return run(config, 'reset', async (reader, planId) => {
    const { facts } = await gatherReset({
      config, selection: all ? 'all' : { refs }, includeGraph, keepTrash, actor: 'tester', mayExecute: false, git: 'no-git', env: {}, tmux: { command: 'no-tmux' },
      caller: { pid: process.pid }, trash: { storeDirectory: storeOf(config).directory, planId },
    }, reader);
    return planReset(facts, reader);
  }, more);
}

const indexOf = (config: CliConfig): string => path.join(config.portableDir, 'index.json');
const derived = (config: CliConfig): string => {
  const made = buildPortableIndex(diskReader, config.portableDir);
  return made.kind === 'write' ? made.text : 'absent';
};
const onDisk = (file: string): string => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : 'absent');
/** Ours, derived, or only growing: no part of what is compared byte for byte. */
const apart = (name: string): boolean => name === '.the-loop/portable/index.json' || ['.the-loop/loopkeeper', '.the-loop/logs'].some((folder) => name === folder || name.startsWith(`${folder}/`));
const state = ({ root }: Built): Record<string, string> => everything(root, apart).content;

function eventsIn(config: CliConfig, plan: string): Record<string, unknown>[] {
  return onDisk(config.eventLog.path).split('\n').flatMap((line) => { try { return [JSON.parse(line) as Record<string, unknown>]; } catch { return []; } }).filter((event) => event['plan'] === plan);
}

const pieces = (result: RunResult, ref: string): string[] => inOrder(result.plan, [...new Set(result.plan.steps.filter((step) => step.item === ref).flatMap((step) => step.pieces ?? []))]);

const isSection = (value: unknown): boolean => value instanceof Object && !Array.isArray(value);

/** Dry run, apply, undo on one state. Gives what kind of state it was, for the count. */
async function lifecycle(built: Built, ask: Asked): Promise<'nothing' | 'refused' | 'reset' | 'undone'> {
  const { config } = built;
  const untouched = everything(built.root);
  const before = Object.fromEntries(Object.entries(untouched.content).filter(([name]) => !apart(name)));
  const index = onDisk(indexOf(config));
  const log = onDisk(config.eventLog.path);
  const dry = await reset(config, ask, { dryRun: true });
  assert.deepEqual(everything(built.root), untouched, 'a dry run changes no byte and no time stamp');

  const done = await reset(config, ask, { expect: dry.plan.digest });
  const { outcome } = done;
  assert.ok(outcome);
  assert.equal(done.plan.digest, dry.plan.digest);
  const shown = (result: RunResult) => result.plan.items.map(({ ref, found, live, kept, notices, errors }) => ({ ref, found, live, kept, notices, errors, pieces: pieces(result, ref) }));
  assert.deepEqual(shown(done), shown(dry));
  assert.deepEqual(done.plan.warnings, dry.plan.warnings);
  assert.deepEqual(outcome.items.map(({ ref, removed, errors }) => ({ ref, removed, errors })), dry.plan.items.map(({ ref, errors }) => ({ ref, removed: pieces(dry, ref), errors })), 'what was shown is exactly what happened');
  assert.deepEqual(outcome.warnings, []);

  const after = state(built);
  const refs = dry.plan.items.map(({ ref }) => ref);
  if (!ask.all) assert.ok(!refs.includes(bystander));
  // Only what is named after an item that was asked for, or after a pull request of it, may differ.
  const slugs = refs.map((ref) => parseRef(ref).slug);
  const isAsked = (name: string): boolean => /-7[12]\//.test(name) || slugs.some((slug) => name.endsWith(`/${slug}.json`) || name.includes(`/${slug}/`));
  for (const name of Object.keys({ ...before, ...after })) if (!isAsked(name)) assert.equal(after[name], before[name], `${name} is nobody's who was asked for`);
  for (const item of dry.plan.items) {
    const { slug } = parseRef(item.ref);
    const removed = pieces(dry, item.ref);
    const [sessionFile, portableFile] = [`.the-loop/local/${slug}.json`, `.the-loop/portable/${slug}.json`];
    // Another item that makes the same file name may own what stands there.
    if (item.errors.length > 0 && dry.plan.items.some((twin) => twin.errors.length === 0 && parseRef(twin.ref).slug === slug)) continue;
    if (item.errors.length > 0) {
      assert.equal(after[sessionFile], before[sessionFile], `${item.ref} was refused and is whole`);
      assert.equal(after[portableFile], before[portableFile], `${item.ref} was refused and is whole`);
      continue;
    }
    // Under --all a file stays of which it cannot be told whose it is.
    assert.equal(after[sessionFile], ask.all && !removed.includes('session') && !(before[sessionFile] ?? '').includes(item.ref) ? before[sessionFile] : undefined, `${item.ref} has no session record any more`);
    const rest = after[portableFile];
    if (rest !== undefined && !(ask.all && removed.every((piece) => piece === 'session' || piece === 'workspace'))) {
      const record = JSON.parse(rest.slice(rest.indexOf('{'))) as Record<string, unknown>;
      if (removed.some((piece) => piece === 'control' || piece === 'poll')) assert.ok(['control', 'poll'].every((name) => !isSection(record[name])), `${item.ref} is still remembered`);
      if (removed.includes('graph')) assert.ok(!isSection(record['graph']));
    }
  }
  const reindexed = done.plan.steps.some((step) => step.kind === 'rebuildIndex');
  assert.equal(onDisk(indexOf(config)), reindexed ? derived(config) : index, 'the index follows from the records');
  if (config.eventLog.enabled) {
    assert.deepEqual(eventsIn(config, done.plan.id).map((event) => [event['event'], event['work_item'], event['removed']]), refs.map((ref) => ['session.reset', ref, pieces(dry, ref)]), 'one event each');
  }
  assert.ok(log === 'absent' || onDisk(config.eventLog.path).startsWith(log), 'the log only grew');
  assert.deepEqual(fs.existsSync(path.join(storeOf(config).directory, 'journal')) ? fs.readdirSync(path.join(storeOf(config).directory, 'journal')) : [], []);
  if (done.plan.steps.length === 0) return dry.plan.items.some(({ errors }) => errors.length > 0) ? 'refused' : 'nothing';
  const closed = planToUndo(storeOf(config), done.plan.id);
  assert.ok(closed);
  const undo = (dryRun: boolean) => run(config, 'undo', (reader) => planUndo(storeOf(config), closed, reader, 'tester'), { dryRun });
  if (!ask.keepTrash) {
    await assert.rejects(undo(true), (error: Failure) => error.kind === 'nothing-to-undo');
    assert.ok(!fs.existsSync(path.join(storeOf(config).directory, 'trash', done.plan.id)), 'nothing was kept');
    return 'reset';
  }
  // The dry run of an undo is no less a dry run; one in four tells.
  const rehearsed = /[048c]$/.test(done.plan.id) ? everything(built.root) : undefined;
  const shownUndo = rehearsed && await undo(true);
  if (rehearsed) assert.deepEqual(everything(built.root), rehearsed, 'nor does the dry run of an undo');
  const undone = await undo(false);
  if (shownUndo) assert.equal(undone.plan.digest, shownUndo.plan.digest);
  assert.deepEqual(undone.outcome?.items.flatMap(({ errors }) => errors).filter(({ message }) => !done.plan.items.some(({ errors }) => errors.some((error) => error.message === message))), []);
  assert.deepEqual(state(built), before, 'undo brings back every byte');
  assert.equal(onDisk(indexOf(config)), reindexed ? derived(config) : index, 'the index follows from the records that are back');
  if (config.eventLog.enabled) assert.equal(eventsIn(config, undone.plan.id).length, refs.length);
  return 'undone';
}

const RUNS = Number(process.env['LK_PROPERTY_RUNS'] ?? 3000);
const parameters = (runs: number): fc.Parameters<unknown> => ({ numRuns: runs, endOnFailure: false, ...(process.env['LK_SEED'] === undefined ? {} : { seed: Number(process.env['LK_SEED']) }) });

describe('reset of any state', function () {
  this.timeout(15 * 60_000);

  it('does what its dry run showed, and undo brings every byte back', async () => {
    const counts = { nothing: 0, refused: 0, reset: 0, undone: 0 };
    await fc.assert(fc.asyncProperty(generatedState, asked, async (given, ask) => {
      const built = build(given);
      try { counts[await lifecycle(built, ask)] += 1; } finally { built.remove(); }
    }), parameters(RUNS));
    const visited = counts.nothing + counts.refused + counts.reset + counts.undone;
    console.log(`      reset: ${String(visited)} generated states: ${String(counts.undone)} reset and undone, ${String(counts.reset)} reset for good, ${String(counts.refused)} refused whole, ${String(counts.nothing)} with nothing to do`);
    assert.ok(visited >= RUNS && counts.undone > RUNS / 3 && counts.reset > 0 && counts.refused > 0 && counts.nothing > 0, JSON.stringify(counts));
  });

  it('has a digest that clocks, poll times, deliveries and other items do not change, and the pieces do', async () => {
    let [same, different] = [0, 0];
    await fc.assert(fc.asyncProperty(generatedState, asked.map((ask) => ({ ...ask, all: false })), fc.constantFrom(...changes), async (given, ask, change) => {
      const [first, second] = [build(given), build(change.apply(given, ask.refs))];
      try {
        const digestOf = async (built: Built) => (await reset(built.config, ask, { dryRun: true })).plan;
        const [a, b] = [await digestOf(first), await digestOf(second)];
        const decided = (plan: typeof a) => JSON.stringify(plan.items.map(({ ref, decision, found, live, kept, errors }) => [ref, decision, found, live, kept.map(({ what }) => what), errors.map(({ kind }) => kind)])).replaceAll(first.root, '').replaceAll(second.root, '');
        if (change.matters) {
          if (decided(a) === decided(b)) return;
          different += 1;
          assert.notEqual(a.digest, b.digest, `${change.name} is something to decide on`);
        } else {
          same += 1;
          // Two folders: the paths of checkouts are part of what is decided on, so the one state is looked at where the other was.
          fs.renameSync(first.root, `${first.root}-first`);
          fs.renameSync(second.root, first.root);
          const c = await digestOf(first);
          assert.equal(c.digest, a.digest, `${change.name} is nothing to decide on`);
        }
      } finally {
        first.remove();
        second.remove();
        fs.rmSync(`${first.root}-first`, { recursive: true, force: true });
      }
    }), parameters(Math.ceil(RUNS * 2 / 3)));
    console.log(`      digest: ${String(Math.ceil(RUNS * 2 / 3) * 2)} generated states, in pairs: ${String(same)} changes that are no matter, ${String(different)} that are`);
    assert.ok(same > RUNS / 10 && different > RUNS / 20, JSON.stringify({ same, different }));
  });
});

type Change = { name: string; matters: boolean; apply(given: GeneratedState, refs: readonly string[]): GeneratedState };

const retold = (text: unknown, rewrite: (text: string) => string): never => (typeof text === 'string' ? rewrite(text) : text) as never;
const times = (text: string): string => text.replaceAll(/"(lastPolledAt|requestedAt)":(\s*)"[^"]*"/g, '"$1":$2"2031-01-01T00:00:00Z"').replaceAll(/"lastEventAt":(\s*)null/g, '"lastEventAt":$1"2031-01-01T00:00:00Z"')
  .replaceAll(/"recentDeliveries":(\s*)\[\]/g, '"recentDeliveries":$1["d-1", "d-2"]');
const everywhere = (given: GeneratedState, rewrite: (text: string) => string): GeneratedState => ({
  ...given, items: given.items.map((item) => ({
    ...item, ...(item.session === undefined ? {} : { session: retold(item.session, rewrite) }), ...(item.portable === undefined ? {} : { portable: retold(item.portable, rewrite) }),
    ...(item.legacyPoll ? { legacyPoll: JSON.parse(rewrite(JSON.stringify(item.legacyPoll))) as Record<string, unknown> } : {}),
  })),
});
function without(item: GeneratedItem, part: 'session' | 'portable'): GeneratedItem {
  const rest = { ...item };
  Reflect.deleteProperty(rest, part);
  return rest;
}
/** Refs that share a file with one that was asked for are no other items. */
const isOther = (ref: string, refs: readonly string[]): boolean => !refs.some((askedFor) => parseRef(askedFor).slug === parseRef(ref).slug);

const changes: Change[] = [
  { name: 'a clock', matters: false, apply: (given) => everywhere(given, times) },
  { name: 'what the poller has seen', matters: false, apply: (given) => everywhere(given, (text) => text.replaceAll('IC_1', 'IC_7')) },
  { name: 'the log', matters: false, apply: (given) => ({ ...given, log: given.log === 'torn' ? 'absent' : 'torn' }) },
  { name: 'the index', matters: false, apply: (given) => ({ ...given, index: !given.index }) },
  { name: 'a stranger', matters: false, apply: (given) => ({ ...given, strangers: !given.strangers }) },
  { name: 'another item', matters: false, apply: (given, refs) => ({ ...given, items: given.items.filter(({ ref }) => !isOther(ref, refs)) }) },
  { name: 'a session', matters: true, apply: (given) => ({ ...given, items: given.items.map((item) => without(item, 'session')) }) },
  { name: 'a record', matters: true, apply: (given) => ({ ...given, items: given.items.map((item) => without(item, 'portable')) }) },
  { name: 'a live session', matters: true, apply: (given) => everywhere(given, (text) => text.replaceAll(/"status":(\s*)("active"|"paused"|null)/g, '"status":$1"closed"')) },
  { name: 'a checkout', matters: true, apply: (given) => ({ ...given, items: given.items.map((item) => ({ ...item, checkout: !item.checkout })) }) },
  { name: 'a channel', matters: true, apply: (given) => ({ ...given, items: given.items.map((item) => ({ ...item, channel: !item.channel })) }) },
  { name: 'a command', matters: true, apply: (given) => everywhere(given, (text) => text.replaceAll(/"control":\s*\{[^}]*\}/g, '"control": null')) },
];
