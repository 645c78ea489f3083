import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { PlanReply } from '../../src/protocol/plan';
import { ListReply } from '../../src/protocol/sessions';
import { cleanEnv, makePlace, readTree, root, runCli, writeFiles, type Place } from '../support/program';

const refs = ['github:octo/repo#21', 'github:octo/repo#30'];
const selection = refs.flatMap((ref) => ['--work-item', ref]);

/** A state root that the-loop left behind: live, closed, armed and sealed items, strangers, the older layout. */
describe('a reset on the sample state', () => {
  let place: Place;
  let state: string;
  let log: string;
  beforeEach(() => {
    place = makePlace();
    state = path.join(place.work, 'state');
    log = path.join(state, 'logs/events.jsonl');
    fs.cpSync(path.join(root, 'test/support/stateBefore'), state, { recursive: true });
    writeFiles(place.work, { '.the-loop/cli-config.yaml': 'version: "0.5.0"\nstate:\n  root: state\nrouting:\n  control:\n    requireStartCommand: true\n  workspace:\n    root: ws\n' });
  });
  afterEach(() => { place.remove(); });

  const run = (...args: string[]) => runCli([...args, '--json'], { cwd: place.work, env: cleanEnv(place.home) });
  const list = async (): Promise<ListReply> => {
    const ran = await run('sessions', 'list');
    assert.equal(ran.code, 0, ran.stderr);
    return ListReply.parse(JSON.parse(ran.stdout));
  };
  /** Everything but what is ours and the event log. */
  const tree = () => readTree(place.work, (name) => name === 'state/loopkeeper' || name === 'state/logs/events.jsonl');
  const stateOf = (reply: ListReply, ref: string | undefined) => reply.items.find((item) => item.ref === ref)?.state;
  const added = (from: number) => fs.readFileSync(log, 'utf8').slice(from).split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>);

  it('is shown, done and taken back, byte for byte; the event log only grows', async () => {
    const [before, logBefore, listed] = [tree(), fs.readFileSync(log, 'utf8'), await list()];
    const stamps = JSON.stringify(Object.keys(before).map((name) => fs.lstatSync(path.join(place.work, name)).mtimeMs));
    assert.deepEqual(refs.map((ref) => stateOf(listed, ref)), ['armed', 'closed']);

    const dry = await run('sessions', 'reset', ...selection, '--dry-run');
    assert.equal(dry.code, 0, dry.stdout + dry.stderr);
    const shown = PlanReply.parse(JSON.parse(dry.stdout));
    assert.deepEqual(shown.items.map(({ ref, removed, live, errors }) => ({ ref, removed, live, errors })), [
      { ref: refs[0], removed: ['control', 'poll'], live: false, errors: [] }, { ref: refs[1], removed: ['session'], live: false, errors: [] },
    ]);
    assert.deepEqual(tree(), before);
    assert.equal(fs.readFileSync(log, 'utf8'), logBefore);
    assert.equal(fs.existsSync(path.join(state, 'loopkeeper')), false, 'a dry run makes nothing');
    assert.equal(JSON.stringify(Object.keys(before).map((name) => fs.lstatSync(path.join(place.work, name)).mtimeMs)), stamps);

    const real = await run('sessions', 'reset', ...selection, '--expect', shown.digest);
    assert.equal(real.code, 0, real.stdout + real.stderr);
    const done = PlanReply.parse(JSON.parse(real.stdout));
    assert.deepEqual(done.items.map(({ removed, kept, steps }) => ({ removed, kept, steps })), shown.items.map(({ removed, kept, steps }) => ({ removed, kept, steps })));
    const gone = ['state/local/github-octo-repo-30.json', 'state/portable/github-octo-repo-21.json'];
    const left = tree();
    assert.deepEqual(Object.keys(before).filter((name) => !(name in left)), gone);
    assert.deepEqual(Object.keys(left).filter((name) => left[name] !== before[name]), ['state/portable/index.json']);
    assert.ok(!(left['state/portable/index.json'] ?? '').includes('octo/repo#21'));
    const afterReset = await list();
    assert.deepEqual(refs.map((ref) => stateOf(afterReset, ref)), [undefined, undefined]);
    const others = (reply: ListReply) => reply.items.filter(({ ref }) => !refs.includes(ref));
    assert.deepEqual(others(afterReset), others(listed));
    assert.deepEqual(added(logBefore.length).map((event) => [event['event'], event['work_item'], event['removed'], event['plan']]), [
      ['session.reset', refs[0], ['control', 'poll'], done.plan], ['session.reset', refs[1], ['session'], done.plan],
    ]);

    const logReset = fs.readFileSync(log, 'utf8');
    const undone = await run('undo', done.plan);
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.deepEqual(tree(), before);
    const logUndone = fs.readFileSync(log, 'utf8');
    assert.ok(logReset.startsWith(logBefore) && logUndone.startsWith(logReset), 'the log only grew');
    assert.deepEqual(added(logReset.length).map((event) => [event['event'], event['work_item'], event['undoes']]), refs.map((ref) => ['session.reset_undone', ref, done.plan]));
    assert.deepEqual(await list(), listed);
    assert.equal((await run('undo', done.plan)).code, 1, 'once is enough');
  });

  it('of everything leaves what is no memory of an item, and undo brings the whole back', async () => {
    const [before, listed] = [tree(), await list()];
    const real = await run('sessions', 'reset', '--all', '--include', 'graph', '--no-exec');
    const done = PlanReply.parse(JSON.parse(real.stdout));
    assert.deepEqual(done.items.flatMap(({ errors }) => errors), []);
    const left = Object.keys(tree()).filter((name) => before[name] !== '<folder>');
    for (const name of ['channels/slack.json', 'local/scratch.json', 'local/standing/supervisor.json', 'portable/notes.json', 'poll-status.json', 'sessions/poll-state.json', 'sessions/control/github-octo-repo-40.json']) {
      assert.ok(left.includes(`state/${name}`), `${name} stays`);
    }
    const undone = await run('undo', done.plan);
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.deepEqual(tree(), before);
    assert.deepEqual(await list(), listed);
  });
});
