import assert from 'node:assert/strict';
import { pruneDialog, pruneLines, pruneOutcome, unblockDialog, unblockOutcome } from '../../../src/extension/dialogs/loopStateDialogs';
import { runPage, targetName, targetPage, viewWords } from '../../../src/extension/text/loopStateWords';
import { entryRows, loopStateRows } from '../../../src/extension/views/loopStateRows';
import type { Knowledge, LoopStateChangeReply, LoopStateListReply, TargetView } from '../../../src/protocol/loopState';
import { itemReply, planReply } from '../../support/replies';

const around = { now: new Date('2026-11-30T12:00:00Z'), home: '/home/dev' };
const place = { cwd: '/home/dev/repo', stateRoot: '' };
const web = 'https://github.com/octo/repo';
const knowledge = (given: Partial<Knowledge> = {}): Knowledge => ({ commit: '1a2b3c4d5e', committedAt: '2026-08-04T12:00:00Z', branch: 'main', upstream: 'origin/main', behind: 0, ahead: 0, fetchedAt: '2026-11-30T10:00:00Z', uncommitted: [], web, ...given });
const target = (given: Partial<TargetView> & { key: string }): TargetView => ({
  kind: given.key.startsWith('pull') ? 'pull-request' : 'watch', line: 3, outcome: 'rejected', ageDays: 18, lastRun: '2026-11-12T12:00:00Z', lastSha: null, consecutiveFailures: 0, breaker: { open: false, since: null }, pending: null, rejectReason: null,
  decision: { action: 'keep', reason: 'recent' }, next: null, ...given,
});
function list(targets: TargetView[], given: Partial<LoopStateListReply> = {}): LoopStateListReply {
  return {
    verb: 'loop-state-list', directory: '/home/dev/repo', loops: [{ path: '/home/dev/repo/.loop/state-ci.json', ref: '.loop/state-ci.json', problem: null, loop: 'ci', targets }],
    ledgers: [], runLog: null, knowledge: knowledge(), attention: [], warnings: [], ...given,
  };
}
const described = (targets: TargetView[]): string[] => {
  const reply = list(targets);
  const [row] = loopStateRows(reply, place, around);
  assert.ok(row);
  return entryRows(reply, row, around).map(({ label, description }) => `${label}: ${description ?? ''}`);
};

describe('the rows of loop state', () => {
  it('say what becomes of each target, what is blocked first', () => {
    assert.deepEqual(described([
      target({ key: 'integration:main' }), target({ key: 'pull_request:355', next: { action: 'delete', at: '2026-12-12T12:00:00Z' } }),
      target({ key: 'pull_request:12', pending: { pr: 355, url: null }, decision: { action: 'keep', reason: 'pending' } }), target({ key: 'integration:dev', decision: { action: 'cooldown', reason: 'expired' } }),
      target({ key: 'pull_request:7', decision: { action: 'delete', reason: 'expired' } }), target({ key: 'integration:old', breaker: { open: true, since: '2026-08-03T12:00:00Z' } }),
    ]), ['old: blocked since Aug 3', 'main: kept: recent', 'PR 355: goes in 12 days', 'PR 12: kept: pending PR 355', 'dev: cools down at the next prune', 'PR 7: goes at the next prune']);
  });

  it('count in each file, and open where a target is blocked', () => {
    const run = { key: '293', line: 2, outcome: 'rejected', ageDays: 40, decision: { action: 'delete' as const, reason: 'expired' as const }, next: null, workflow: 'on-ci', headSha: null, updatedAt: null, rejectCount: null };
    const rows = loopStateRows(list([target({ key: 'integration:main', breaker: { open: true, since: null } })], { ledgers: [{ path: '/l', ref: '.loop/l.json', problem: null, runs: [run, run] }], runLog: { path: '/r', ref: '.loop/r.md', problem: { kind: 'x', message: 'no permission' }, entries: [] } }), place, around);
    assert.deepEqual(rows.map(({ label, description }) => `${label}: ${description ?? ''}`), ['ci: 1 target · 1 blocked', 'Run ledger: 2 runs · 2 go', 'Run log: cannot be read']);
    assert.deepEqual([rows[0]?.expanded, rows[2]?.icon, rows[2]?.children], [true, 'error', undefined]);
    assert.match(rows[2]?.spoken ?? '', /no permission/);
  });

  it('know the file and line, the words for their menus, and their page on the forge', () => {
    const reply = list([target({ key: 'pull_request:355', line: 11, breaker: { open: true, since: null } })]);
    const [row] = entryRows(reply, loopStateRows(reply, place, around)[0] ?? assert.fail(), around);
    assert.deepEqual(row?.subject, { place, path: '/home/dev/repo/.loop/state-ci.json', line: 11, key: 'pull_request:355', loop: 'ci', url: `${web}/pull/355` });
    assert.deepEqual(row?.words, ['target', 'blocked', 'attention', 'entry', 'forge']);
    assert.equal(row?.spoken, 'PR 355 of ci, blocked');
  });

  it('tell two keys with one name apart, and show foreign text as text', () => {
    assert.deepEqual(described([target({ key: 'integration:main' }), target({ key: 'watch:main' })]).map((text) => text.replace(/: kept.*/, '')), ['integration:main', 'watch:main']);
    assert.equal(targetName('integration:a\u202eb'), 'a\\u202eb');
    assert.equal(targetName('odd'), 'odd');
  });

  it('link only to what the key says', () => {
    assert.equal(targetPage(web, target({ key: 'integration:feature/a b' })), `${web}/tree/feature/a%20b`);
    assert.equal(targetPage(web, target({ key: 'pull_request:../../x' })), undefined);
    assert.equal(targetPage(null, target({ key: 'pull_request:1' })), undefined);
    assert.equal(runPage(web, '29310573442'), `${web}/actions/runs/29310573442`);
    assert.equal(runPage(web, 'line:3'), undefined);
  });

  it('stand below how old the checkout is', () => {
    assert.deepEqual(viewWords([list([])], around.now), { description: '1a2b3c4 · Aug 4 · up to date', message: '' });
    const behind = viewWords([list([], { knowledge: knowledge({ behind: 3, uncommitted: ['a'] }) })], around.now);
    assert.equal(behind.description, '1a2b3c4 · Aug 4 · 3 behind');
    assert.match(behind.message, /^This checkout is 3 commits behind origin\/main\. Last fetch: .*\. 1 state file differs from the commit\.$/);
    assert.deepEqual(viewWords([list([], { knowledge: null })], around.now), { description: '', message: '' });
  });
});

function change(given: Partial<LoopStateChangeReply> = {}): LoopStateChangeReply {
  return {
    ...planReply([itemReply({ ref: '.loop/state-ci.json', removed: ['pull_request:1'] })], { verb: 'loop-state-prune' }),
    pruned: [{ ref: '.loop/state-ci.json', key: 'pull_request:1', action: 'delete', reason: 'expired' }, { ref: '.loop/ledger.json', key: '293', action: 'delete', reason: 'expired' }, { ref: '.loop/state-ci.json', key: 'integration:main', action: 'cooldown', reason: 'expired' }],
    written: [], skipped: [], counts: [{ action: 'delete', reason: 'expired', count: 2 }, { action: 'cooldown', reason: 'expired', count: 1 }, { action: 'keep', reason: 'pending', count: 4 }, { action: 'keep', reason: 'recent', count: 31 }],
    committed: null, pushed: null, ...given,
  };
}

describe('the dialog of a prune', () => {
  const scope = { name: 'website', knowledge: knowledge() };

  it('counts by reason', () => {
    const dialog = pruneDialog(change(), scope, []);
    assert.equal(dialog.message, 'Prune the loop state of website?');
    assert.deepEqual(dialog.detail.split('\n'), [
      'Goes: 2 entries older than 30 days (1 in state-ci.json and 1 in ledger.json).',
      'Cools down: 1 watched branch (1 in state-ci.json). Its rejections are forgotten and its counter is 0; its cursor stays.',
      'Stays: 31 recent, 4 in flight.', 'Undo puts back each entry that is not there again by then. A commit stays.',
    ]);
    assert.deepEqual([dialog.apply, dialog.harmlessFirst], ['Prune', false]);
  });

  it('warns when the checkout is behind, with Enter harmless, and names what is passed by', () => {
    const dialog = pruneDialog(change({ skipped: [{ ref: '.loop/state-x.json', why: 'invalid-json' }, { ref: '.loop/state-y.json', why: 'nothing-recorded' }] }), { ...scope, loop: 'ci', knowledge: knowledge({ behind: 3 }) }, ['x']);
    assert.equal(dialog.message, 'Prune the state of the loop ci?');
    assert.match(dialog.detail, /^Changed while you were reading: x\./);
    assert.match(dialog.detail, /^Warning: This checkout is 3 commits behind origin\/main\..*pull first\.$/m);
    assert.match(dialog.detail, /^Not pruned: state-x\.json is not valid JSON; it is left as it is\.$/m);
    assert.doesNotMatch(dialog.detail, /state-y/);
    assert.equal(dialog.harmlessFirst, true);
  });

  it('has every entry in its dry run', () => {
    assert.deepEqual(pruneLines(change()), ['.loop/state-ci.json', '  pull_request:1 goes: older than 30 days', '  integration:main cools down: rejections forgotten, counter 0', '.loop/ledger.json', '  293 goes: older than 30 days']);
  });

  it('says afterwards what was done and what Undo brings back', () => {
    assert.equal(pruneOutcome(change()).sentence, 'Pruned: 2 entries removed and 1 watched branch cooled down. Undo puts all of it back.');
    assert.match(pruneOutcome(change({ committed: { message: 'm', paths: [], status: 'done' } })).sentence, /Undo puts the entries back; the commit stays\.$/);
    assert.deepEqual(pruneOutcome(change({ items: [itemReply({ ref: '.loop/a', errors: [{ kind: 'io', message: 'disk full' }] })] })), { sentence: 'Not pruned: .loop/a: disk full', failed: true, undoable: false });
    assert.match(pruneOutcome(change({ committed: { message: 'm', paths: [], status: 'failed' } })).sentence, /git made no commit/);
  });
});

describe('the dialog of an unblock', () => {
  it('says since when and why the loop skips it', () => {
    const blocked = target({ key: 'integration:main', consecutiveFailures: 3, breaker: { open: true, since: '2026-08-03T12:00:00Z' } });
    const dialog = unblockDialog(change({ counts: [] }), blocked, { name: 'website', loop: 'ci', knowledge: null }, [], around.now);
    assert.equal(dialog.message, 'Unblock main of ci?');
    assert.deepEqual(dialog.detail.split('\n'), ['The loop skips it since Aug 3: it failed 3 times in a row.', 'The failure count becomes 0, so the loop tries it again. Nothing else changes.']);
    assert.equal(unblockOutcome(change(), 'integration:main').sentence, 'main is unblocked; the loop tries it again. Undo puts all of it back.');
  });
});
