import assert from 'node:assert/strict';
import { build } from 'esbuild';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { diskReader } from '../../src/core/disk/reader';
import { unfinishedPlans, failedPlans } from '../../src/core/plan/journal';
import { buildPortableIndex } from '../../src/core/workItems/portableIndex';
import { makePlace, runCli, writeFiles, type Place, type Ran } from '../support/program';
import { control, poll, portable, session } from '../support/state';

const ITEMS = 50;
const refOf = (n: number): string => `github:octo/repo#${String(n)}`;
const slugOf = (n: number): string => `github-octo-repo-${String(n)}`;
const textsOf = (n: number) => ({
  session: session(refOf(n), { status: n % 3 === 0 ? 'closed' : 'active', cwd: '/nowhere' }),
  portable: portable(refOf(n), { control: control(refOf(n)), poll: poll(`IC_${String(n)}`), ...(n % 4 === 0 ? { graph: { loop: 'x', nodes: [] } } : {}) }),
});

function prepare(place: Place): void {
  for (let n = 1; n <= ITEMS; n += 1) {
    const { session: record, portable: sections } = textsOf(n);
    writeFiles(path.join(place.work, '.the-loop'), { [`local/${slugOf(n)}.json`]: record, [`portable/${slugOf(n)}.json`]: sections });
  }
  writeFiles(path.join(place.work, '.the-loop'), { 'logs/events.jsonl': '{"event":"first"}\n' });
}

interface Told { plan: string; verb: string; events: number }

/** No plan is left half, every event is there once, every item is whole or forgotten, the index follows. */
function assertConsistent(place: Place, told: Told[]): { whole: number; forgotten: number; events: number } {
  const root = path.join(place.work, '.the-loop');
  const store = { directory: path.join(root, 'loopkeeper'), root };
  assert.deepEqual(unfinishedPlans(store), []);
  assert.deepEqual(failedPlans(store), []);
  assert.deepEqual(fs.readdirSync(store.directory).filter((name) => name.startsWith('lock')), [], 'nobody holds the lock and nothing of it is left');
  const [first, ...lines] = fs.readFileSync(path.join(root, 'logs/events.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as { event: string; plan: string; work_item: string; level: string });
  assert.equal(first?.event, 'first');
  const counted = new Map<string, number>();
  for (const { plan, work_item: item } of lines) counted.set(`${plan} ${item}`, (counted.get(`${plan} ${item}`) ?? 0) + 1);
  assert.deepEqual([...counted].filter(([, count]) => count !== 1), [], 'each event once');
  assert.deepEqual(new Set(lines.map(({ plan }) => plan)), new Set(told.map(({ plan }) => plan)), 'every plan that was told has its events, and no other');
  assert.equal(lines.length, told.reduce((sum, { events }) => sum + events, 0));
  assert.equal(new Set(told.map(({ plan }) => plan)).size, told.length, 'no two plans have one id');
  const counts = { whole: 0, forgotten: 0, events: lines.length };
  for (let n = 1; n <= ITEMS; n += 1) {
    const read = (folder: string): string | undefined => { try { return fs.readFileSync(path.join(root, folder, `${slugOf(n)}.json`), 'utf8'); } catch { return undefined; } };
    const [record, sections, original] = [read('local'), read('portable'), textsOf(n)];
    if (record !== undefined) {
      assert.deepEqual({ record, sections }, { record: original.session, sections: original.portable }, `${refOf(n)} has its session, so it is whole`);
      counts.whole += 1;
    } else {
      const parsed = sections === undefined ? {} : JSON.parse(sections) as Record<string, unknown>;
      assert.ok(!(parsed['control'] instanceof Object) && !(parsed['poll'] instanceof Object), `${refOf(n)} has no session, so nothing of it is armed`);
      counts.forgotten += 1;
    }
  }
  assert.deepEqual(fs.readdirSync(path.join(root, 'local')).concat(fs.readdirSync(path.join(root, 'portable'))).filter((name) => name.endsWith('.tmp')), []);
  const made = buildPortableIndex(diskReader, path.join(root, 'portable'));
  const index = path.join(root, 'portable/index.json');
  assert.equal(fs.existsSync(index) ? fs.readFileSync(index, 'utf8') : undefined, made.kind === 'write' ? made.text : undefined, 'the index follows from the records');
  return counts;
}

describe('many programs at once', function () {
  this.timeout(15 * 60_000);
  let place: Place;
  let driver: string;

  before(async () => {
    driver = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'lk-driver-')), 'driver.js');
    await build({ entryPoints: ['test/support/resetDriver.ts'], outfile: driver, bundle: true, platform: 'node', target: 'node20', format: 'cjs', mainFields: ['module', 'main'], logLevel: 'error' });
  });
  after(() => { fs.rmSync(path.dirname(driver), { recursive: true, force: true }); });
  // In memory where the machine has such a place: the waits are to be those for each other, not for a disk.
  beforeEach(() => { place = makePlace(fs.existsSync('/dev/shm') ? '/dev/shm' : undefined); prepare(place); });
  afterEach(() => { place.remove(); });

  it('8 × 200 resets and undos on 50 items: none is lost, none waits for ever, each event once', async () => {
    const [programs, operations] = [8, 200];
    const ran = await Promise.all(Array.from({ length: programs }, (_, i) => runCli([place.work, String(i * 7919 + 17), String(operations)], { cwd: place.work, program: driver })));
    for (const { code, stderr } of ran) assert.equal(code, 0, stderr);
    const reports = ran.map(({ stdout }) => JSON.parse(stdout) as { told: Told[]; refused: number });
    const told = reports.flatMap((report) => report.told);
    const refused = reports.reduce((sum, report) => sum + report.refused, 0);
    assert.equal(told.length + refused, programs * operations);
    const counts = assertConsistent(place, told);
    const undos = told.filter(({ verb }) => verb === 'undo').length;
    console.log(`      ${String(programs * operations)} operations of ${String(programs)} programs: ${String(told.length - undos)} resets, ${String(undos)} undos, ${String(refused)} came too late; ${String(counts.events)} events; ${String(counts.whole)} items whole, ${String(counts.forgotten)} forgotten`);
    // How many come too late is chance; the rest must be a real mix.
    assert.ok(undos > 50 && told.length - undos > 300 && refused < programs * operations * 0.7, JSON.stringify({ undos, told: told.length, refused }));
  });

  it('the program itself, 4 × 6: the same', async () => {
    const told: Told[] = [];
    const take = (ran: Ran): string | undefined => {
      const reply = JSON.parse(ran.stdout) as { plan?: string; verb?: string; items?: unknown[]; error?: { kind: string } };
      if (reply.plan === undefined) { assert.equal(reply.error?.kind, 'nothing-to-undo', ran.stdout); return undefined; }
      told.push({ plan: reply.plan, verb: reply.verb ?? '', events: reply.items?.length ?? 0 });
      return reply.plan;
    };
    await Promise.all(Array.from({ length: 4 }, async (_, worker) => {
      for (let i = 0; i < 3; i += 1) {
        const refs = [worker * 3 + i + 1, (worker * 5 + i) % ITEMS + 1, 42].flatMap((n) => ['--work-item', refOf(n)]);
        const plan = take(await runCli(['sessions', 'reset', ...refs, '--no-exec', '--json'], { cwd: place.work }));
        take(await runCli(['undo', plan ?? '', '--json'], { cwd: place.work }));
      }
    }));
    const counts = assertConsistent(place, told);
    assert.ok(told.length >= 12, JSON.stringify(counts));
  });
});
