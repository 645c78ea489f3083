import * as assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { LoopStateChangeReply, LoopStateListReply } from '../../src/protocol/loopState';
import { ErrorReply } from '../../src/protocol/message';
import { PlanReply } from '../../src/protocol/plan';
import { cleanEnv, makePlace, readTree, runCli, writeFiles, type Place } from '../support/program';

const now = '2026-08-22T10:00:00Z';
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const old = { last_run: '2026-07-01T00:00:00Z', outcome: 'rejected', consecutive_failures: 3, open_rejections: [], last_reject_reason: 'r' };
const young = { last_run: '2026-08-20T00:00:00Z', outcome: 'rejected', consecutive_failures: 3 };
const sweeper = pretty({ targets: { 'integration:main': { ...old, last_sha: 's' }, 'pull_request:7': old, 'pull_request:8': young } });
const waiting = (pr: number): string => pretty({ targets: { 'integration:main': { ...young, last_sha: 's', consecutive_failures: 2, open_rejections: [{ attempt: 1 }], pending: { sha: 'p', pr } } } });
const ledger = pretty({ runs: { 1: { outcome: 'rejected', reject_count: 2, updated_at: '2026-07-01T00:00:00Z' }, 2: { outcome: 'watch', updated_at: '2026-08-20T00:00:00Z' } } });
const log = '# Loop Run Log\n\n{"run_id":"2026-07-01T00:00:00Z"}\n{"run_id":"2026-08-20T00:00:00Z"}\n';

let place: Place;
beforeEach(() => { place = makePlace(); });
afterEach(() => { place.remove(); });

const file = (name: string): string => path.join(place.work, '.loop', name);
const read = (name: string): string => fs.readFileSync(file(name), 'utf8');
const targets = (loop: string): Record<string, Record<string, unknown>> => (JSON.parse(read(`state-${loop}.json`)) as { targets: Record<string, Record<string, unknown>> }).targets;
const stateTree = (): Record<string, string> => readTree(place.work, (name) => name.includes('loopkeeper'));
const run = (...args: string[]) => runCli(args, { cwd: place.work, env: cleanEnv(place.home, { LOOPKEEPER_NOW: now }) });

async function change(args: string[], code = 0): Promise<LoopStateChangeReply> {
  const ran = await run(...args, '--json');
  assert.equal(ran.code, code, ran.stdout + ran.stderr);
  return LoopStateChangeReply.parse(JSON.parse(ran.stdout));
}
async function refused(args: string[], code: number): Promise<string> {
  const before = stateTree();
  const ran = await run(...args, '--json');
  assert.equal(ran.code, code, ran.stdout + ran.stderr);
  assert.deepEqual(stateTree(), before);
  return ErrorReply.parse(JSON.parse(ran.stdout)).error.kind;
}
const loops = (files: Record<string, string>): void => { writeFiles(place.work, Object.fromEntries(Object.entries(files).map(([name, text]) => [`.loop/${name}`, text]))); };

describe('cli: loop-state write, promote, ledger record, run-log append', () => {
  it('prunes, then patches, and says both', async () => {
    loops({ 'state-ci-sweeper.json': sweeper });
    const reply = await change(['loop-state', 'write', '--loop', 'ci-sweeper', '--target', 'integration:main', '--outcome', 'rejected', '--mode', 'metadata', '--reject-reason=- no']);
    assert.deepEqual(reply.pruned.map(({ key, action, reason }) => ({ key, action, reason })), [
      { key: 'integration:main', action: 'cooldown', reason: 'expired' }, { key: 'pull_request:7', action: 'delete', reason: 'expired' },
    ]);
    assert.deepEqual(reply.written, [{ ref: '.loop/state-ci-sweeper.json', key: 'integration:main' }]);
    assert.deepEqual(targets('ci-sweeper'), {
      'integration:main': { last_run: now, outcome: 'rejected', consecutive_failures: 1, last_sha: 's', open_rejections: [], last_reject_reason: '- no' }, 'pull_request:8': young,
    });
    assert.equal(fs.statSync(file('state-ci-sweeper.json')).mode & 0o777, 0o644);
  });

  it('makes a missing file, in a folder that was not there', async () => {
    await change(['loop-state', 'write', '--loop', 'new', '--target', 'integration:main', '--outcome', 'pr-created', '--mode', 'pending', '--sha', 'abc', '--pending-pr', '42']);
    assert.deepEqual(targets('new')['integration:main']?.['pending'], { sha: 'abc', pr: 42, pr_url: null, loop_name: 'new', created_at: now });
  });

  it('never replaces a file that it cannot understand: an error on a write, skipped with --prune-only', async () => {
    for (const [text, kind] of [['{"targets": {', 'invalid-json'], ['{"last_sha":"s"}\n', 'not-an-object'], ['{"targets":{},"targets":{}}', 'duplicate-key']] as const) {
      loops({ 'state-a.json': text });
      assert.equal(await refused(['loop-state', 'write', '--loop', 'a', '--target', 't', '--outcome', 'watch', '--mode', 'metadata'], 1), kind);
      const reply = await change(['loop-state', 'write', '--loop', 'a', '--prune-only']);
      assert.deepEqual(reply.skipped, [{ ref: '.loop/state-a.json', why: kind }]);
      assert.equal(read('state-a.json'), text);
    }
    fs.writeFileSync(file('state-a.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    assert.equal(await refused(['loop-state', 'write', '--loop', 'a', '--prune-only'], 1), 'not-utf8');
  });

  it('promotes in every loop that waits, prunes each, and a broken file keeps no other from it', async () => {
    loops({ 'state-a.json': waiting(42), 'state-b.json': waiting(42), 'state-c.json': waiting(7), 'state-d.json': '{', 'state-e.json': sweeper });
    const reply = await change(['loop-state', 'promote', '--pr', '42', '--merged'], 1);
    assert.deepEqual(reply.written.map(({ ref }) => ref), ['.loop/state-a.json', '.loop/state-b.json']);
    assert.deepEqual(reply.items.filter(({ errors }) => errors.length > 0).map(({ ref }) => ref), ['.loop/state-d.json']);
    assert.deepEqual(targets('a'), { 'integration:main': { last_run: now, outcome: 'merged', last_sha: 'p', consecutive_failures: 0, open_rejections: [] } });
    assert.equal(read('state-c.json'), waiting(7));
    assert.equal(read('state-d.json'), '{');
    assert.deepEqual(Object.keys(targets('e')), ['integration:main', 'pull_request:8']);
  });

  it('a closed pull request counts as a failure, keeps the cursor and what is still to be fixed', async () => {
    loops({ 'state-a.json': waiting(42) });
    await change(['loop-state', 'promote', '--pr', '42', '--closed']);
    assert.deepEqual(targets('a'), { 'integration:main': { last_run: now, outcome: 'pr-closed', last_sha: 's', consecutive_failures: 3, open_rejections: [{ attempt: 1 }] } });
  });

  it('promote without a match is no failure: CI calls it for every pull request', async () => {
    loops({ 'state-a.json': waiting(42) });
    const reply = await change(['loop-state', 'promote', '--pr', '4', '--merged']);
    assert.deepEqual(reply.warnings.map(({ kind }) => kind).filter((kind) => kind !== 'clock-overridden'), ['no-match']);
    assert.equal(read('state-a.json'), waiting(42));
  });

  it('records runs and lines, pruning on the way', async () => {
    loops({ 'state-ci-sweeper-run-ledger.json': ledger, 'loop-run-log.md': log });
    const recorded = await change(['ledger', 'record', '--run-id', '1', '--workflow-name', 'w', '--head-sha', 'h', '--outcome', 'rejected', '--loop-run-id', 'r']);
    assert.deepEqual(recorded.pruned, []);
    assert.deepEqual((JSON.parse(read('state-ci-sweeper-run-ledger.json')) as { runs: unknown }).runs, {
      1: { workflow_name: 'w', head_sha: 'h', outcome: 'rejected', reject_count: 3, loop_run_id: 'r', updated_at: now }, 2: { outcome: 'watch', updated_at: '2026-08-20T00:00:00Z' },
    });
    const appended = await change(['run-log', 'append', '--entry', '{"loop_name":"a","n":1.0}']);
    assert.deepEqual(appended.pruned.map(({ key }) => key), ['line:3']);
    assert.equal(read('loop-run-log.md'), `# Loop Run Log\n\n{"run_id":"2026-08-20T00:00:00Z"}\n{"run_id":"${now}","loop_name":"a","n":1.0}\n`);
  });

  it('records nothing for an outcome that no ledger holds, or an empty run id', async () => {
    loops({ 'state-ci-sweeper-run-ledger.json': ledger });
    for (const args of [['--run-id', '5', '--outcome', 'error'], ['--run-id', '', '--outcome', 'watch']]) {
      const reply = await change(['ledger', 'record', '--workflow-name', 'w', '--head-sha', 'h', ...args]);
      assert.deepEqual(reply.skipped.map(({ why }) => why), ['nothing-recorded']);
      assert.equal(read('state-ci-sweeper-run-ledger.json'), ledger);
    }
  });

  it('refuses what cannot be meant, before anything is touched', async () => {
    loops({ 'state-a.json': sweeper });
    const write = ['loop-state', 'write', '--loop', 'a', '--target', 't', '--outcome', 'watch'];
    for (const args of [
      ['loop-state', 'write', '--loop', '../a', '--prune-only'], ['loop-state', 'write', '--loop', 'a..b', '--prune-only'],
      [...write, '--mode', 'metadata', '--open-rejections', '['], [...write, '--mode', 'metadata', '--open-rejections', '{"a":1,"a":2}'],
      ['run-log', 'append', '--entry', '[1]'], ['run-log', 'append', '--entry', '{} {}'],
    ]) assert.equal(await refused(args, 2), 'bad-argument', args.join(' '));
    for (const args of [
      [...write, '--mode', 'advance'], [...write, '--mode', 'advance', '--sha', ''], [...write, '--mode', 'pending', '--sha', 's'], [...write, '--mode', 'promote', '--pending-pr', '4x'], [...write, '--mode', 'other'], write,
      ['loop-state', 'write', '--loop', 'a', '--target', '', '--outcome', 'watch', '--mode', 'metadata'],
      ['loop-state', 'promote', '--pr', '4'], ['loop-state', 'promote', '--pr', '4', '--merged', '--closed'], ['loop-state', 'promote', '--pr', '0', '--merged'],
      ['loop-state', 'prune', '--days', '0'], ['loop-state', 'prune', '--days', '-1'], ['loop-state', 'prune', '--days', 'x'], ['loop-state', 'prune', '--days', '1.5'], ['loop-state', 'prune', '--days', ''],
      ['loop-state', 'prune', '--push', 'origin/main'], ['ledger', 'record', '--workflow-name', 'w', '--head-sha', 'h', '--outcome', 'watch'], ['run-log', 'append'],
    ]) assert.equal(await refused(args, 2), 'usage', args.join(' '));
    const record = ['ledger', 'record', '--run-id', '1', '--workflow-name', 'w', '--head-sha', 'h', '--outcome', 'watch', '--file'];
    for (const name of ['/tmp/x.json', '../x.json', '.']) assert.equal(await refused([...record, name], 2), 'unsafe-path', name);
    assert.equal(await refused([...write, '--mode', 'metadata', '--commit'], 2), 'no-repository');
  });

  it('follows no link out of the directory', async () => {
    const elsewhere = path.join(place.top, 'elsewhere');
    fs.mkdirSync(elsewhere);
    fs.writeFileSync(path.join(elsewhere, 'state-a.json'), sweeper);
    fs.symlinkSync(elsewhere, path.join(place.work, '.loop'));
    assert.equal(await refused(['loop-state', 'write', '--loop', 'a', '--prune-only'], 1), 'unsafe-path');
    fs.unlinkSync(path.join(place.work, '.loop'));
    fs.mkdirSync(path.join(place.work, '.loop'));
    fs.symlinkSync(path.join(elsewhere, 'state-a.json'), file('state-a.json'));
    assert.equal(await refused(['loop-state', 'write', '--loop', 'a', '--prune-only'], 1), 'unsafe-path');
    assert.equal(fs.readFileSync(path.join(elsewhere, 'state-a.json'), 'utf8'), sweeper);
  });

  it('keeps no trash: git is the undo', async () => {
    loops({ 'state-a.json': sweeper });
    const reply = await change(['loop-state', 'write', '--loop', 'a', '--prune-only']);
    const ran = await run('undo', reply.plan, '--json');
    assert.equal(ran.code, 2);
    assert.equal(ErrorReply.parse(JSON.parse(ran.stdout)).error.kind, 'nothing-to-undo');
    assert.deepEqual(reply.items[0]?.steps.map(({ undo }) => undo), ['none']);
  });
});

describe('cli: loop-state list, prune, unblock', () => {
  const all = { 'state-a.json': sweeper, 'state-b.json': waiting(3), 'state-ci-sweeper-run-ledger.json': ledger, 'loop-run-log.md': log, 'state-c.json': '{', 'notes.json': '{}', 'loop-budget.json': '{"loops":{}}' };

  it('lists every entry with what becomes of it, and looking creates nothing', async () => {
    loops(all);
    const before = readTree(place.work);
    const ran = await run('loop-state', 'list', '--json');
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(readTree(place.work), before);
    const reply = LoopStateListReply.parse(JSON.parse(ran.stdout));
    assert.deepEqual(reply.loops.map(({ loop, problem, targets: held }) => [loop, problem?.kind ?? null, held.length]), [['a', null, 3], ['b', null, 1], ['c', 'invalid-json', 0]]);
    const [main, pr7, pr8] = reply.loops[0]?.targets ?? [];
    assert.deepEqual({ kind: main?.kind, line: main?.line, breaker: main?.breaker, decision: main?.decision, next: main?.next, ageDays: main?.ageDays }, {
      kind: 'watch', line: 3, breaker: { open: true, since: '2026-07-01T00:00:00Z' }, decision: { action: 'cooldown', reason: 'expired' }, next: null, ageDays: 52,
    });
    assert.deepEqual(pr7?.decision, { action: 'delete', reason: 'expired' });
    assert.deepEqual({ line: pr8?.line, next: pr8?.next }, { line: 18, next: { action: 'delete', at: '2026-09-20T00:00:00Z' } });
    assert.deepEqual(reply.loops[1]?.targets[0]?.pending, { pr: 3, url: null });
    assert.deepEqual(reply.ledgers[0]?.runs.map(({ key, decision }) => [key, decision.action]), [['1', 'delete'], ['2', 'keep']]);
    assert.deepEqual(reply.runLog?.entries.map(({ line, decision }) => [line, decision.action]), [[3, 'delete'], [4, 'keep']]);
    assert.deepEqual(reply.attention.map(({ item, loop, attention }) => [item, loop, attention.kind, attention.since]), [
      ['integration:main', 'a', 'breaker-open', '2026-07-01T00:00:00Z'], ['pull_request:7', 'a', 'breaker-open', '2026-07-01T00:00:00Z'], ['pull_request:8', 'a', 'breaker-open', '2026-08-20T00:00:00Z'],
    ]);
    assert.equal(reply.attention[0]?.attention.command, 'loopkeeper loop-state unblock --loop a integration:main');
    assert.equal(reply.knowledge, null);
    const shown = await run('loop-state', 'list');
    assert.match(shown.stdout, /integration:main\s+rejected\s+52 d\s+blocked since 2026-07-01; is cooled down with the next prune/);
    assert.match(shown.stdout, /pull_request:8\s+rejected\s+2 d\s+blocked since 2026-08-20; goes in 29 days/);
    assert.match(shown.stdout, /integration:main\s+rejected\s+2 d\s+kept: pending PR 3/);
  });

  it('lists nothing where there is nothing, and paints no screen', async () => {
    const ran = await run('loop-state', 'list');
    assert.equal(ran.code, 0);
    assert.match(ran.stdout, /No loop state/);
    loops({ 'state-a.json': '{"targets":{"\\u001b[2Jevil":{"outcome":"rejected"}}}' });
    assert.ok(!(await run('loop-state', 'list')).stdout.includes('\u001b'));
  });

  it('a dry run says what the prune then does, to the entry, and changes nothing', async () => {
    loops(all);
    const before = readTree(place.work);
    const dry = await change(['loop-state', 'prune', '--dry-run']);
    assert.deepEqual(readTree(place.work), before);
    const done = await change(['loop-state', 'prune', '--expect', dry.digest]);
    assert.deepEqual(done.pruned, dry.pruned);
    assert.deepEqual(done.items.map(({ ref, removed }) => [ref, removed]), dry.items.map(({ ref, removed }) => [ref, removed]));
    assert.deepEqual(dry.pruned.map(({ ref, key }) => `${ref} ${key}`), [
      '.loop/state-a.json integration:main', '.loop/state-a.json pull_request:7', '.loop/state-ci-sweeper-run-ledger.json 1', '.loop/loop-run-log.md line:3',
    ]);
    assert.deepEqual(done.skipped, [{ ref: '.loop/state-c.json', why: 'invalid-json' }]);
    assert.equal(read('state-b.json'), waiting(3));
    const again = await change(['loop-state', 'prune']);
    assert.deepEqual(again.pruned, []);
  });

  it('a digest of something else is stale', async () => {
    loops({ 'state-a.json': sweeper });
    const dry = await change(['loop-state', 'prune', '--dry-run']);
    loops({ 'state-a.json': sweeper.replace('pull_request:8', 'pull_request:9').replace('2026-08-20', '2026-07-20') });
    assert.equal(await refused(['loop-state', 'prune', '--expect', dry.digest], 3), 'stale-plan');
  });

  it('--days and --loop narrow or widen it', async () => {
    loops(all);
    assert.deepEqual((await change(['loop-state', 'prune', '--days', '60', '--dry-run'])).pruned, []);
    assert.deepEqual((await change(['loop-state', 'prune', '--days', '1', '--loop', 'a', '--dry-run'])).pruned.map(({ key }) => key), ['integration:main', 'pull_request:7', 'pull_request:8']);
    assert.equal(await refused(['loop-state', 'prune', '--loop', 'none'], 1), 'not-found');
  });

  it('undo brings every file back byte for byte', async () => {
    loops(all);
    const before = stateTree();
    const { plan } = await change(['loop-state', 'prune']);
    assert.notDeepEqual(stateTree(), before);
    const ran = await run('undo', plan, '--json');
    assert.equal(ran.code, 0, ran.stdout);
    assert.deepEqual(stateTree(), before);
    assert.equal((await run('undo', plan, '--json')).code, 1);
  });

  it('undo after other writes: entry by entry, and what was written stays', async () => {
    loops(all);
    const { plan } = await change(['loop-state', 'prune']);
    await change(['loop-state', 'write', '--loop', 'a', '--target', 'pull_request:99', '--outcome', 'merged', '--mode', 'metadata']);
    await change(['loop-state', 'write', '--loop', 'a', '--target', 'integration:main', '--outcome', 'rejected', '--mode', 'metadata']);
    await change(['run-log', 'append', '--entry', '{"n":1}']);
    const ran = await run('undo', plan, '--json');
    assert.equal(ran.code, 0, ran.stdout);
    const reply = PlanReply.parse(JSON.parse(ran.stdout));
    const held = targets('a');
    assert.deepEqual(held['pull_request:7'], old);
    assert.equal(held['pull_request:99']?.['outcome'], 'merged');
    assert.equal(held['integration:main']?.['consecutive_failures'], 1);
    assert.deepEqual(reply.items.find(({ ref }) => ref.endsWith('a.json'))?.notices.map(({ kind }) => kind), ['written-since']);
    assert.equal(read('loop-run-log.md'), `# Loop Run Log\n\n{"run_id":"2026-07-01T00:00:00Z"}\n{"run_id":"2026-08-20T00:00:00Z"}\n{"run_id":"${now}","n":1}\n`);
  });

  it('unblocks one target on purpose, only its counter, and takes it back', async () => {
    loops({ 'state-a.json': sweeper });
    await change(['loop-state', 'unblock', 'pull_request:8']);
    assert.equal(read('state-a.json'), sweeper.replace(/("pull_request:8"[^}]*"consecutive_failures": )3/, '$10'));
    assert.deepEqual((await change(['loop-state', 'unblock', 'pull_request:8'])).items[0]?.notices.map(({ kind }) => kind), ['not-blocked']);
    const plans = fs.readdirSync(path.join(place.work, '.loop/loopkeeper/plans')).sort();
    assert.equal((await run('undo', (plans[0] ?? '').replace('.json', ''), '--json')).code, 0);
    assert.equal(read('state-a.json'), sweeper);
  });

  it('leaves nothing behind where there is nothing to do', async () => {
    await change(['loop-state', 'prune']);
    await change(['loop-state', 'promote', '--pr', '3', '--merged']);
    assert.equal(await refused(['loop-state', 'unblock', 'integration:main'], 1), 'not-found');
    await refused(['loop-state', 'prune', '--loop', 'a'], 1);
    assert.deepEqual(readTree(place.work), {});
  });

  it('asks which loop is meant, and says when none has the target', async () => {
    loops({ 'state-a.json': sweeper, 'state-b.json': sweeper });
    assert.equal(await refused(['loop-state', 'unblock', 'integration:main'], 2), 'ambiguous');
    assert.equal(await refused(['loop-state', 'unblock', 'integration:other'], 1), 'not-found');
    await change(['loop-state', 'unblock', 'integration:main', '--loop', 'b']);
    assert.equal(read('state-a.json'), sweeper);
    assert.equal(targets('b')['integration:main']?.['consecutive_failures'], 0);
  });
});
