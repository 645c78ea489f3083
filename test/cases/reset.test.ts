import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { PlanReply } from '../../src/protocol/plan';
import { cleanEnv, makePlace, readTree, root, runCli, writeFiles, type Place, type Ran } from '../support/program';

interface ResetCase {
  id: string; title: string; config: string | null; before: Record<string, string>; argv: string[]; modes?: Record<string, string>; needs?: string[];
  expected: {
    exit: number; refused: boolean; warnings: string[]; after: Record<string, unknown>; events: Record<string, unknown>[];
    items: { ref: string; found: boolean; removed: string[]; errors: string[]; kept: string[] }[];
  };
}

const folder = path.join(root, 'test/cases/reset');
const cases = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort()
  .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as ResetCase);

/** Puts the working directory in for `@cwd`. */
function placed<T>(value: T, cwd: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll('@cwd', cwd)) as T;
}

const unique = (values: string[]): string[] => [...new Set(values)].sort();

function eventsAdded(log: string, before: string | undefined): Record<string, unknown>[] {
  if (!fs.existsSync(log)) return [];
  return fs.readFileSync(log, 'utf8').slice(before?.length ?? 0).split('\n').filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>).filter((event) => event['event'] === 'session.reset');
}

function assertEvent(actual: Record<string, unknown>, expected: Record<string, unknown>): void {
  for (const key of Object.keys(actual)) assert.ok(key in expected || key === 'plan', `the event has ${key}`);
  for (const [key, value] of Object.entries(expected)) {
    if (key === 'actor' && actual[key] === undefined) continue;
    assert.ok(key in actual, `the event lacks ${key}`);
    if (value !== '@any') assert.deepEqual(actual[key], value, key);
  }
}

function assertAfter(work: string, after: Record<string, unknown>): void {
  const tree = readTree(work, (relative) => relative === '.the-loop/cli-config.yaml' || /(^|\/)loopkeeper$/.test(relative));
  for (const [name, value] of Object.entries(after)) {
    const actual = tree[name] === undefined ? undefined : Buffer.from(tree[name], 'latin1').toString('utf8');
    if (value === '@absent') assert.equal(actual, undefined, `${name} is there`);
    else {
      assert.notEqual(actual, undefined, `${name} is missing`);
      if (value === '@any') { /* whatever it holds */ }
      else if (typeof value === 'string') assert.equal(actual, value, name);
      else if (typeof value === 'object' && value !== null && '@startsWith' in value) assert.ok(actual?.startsWith(String(value['@startsWith'])), `${name} does not begin as it did`);
      else assert.deepEqual(JSON.parse(actual ?? ''), value, name);
    }
    Reflect.deleteProperty(tree, name);
  }
  // Folders that were emptied may stay; files may not.
  assert.deepEqual(Object.keys(tree).filter((name) => tree[name] !== '<folder>'), []);
}

function assertReply(ran: Ran, expected: ResetCase['expected']): void {
  if (expected.refused) {
    assert.ok('error' in (JSON.parse(ran.stdout) as object));
    return;
  }
  const reply = PlanReply.parse(JSON.parse(ran.stdout));
  assert.deepEqual(reply.items.map((item) => ({
    ref: item.ref, found: item.found, removed: item.removed, errors: unique(item.errors.map((error) => error.kind)),
    kept: item.kept.map((kept) => kept.what).filter((what) => ['control', 'poll', 'graph'].includes(what)),
  })), expected.items.map((item) => ({ ...item, errors: unique(item.errors) })));
  assert.deepEqual(unique(reply.warnings.map((warning) => warning.kind)), unique(expected.warnings));
}

describe('cases of sessions reset', () => {
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  for (const one of cases) {
    it(`${one.id}: ${one.title}`, async () => {
      const { work, home, top } = place;
      const { before, argv, expected, config } = placed(one, work);
      writeFiles(work, before);
      if (config !== null) writeFiles(work, { '.the-loop/cli-config.yaml': config });
      for (const [name, mode] of Object.entries(one.modes ?? {})) fs.chmodSync(path.join(work, name), parseInt(mode, 8));
      // Root may write anywhere, so such a case runs as another user, who owns the files.
      const uid = one.needs?.includes('unprivileged') && process.getuid?.() === 0 ? 65534 : undefined;
      if (uid !== undefined) {
        for (const directory of [top, home, work, ...Object.keys(readTreeFolders(work))]) fs.chownSync(directory, uid, uid);
        for (const name of Object.keys(readTree(work))) fs.lchownSync(path.join(work, name), uid, uid);
      }
      const ran = await runCli([...argv, '--json'], { cwd: work, env: cleanEnv(home), ...(uid === undefined ? {} : { uid }) });
      for (const name of Object.keys(one.modes ?? {})) fs.chmodSync(path.join(work, name), 0o755);
      assert.equal(ran.code, expected.exit, ran.stdout + ran.stderr);
      assertReply(ran, expected);
      const log = Object.keys(expected.after).find((name) => /events\.jsonl$|log\.jsonl$/.test(name)) ?? '.the-loop/logs/events.jsonl';
      const events = eventsAdded(path.join(work, log), before[log]);
      assert.equal(events.length, expected.events.length, 'number of events');
      expected.events.forEach((event, index) => { assertEvent(events[index] ?? {}, event); });
      assertAfter(work, expected.after);
      if (config !== null) assert.equal(fs.readFileSync(path.join(work, '.the-loop/cli-config.yaml'), 'utf8'), config);
    });
  }

  it('are all here', () => { assert.equal(cases.length, 58); });
});

/** The folders below one, as keys. */
function readTreeFolders(directory: string): Record<string, true> {
  const folders: Record<string, true> = {};
  const visit = (inner: string): void => {
    for (const entry of fs.readdirSync(inner, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const full = path.join(inner, entry.name);
      folders[full] = true;
      visit(full);
    }
  };
  visit(directory);
  return folders;
}
