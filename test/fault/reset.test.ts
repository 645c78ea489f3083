import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Plan } from '../../src/core/plan/plan';
import { runCli, cleanEnv, readTree, writeFiles, type Place } from '../support/program';
import { visitFaults } from '../support/faults';
import { control, portable, poll, session } from '../support/state';

const refs = ['github:octo/repo#15', 'github:octo/repo#21', 'github:octo/repo#40'];
const reset = ['sessions', 'reset', ...refs.flatMap((ref) => ['--work-item', ref]), '--json'];
/** A changing command that has nothing to do with the three: it finishes what is unfinished. */
const next = ['sessions', 'reset', '--work-item', 'github:octo/other#1', '--json'];

/** Three items: a live one with a checkout and phase choices, a closed armed one, one that the older layout would bring back. */
function prepare(place: Place): void {
  writeFiles(place.work, {
    '.the-loop/cli-config.yaml': 'version: "0.5.0"\nrouting:\n  workspace:\n    root: ws\n',
    '.the-loop/local/github-octo-repo-15.json': session(refs[0] ?? '', { status: 'active', cwd: '/nowhere' }),
    '.the-loop/portable/github-octo-repo-15.json': portable(refs[0] ?? '', { control: control(refs[0] ?? ''), poll: poll('IC_15'), graph: { loop: 'x', nodes: [] } }),
    '.the-loop/local/github-octo-repo-21.json': session(refs[1] ?? '', { status: 'closed' }),
    '.the-loop/portable/github-octo-repo-21.json': portable(refs[1] ?? '', { control: control(refs[1] ?? ''), poll: poll('IC_21') }),
    '.the-loop/portable/github-octo-repo-40.json': portable(refs[2] ?? '', { poll: poll('IC_40') }),
    '.the-loop/sessions/control/github-octo-repo-40.json': JSON.stringify(control(refs[2] ?? '')),
    '.the-loop/portable/github-octo-repo-99.json': portable('github:octo/repo#99', { poll: poll('IC_99') }),
    '.the-loop/logs/events.jsonl': '{"ts":"2026-08-04T09:00:00.000Z","event":"poll.cycle"}\n{"torn',
    'ws/.worktrees/github.com/octo/repo/github-octo-repo-15/wip.txt': 'not committed\n',
  });
}

const isOurs = (name: string): boolean => name === '.the-loop/loopkeeper';
const isDerived = (name: string): boolean => name === '.the-loop/portable/index.json' || name.startsWith('.the-loop/logs');
const stateOf = (place: Place): Record<string, string> => readTree(place.work, (name) => isOurs(name) || isDerived(name));
const withoutFolders = (tree: Record<string, string>): Record<string, string> => Object.fromEntries(Object.entries(tree).filter(([, text]) => text !== '<folder>'));

function eventsOf(place: Place, kind: string): Record<string, unknown>[] {
  const text = fs.readFileSync(path.join(place.work, '.the-loop/logs/events.jsonl'), 'utf8');
  return text.split('\n').flatMap((line) => { try { return [JSON.parse(line) as Record<string, unknown>]; } catch { return []; } })
    .filter((event) => event['event'] === kind && event['work_item'] !== 'github:octo/other#1');
}

const logText = (place: Place): string => fs.readFileSync(path.join(place.work, '.the-loop/logs/events.jsonl'), 'utf8');

/** Every text that a file may hold: what it was, and what some step makes of it. */
function allowedTexts(before: Record<string, string>, plans: Plan[], work: string): Map<string, Set<string | undefined>> {
  const allowed = new Map<string, Set<string | undefined>>(Object.entries(before).map(([name, text]) => [name, new Set([text])]));
  for (const step of plans.flatMap((plan) => plan.steps)) {
    if (step.kind !== 'deleteFile' && step.kind !== 'writeFile') continue;
    const name = path.relative(work, step.path);
    const texts = allowed.get(name) ?? new Set([undefined]);
    texts.add(step.kind === 'writeFile' && 'text' in step.content ? step.content.text : undefined);
    allowed.set(name, texts);
  }
  return allowed;
}

function plansOf(place: Place): Plan[] {
  const folder = path.join(place.work, '.the-loop/loopkeeper/plans');
  return fs.readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => (JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as { plan: Plan }).plan);
}

/** Nothing torn, nobody armed without the session record that it had, the log only longer. */
function assertSound(place: Place, allowed: Map<string, Set<string | undefined>>, log: string, point: string, said = ''): void {
  const tree = stateOf(place);
  for (const [name, text] of Object.entries(tree)) {
    if (text === '<folder>' || name.endsWith('.tmp') || name.startsWith('ws')) continue;
    assert.ok(allowed.get(name)?.has(text), `${point}: ${name} holds something it never should:\n${text}`);
  }
  for (const slug of ['github-octo-repo-15', 'github-octo-repo-21']) {
    const record = tree[`.the-loop/portable/${slug}.json`];
    const armed = record !== undefined && (JSON.parse(record) as { control?: unknown }).control instanceof Object;
    // A disk that refuses to disarm it cannot be helped, but it is said.
    assert.ok(!armed || said.includes('still armed') || tree[`.the-loop/local/${slug}.json`] !== undefined, `${point}: ${slug} is armed without its session record`);
  }
  assert.ok(logText(place).startsWith(log), `${point}: the log lost bytes`);
}

describe('faults at every file operation', function () {
  this.timeout(20 * 60_000);

  it('of a reset of three items: old or new, finished by the next command, one event each', async () => {
    let before: Record<string, string> = {};
    let done: Record<string, string> = {};
    let log = '';
    let allowed = new Map<string, Set<string | undefined>>();
    const counts = { untouched: 0, finished: 0, partly: 0 };
    const { points, operations } = await visitFaults({
      async prepare(place) {
        prepare(place);
        before = stateOf(place);
        log = logText(place);
        const whole = { ...place };
        const { copyPlace } = await import('../support/faults');
        const copy = copyPlace(whole);
        await runCli(reset, { cwd: copy.work, env: cleanEnv(copy.home) });
        done = withoutFolders(stateOf(copy));
        allowed = allowedTexts(before, plansOf(copy), copy.work);
        assert.equal(eventsOf(copy, 'session.reset').length, 3);
        copy.remove();
      },
      args: () => reset,
      next,
      afterFault(place, ran, point) { assertSound(place, allowed, log, point, ran.stdout); },
      async afterNext(place, first, point) {
        assertSound(place, allowed, log, point, first.stdout + logText(place));
        const state = stateOf(place);
        assert.deepEqual(Object.keys(state).filter((name) => name.includes('.tmp') || name.includes('.partial')), [], `${point}: left behind`);
        assert.deepEqual(fs.readdirSync(path.join(place.work, '.the-loop/loopkeeper/journal')).filter((name) => name !== 'failed'), [], `${point}: the journal is not empty`);
        const events = eventsOf(place, 'session.reset');
        const begun = events.length > 0;
        if (!begun) {
          assert.deepEqual(state, before, `${point}: changed without an event`);
          counts.untouched += 1;
          return;
        }
        assert.deepEqual(events.map((event) => event['work_item']), refs, `${point}: one event per item\n${first.stderr}`);
        assert.equal(new Set(events.map((event) => event['plan'])).size, 1, point);
        if (events.every((event) => event['error'] === undefined)) {
          assert.deepEqual(withoutFolders(state), done, point);
          counts.finished += 1;
        } else {
          assert.ok(!point.startsWith('kill'), `${point}: a killed program leaves no error\n${JSON.stringify(events)}`);
          counts.partly += 1;
          // The person runs it again, and nothing is left over.
          await runCli(reset, { cwd: place.work, env: cleanEnv(place.home) });
          const again = withoutFolders(stateOf(place));
          const checkout = Object.keys(again).filter((name) => name.startsWith('ws/'));
          for (const name of checkout) Reflect.deleteProperty(again, name);
          assert.deepEqual(again, done, `${point}: a second reset`);
        }
      },
    });
    console.log(`      reset: ${String(points)} points visited (${String(operations)} operations × 5 faults): ${String(counts.untouched)} untouched, ${String(counts.finished)} finished, ${String(counts.partly)} with errors said and mended`);
    assert.ok(operations > 60 && counts.finished > 50 && counts.untouched > 10, JSON.stringify({ operations, ...counts }));
  });

  it('of an undo: old or new, finished by the next command, one event each', async () => {
    let original: Record<string, string> = {};
    let after: Record<string, string> = {};
    let log = '';
    let plan: Plan | undefined;
    let allowed = new Map<string, Set<string | undefined>>();
    const counts = { untouched: 0, finished: 0, partly: 0 };
    // The plan's paths are absolute, so each point works in the same place.
    const { points, operations } = await visitFaults({
      async prepare(place) {
        prepare(place);
        original = stateOf(place);
        await runCli(reset, { cwd: place.work, env: cleanEnv(place.home) });
        after = stateOf(place);
        log = logText(place);
        [plan] = plansOf(place);
        allowed = allowedTexts({ ...after, ...original }, plan ? [plan] : [], place.work);
        for (const [name, text] of Object.entries(after)) allowed.set(name, (allowed.get(name) ?? new Set()).add(text));
      },
      args(place) {
        rebase(place, plan?.id ?? '');
        return ['undo', plan?.id ?? '', '--json'];
      },
      next,
      afterFault(place, _ran, point) { assertSound(place, allowed, log, point); },
      async afterNext(place, first, point) {
        assertSound(place, allowed, log, point);
        assert.deepEqual(fs.readdirSync(path.join(place.work, '.the-loop/loopkeeper/journal')).filter((name) => name !== 'failed'), [], `${point}: the journal is not empty`);
        const events = eventsOf(place, 'session.reset_undone');
        if (events.length === 0) {
          assert.deepEqual(stateOf(place), after, `${point}: changed without an event`);
          counts.untouched += 1;
          return;
        }
        assert.deepEqual(events.map((event) => event['work_item']), refs, `${point}: one event per item\n${first.stderr}`);
        if (events.some((event) => event['error'] !== undefined)) {
          assert.ok(!point.startsWith('kill'), `${point}: a killed program leaves no error\n${JSON.stringify(events)}`);
          counts.partly += 1;
          await runCli(['undo', plan?.id ?? '', '--json'], { cwd: place.work, env: cleanEnv(place.home) });
        } else counts.finished += 1;
        assert.deepEqual(withoutFolders(stateOf(place)), withoutFolders(original), point);
      },
    });
    console.log(`      undo: ${String(points)} points visited (${String(operations)} operations × 5 faults): ${String(counts.untouched)} untouched, ${String(counts.finished)} finished, ${String(counts.partly)} with errors said and mended`);
    assert.ok(operations > 40 && counts.finished > 40 && counts.untouched > 5, JSON.stringify({ operations, ...counts }));
  });
});

/** A plan names absolute paths; in a copy of a place they are those of the copy. */
function rebase(place: Place, id: string): void {
  const file = path.join(place.work, '.the-loop/loopkeeper/plans', `${id}.json`);
  const text = fs.readFileSync(file, 'utf8');
  const old = /"path":"([^"]*)\/\.the-loop\//.exec(text)?.[1];
  if (old !== undefined) fs.writeFileSync(file, text.replaceAll(old, place.work));
}
