import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { readArtifacts } from '../../src/core/context/artifacts';
import { verifyCheckpoint } from '../../src/core/context/checkpoint';
import { diskReader } from '../../src/core/disk/reader';
import { CheckpointReply } from '../../src/protocol/context';
import { REF, contextJson, envOf, eventsOf, git, makeRepository, person } from '../support/context';
import { copyPlace, visitFaults } from '../support/faults';
import { runCli, type Place } from '../support/program';

const log = 'docs/specs/issue-239/execution-log.md';
const tasks = 'docs/specs/issue-239/tasks.md';
const request = ['--work-item', REF, '--tick', '16', '--did', 'The docs say what the stream does', '--next', 'Run the verification node: start with T1'];
/** A changing command that has nothing to do with it: it finishes what is unfinished. */
const next = ['sessions', 'reset', '--work-item', 'github:octo/other#1', '--json'];

const read = (place: Place) => ({ log: fs.readFileSync(path.join(place.work, log), 'utf8'), tasks: fs.readFileSync(path.join(place.work, tasks), 'utf8') });
const commits = (place: Place) => Number(git(place, 'rev-list', '--count', 'HEAD'));

/** The checkmarks part for task 16, looked at without the program. */
function ticked(place: Place): string | undefined {
  const artifacts = readArtifacts(diskReader, { checkout: place.work, id: 'issue-239', directory: path.join(place.work, 'docs/specs/issue-239') });
  return verifyCheckpoint({ artifacts, work: { unknown: 'not asked' }, tasks: ['16'], labelPrefix: 'loop:', now: '2026-11-30T20:00:00Z' }).parts[0]?.verdict;
}

function assertNothingLeft(place: Place, point: string): void {
  const left = fs.readdirSync(path.join(place.work, 'docs/specs/issue-239')).filter((name) => name.includes('.lk-') || name.endsWith('.tmp'));
  assert.deepEqual(left, [], `${point}: left behind`);
}

describe('faults at every file operation of a checkpoint', function () {
  this.timeout(20 * 60_000);

  it('written without a commit: each file old or new, finished by the next command, one event; the checkpoint is there or not', async () => {
    const args = ['context', 'checkpoint', ...request, '--no-exec', '--accept-unknown', 'work', '--json'];
    let before = { log: '', tasks: '' };
    let after = { log: '', tasks: '' };
    const counts = { untouched: 0, finished: 0, partly: 0 };
    const { points, operations } = await visitFaults({
      env: person,
      async prepare(place) {
        makeRepository(place);
        fs.rmSync(path.join(place.work, '.git'), { recursive: true }); // git is not asked here
        before = read(place);
        const copy = copyPlace(place);
        const ran = await runCli(args, { cwd: copy.work, env: envOf(copy) });
        assert.equal(ran.code, 0, ran.stdout + ran.stderr);
        after = read(copy);
        copy.remove();
        assert.notEqual(after.log, before.log);
        assert.notEqual(after.tasks, before.tasks);
      },
      args: () => args,
      next,
      afterFault(place, _ran, point) {
        const now = read(place);
        assert.ok(now.log === before.log || now.log === after.log, `${point}: the log is torn`);
        assert.ok(now.tasks === before.tasks || now.tasks === after.tasks, `${point}: tasks.md is torn`);
      },
      async afterNext(place, first, point) {
        assertNothingLeft(place, point);
        const now = read(place);
        const events = eventsOf(place, 'context.checkpoint');
        assert.ok(events.length <= 1, `${point}: ${String(events.length)} events`);
        if (events.length === 0) {
          assert.deepEqual(now, before, `${point}: changed without an event\n${first.stdout}`);
          assert.equal(ticked(place), 'missing', point);
          counts.untouched += 1;
        } else if (events[0]?.['error'] === undefined) {
          assert.deepEqual(now, after, point);
          assert.equal(ticked(place), 'ok', point);
          counts.finished += 1;
        } else {
          // A disk that refuses is said, and the same request mends it.
          assert.ok(!point.startsWith('kill'), `${point}: a killed program leaves no error\n${JSON.stringify(events)}`);
          const again = await contextJson(place, args.slice(1, -1), CheckpointReply);
          assert.deepEqual([again.code, again.reply.complete], [0, true], `${point}: a second time`);
          assert.deepEqual(read(place), after, point);
          counts.partly += 1;
        }
      },
    });
    console.log(`      checkpoint: ${String(points)} points visited (${String(operations)} operations × 5 faults): ${String(counts.untouched)} untouched, ${String(counts.finished)} finished, ${String(counts.partly)} with errors said and mended`);
    assert.ok(operations > 15 && counts.finished > 5 && counts.untouched > 5, JSON.stringify({ operations, ...counts }));
  });

  it('written with a commit and killed: never committed twice, and the same request completes what is missing', async () => {
    const args = ['context', 'checkpoint', ...request, '--commit', '--json'];
    let before = { log: '', tasks: '' };
    let after = { log: '', tasks: '' };
    const { points } = await visitFaults({
      env: person,
      modes: ['kill'],
      async prepare(place) {
        makeRepository(place);
        before = read(place);
        const copy = copyPlace(place);
        assert.equal((await runCli(args, { cwd: copy.work, env: envOf(copy) })).code, 0);
        after = read(copy);
        copy.remove();
      },
      args: () => args,
      next,
      afterFault(place, _ran, point) {
        const now = read(place);
        assert.ok([before.log, after.log].includes(now.log) && [before.tasks, after.tasks].includes(now.tasks), `${point}: torn`);
        assert.ok(commits(place) <= 2, point);
      },
      async afterNext(place, _first, point) {
        assertNothingLeft(place, point);
        const count = commits(place);
        if (count === 2) assert.deepEqual(read(place), after, point);
        const again = await contextJson(place, args.slice(1, -1), CheckpointReply);
        assert.deepEqual([again.code, again.reply.complete], [0, true], `${point}\n${JSON.stringify(again.reply)}`);
        assert.deepEqual(read(place), after, point);
        assert.equal(commits(place), 2, `${point}: committed once`);
      },
    });
    console.log(`      checkpoint with a commit: ${String(points)} points visited`);
  });
});
