import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Failure } from '../../src/core/disk/failure';
import { sha256 } from '../../src/core/disk/hash';
import { diskReader } from '../../src/core/disk/reader';
import { executorsFor } from '../../src/core/executors';
import { digestOf } from '../../src/core/plan/digest';
import { trashPath } from '../../src/core/plan/fileSteps';
import type { Plan, PlanItem, Step } from '../../src/core/plan/plan';
import { projectedReader } from '../../src/core/plan/projection';
import { ensureStore, isPlanId, planIdOf, type Store } from '../../src/core/plan/store';
import { makePlace, readTree, writeFiles, type Place } from '../support/program';
import { poll, portable } from '../support/state';

const item = (more: Partial<PlanItem> = {}): PlanItem => ({ ref: 'a', found: true, live: false, kept: [{ what: 'graph', why: 'one' }], errors: [], notices: [{ kind: 'n', message: 'one' }], decision: { pieces: ['session'] }, ...more });
const decided = (items: PlanItem[], more: Partial<Pick<Plan, 'verb' | 'warnings' | 'keepTrash'>> = {}) => digestOf({ verb: 'reset', items, warnings: [{ kind: 'w', message: 'one' }], keepTrash: true, ...more });

describe('parts of a plan', () => {
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });
  const at = (...names: string[]): string => path.join(place.work, ...names);

  it('the digest is of what is decided, not of how it is said', () => {
    const base = decided([item()]);
    assert.match(base, /^[0-9a-f]{32}$/);
    assert.equal(decided([item({ kept: [{ what: 'graph', why: 'two' }], notices: [{ kind: 'n', message: 'two' }] })], { warnings: [{ kind: 'w', message: 'two' }] }), base, 'sentences');
    assert.equal(decided([item({ decision: JSON.parse('{"pieces":["session"]}') })]), base, 'the order of keys');
    const others = [
      decided([item({ ref: 'b' })]), decided([item({ found: false })]), decided([item({ live: true })]), decided([item({ decision: { pieces: ['poll'] } })]), decided([item({ kept: [] })]),
      decided([item({ errors: [{ kind: 'e', message: '' }] })]), decided([item({ notices: [] })]), decided([item(), item({ ref: 'b' })]), decided([item()], { verb: 'undo' }), decided([item()], { warnings: [] }), decided([item()], { keepTrash: false }),
    ];
    assert.equal(new Set([base, ...others]).size, others.length + 1, 'each of them is something to decide on');
  });

  it('a dry run meanwhile sees the files as an unfinished plan will leave them', () => {
    for (const [name, text] of [['gone', 'x'], ['rewritten', 'old'], ['log', 'first\n'], ['kept', 'k'], ['trash', 'from the trash']] as const) fs.writeFileSync(at(name), text);
    fs.mkdirSync(at('checkout'));
    fs.writeFileSync(at('checkout', 'f'), 'f');
    const common = { root: place.work, reason: 'r', undo: 'restore', phase: 0 } as const;
    const steps: Step[] = [
      { ...common, kind: 'deleteFile', path: at('gone'), before: sha256('x') },
      { ...common, kind: 'writeFile', path: at('rewritten'), before: sha256('old'), after: sha256('new'), content: { text: 'new' } },
      { ...common, kind: 'writeFile', path: at('made'), before: 'absent', after: sha256('from the trash'), content: { from: at('trash') } },
      { ...common, kind: 'appendBytes', path: at('log'), offset: 6, text: 'second\n', exclusive: true },
      { kind: 'moveCheckout', reason: 'r', undo: 'restore', phase: 0, moves: [{ from: at('checkout'), to: at('elsewhere'), root: place.work, toRoot: place.work, identity: '' }] },
    ];
    const reader = projectedReader(diskReader, [{ id: 'p', verb: 'v', createdAt: '', items: [], steps, warnings: [], events: [], pieceOrder: [], keepTrash: true, digest: '' }]);
    assert.deepEqual(['gone', 'rewritten', 'made', 'log', 'kept', 'checkout', 'checkout/f'].map((name) => [name, reader.kind(at(name)), reader.kind(at(name)) === 'file' ? reader.text(at(name)) : null]), [
      ['gone', 'absent', null], ['rewritten', 'file', 'new'], ['made', 'file', 'from the trash'], ['log', 'file', 'first\nsecond\n'], ['kept', 'file', 'k'], ['checkout', 'absent', null], ['checkout/f', 'absent', null],
    ]);
    assert.equal(reader.text(at('gone')), undefined);
    assert.equal(reader.bytes(at('checkout', 'f')), undefined);
    assert.deepEqual(reader.list(place.work), ['kept', 'log', 'made', 'rewritten', 'trash']);
    assert.deepEqual(reader.list(at('checkout')), []);
    assert.deepEqual(readTree(place.work)['gone'], 'x', 'the disk is as it was');
  });

  it('the store is made once, with a .gitignore, and not through anything planted', () => {
    const store: Store = { directory: at('loopkeeper'), root: place.work };
    ensureStore(store);
    ensureStore(store);
    assert.deepEqual(readTree(place.work), { 'loopkeeper/.gitignore': '*\n', 'loopkeeper/journal': '<folder>', 'loopkeeper/plans': '<folder>', 'loopkeeper/trash': '<folder>' });
    const victim = path.join(place.top, 'victim');
    fs.mkdirSync(victim);
    for (const name of ['trash', 'journal', 'plans']) {
      fs.rmSync(path.join(store.directory, name), { recursive: true });
      fs.symlinkSync(victim, path.join(store.directory, name));
      assert.throws(() => { ensureStore(store); }, (error: Failure) => error.kind === 'unsafe-path', name);
      fs.unlinkSync(path.join(store.directory, name));
      fs.writeFileSync(path.join(store.directory, name), '');
      assert.throws(() => { ensureStore(store); }, (error: Failure) => error.kind === 'unsafe-path', name);
      fs.unlinkSync(path.join(store.directory, name));
    }
    assert.deepEqual(readTree(victim), {});
  });

  it('a derived file that is made anew keeps the owner and mode it had', async () => {
    writeFiles(place.work, { 'portable/index.json': '{}\n', 'portable/github-octo-repo-1.json': portable('github:octo/repo#1', { poll: poll() }) });
    const index = at('portable', 'index.json');
    fs.chmodSync(index, 0o666); // more than any umask leaves
    if (process.getuid?.() === 0) fs.chownSync(index, 65_534, 65_534);
    const before = fs.lstatSync(index);
    const executors = executorsFor({ git: { command: 'no-git', env: {} }, clock: { milliseconds: () => 0, sleep: () => Promise.resolve() }, callerPid: process.pid });
    const said: string[] = [];
    const step: Step = { kind: 'rebuildIndex', target: 'portable-index', path: index, root: place.work, reason: 'r', undo: 'inverse', phase: 0 };
    await executors.rebuildIndex?.run([{ step, context: { store: { directory: at('loopkeeper'), root: place.work }, planId: 'p', index: 0, keepTrash: true, touch: () => undefined }, report: ({ status }) => { said.push(status); } }]);
    const after = fs.lstatSync(index);
    assert.deepEqual([said, after.mode, after.uid, after.gid], [['done'], before.mode, before.uid, before.gid]);
    assert.match(fs.readFileSync(index, 'utf8'), /octo\/repo#1/);
  });

  it('plan ids name one plan and are no paths', () => {
    const id = planIdOf('2026-11-30T19:27:42.123Z', '1a2b3c4d');
    assert.equal(id, '20261130T192742Z-1a2b3c4d');
    assert.ok(isPlanId(id));
    for (const bad of ['', '..', `${id}/x`, `../${id}`, id.toUpperCase(), `${id}\n`, `${id}.json`]) assert.ok(!isPlanId(bad), JSON.stringify(bad));
  });

  it('every step has a place of its own in the trash, however long and alike the names are', () => {
    const store: Store = { directory: at('loopkeeper'), root: place.work };
    const long = `${'long'.repeat(61)}-1.json`;
    const paths = [0, 1, 11].flatMap((index) => [`/local/${long}`, '/x/a.json'].map((file) => trashPath({ store, planId: 'p', index }, file)));
    assert.equal(new Set(paths).size, paths.length);
    for (const file of [...paths, trashPath({ store, planId: 'p', index: 12345 }, `/x/${'\u4e2d'.repeat(80)}`)]) assert.ok(Buffer.byteLength(path.basename(`${file}.partial`)) <= 255, file);
  });
});
