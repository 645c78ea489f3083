import assert from 'node:assert/strict';
import { checkpointDialog, checkpointOutcome, setDialog, setOutcome } from '../../../src/extension/dialogs/contextDialogs';
import { contextClick, contextStatus, type ContextFacts, type FolderPolicy, type MeasuredSession } from '../../../src/extension/statusBar/contextStatus';
import { activityWords, usageWords } from '../../../src/extension/text/contextWords';
import { folderRows } from '../../../src/extension/views/folderRows';
import { policyRows } from '../../../src/extension/views/policyRows';
import { plainSessionRows, sessionRows } from '../../../src/extension/views/sessionRows';
import type { CheckpointPart, CheckpointReply, ContextSetReply, ContextShowReply, UsageView } from '../../../src/protocol/context';
import { itemReply, itemView, listReply, planReply, session } from '../../support/replies';

const around = { now: new Date('2026-11-30T12:00:00Z'), home: '/home/dev' };
const place = { cwd: '/home/dev/website', stateRoot: '', folder: '/home/dev/website', name: 'website' };
const file = '/home/dev/website/.the-loop/harness-config.yaml';

function policy(given: Partial<ContextShowReply> & { enabled?: boolean } = {}): ContextShowReply {
  const { enabled = true, ...rest } = given;
  const at = (key: ContextShowReply['values'][number]['key'], value: ContextShowReply['values'][number]['value'], line: number) => ({ key, value, from: 'file' as const, file, line });
  return {
    verb: 'context-show', folder: '/home/dev/website', file, known: true, applies: null, problems: [], item: null, warnings: [],
    values: [at('enabled', enabled, 212), at('phaseBoundary', 'clear', 213), at('taskBoundary', 'compact', 214), { key: 'midTask', value: 'compact', from: 'default', file: null, line: null }], ...rest,
  };
}
const none = policy({ file: null, folder: '/home/dev/docs', values: [{ key: 'enabled', value: true, from: 'default', file: null, line: null }] });
const broken = policy({ known: false, file: '/home/dev/api/.the-loop/config.yaml', folder: '/home/dev/api', values: [], problems: [{ file: '/home/dev/api/.the-loop/config.yaml', line: 7, message: 'midTask is "clear"; legal: compact, off' }] });
const of = (reply: ContextShowReply, name = 'website'): FolderPolicy => ({ name, reply });

function usage(given: Partial<UsageView> = {}): UsageView {
  return {
    id: 's1', harness: 'claude', ref: null, title: 'Find the leak', cwd: '/home/dev/website', model: null, tokens: 142_000, reason: null, window: 200_000, windowFrom: 'transcript', share: 0.71,
    lastActive: '2026-11-30T11:56:00Z', running: { pid: 1, status: 'idle' }, transcript: '/home/dev/.claude/projects/x/s1.jsonl', ...given,
  };
}

describe('the rows of the context policy', () => {
  it('say each value and where it stands', () => {
    assert.deepEqual(policyRows(policy(), place, around).map(({ label, description }) => `${label}: ${description ?? ''}`), [
      'Policy: on · harness-config.yaml:212', 'Phase boundary: clear · harness-config.yaml:213', 'Task boundary: compact · harness-config.yaml:214', 'In mid-task: compact · default',
    ]);
    const [, phase, , mid] = policyRows(policy(), place, around);
    assert.deepEqual([phase?.subject.path, phase?.subject.line, phase?.words], [file, 213, ['policy', 'entry']]);
    assert.deepEqual(mid?.words, ['policy']);
    assert.equal(phase?.spoken, 'Phase boundary: clear, harness-config.yaml:213');
  });

  it('say what is not in force while it is off, and that there is no file', () => {
    assert.equal(policyRows(policy({ enabled: false }), place, around)[1]?.description, 'clear · harness-config.yaml:213 · not in force');
    assert.equal(policyRows(none, place, around)[0]?.description, 'on · default, no policy file');
  });

  it('put what is wrong first, at its line', () => {
    const [row] = policyRows(broken, place, around);
    assert.deepEqual([row?.label, row?.description, row?.subject.line, row?.opens], ['midTask is "clear"; legal: compact, off', 'config.yaml:7', 7, 'loopkeeper.openFile']);
  });

  it('of several folders are grouped, with ids that stay apart', () => {
    const rows = folderRows([{ root: place, value: policy() }, { root: { ...place, folder: '/b', name: 'b\u202e' }, value: policy({ enabled: false }) }], (reply, where) => policyRows(reply, where, around), () => 'on');
    assert.deepEqual(rows.map(({ label }) => label), ['website', 'b\\u202e']);
    const ids = rows.flatMap(({ children }) => typeof children === 'object' ? children.map(({ id }) => id) : []);
    assert.equal(new Set(ids).size, 8);
  });
});

describe('the status bar item', () => {
  const live = (percent: number | null, checkpoint?: boolean, name = 'octo/repo#15'): MeasuredSession => ({ name, percent, usage: `${String(percent)} % of 200k`, checkpoint });
  const facts = (given: Partial<ContextFacts>): ContextFacts => ({ policies: [of(policy())], sessions: [], warnAt: 70, trusted: true, ...given });
  const drawn = (given: Partial<ContextFacts>): string => {
    const status = contextStatus(facts(given));
    return status ? [status.text, status.background].filter((part) => part !== undefined).join(' | ') : 'hidden';
  };

  it('has every state of the design', () => {
    assert.equal(drawn({}), '$(layers) Context On');
    assert.equal(drawn({ sessions: [live(12), live(61), live(null)] }), '$(layers) Context 61%');
    assert.equal(drawn({ sessions: [live(71, true)] }), '$(layers) Context 71% | warning');
    assert.equal(drawn({ sessions: [live(90, true), live(84, false, 'x')] }), '$(warning) Context 84%, No Checkpoint | warning');
    assert.equal(drawn({ sessions: [live(84)] }), '$(layers) Context 84% | warning');
    assert.equal(drawn({ policies: [of(policy({ enabled: false }))] }), '$(circle-slash) Context Off');
    assert.equal(drawn({ policies: [of(broken)] }), '$(error) Context Policy Invalid | error');
    assert.equal(drawn({ policies: [of(policy()), of(policy({ enabled: false, file: '/b' }))] }), '$(layers) Context Mixed');
    assert.equal(drawn({ policies: [of(none)] }), 'hidden');
    assert.equal(drawn({ policies: [], sessions: [] }), 'hidden');
    assert.equal(drawn({ policies: [of(none)], sessions: [live(5)] }), '$(layers) Context 5%');
  });

  it('warns where the setting says', () => {
    assert.equal(drawn({ warnAt: 90, sessions: [live(84, false)] }), '$(layers) Context 84%');
  });

  it('counts two folders of one repository once', () => {
    assert.deepEqual(contextClick(facts({ policies: [of(policy(), 'a'), of(policy(), 'b')] })).kind, 'toggle');
  });

  it('toggles one policy, opens a wrong line, and else has a menu', () => {
    assert.equal(contextClick(facts({})).kind, 'toggle');
    assert.equal(contextClick(facts({ policies: [of(policy()), of(none, 'docs')] })).kind, 'toggle');
    assert.deepEqual(contextClick(facts({ policies: [of(broken)] })), { kind: 'open', file: '/home/dev/api/.the-loop/config.yaml', line: 7 });
    for (const given of [{ policies: [of(none)] }, { policies: [of(policy()), of(policy({ file: '/b' }))] }, { policies: [of(policy()), of(broken)] }, { trusted: false }, { policies: [] }]) {
      assert.equal(contextClick(facts(given)).kind, 'menu', JSON.stringify(given).slice(0, 80));
    }
  });

  it('tells in its tooltip the state with its line, the values, at most five sessions, and who acts', () => {
    const status = contextStatus(facts({ sessions: [live(12, true), ...Array.from({ length: 6 }, (_, index) => live(20 + index, undefined, `s${String(index)}`))] }));
    const lines = status?.tooltip.map((block) => block.join('\n')) ?? [];
    assert.equal(lines[0], 'Context policy on (harness-config.yaml:212)\nPhase boundary: clear · Task boundary: compact · In mid-task: compact');
    assert.equal(lines[1]?.split('\n').length, 6);
    assert.match(lines[1] ?? '', /^s5: 25 % of 200k\n[^]*2 more sessions$/);
    assert.equal(lines[2], 'On: agents that follow the guide, and `context boundary`, act; Loopkeeper never acts by itself.');
    assert.match(contextStatus(facts({ sessions: [live(84, false)] }))?.spoken ?? '', /window of octo\/repo#15 is 84 percent full, and it has no checkpoint/);
  });
});

describe('usage of a window', () => {
  it('is a share, or unknown, never an old value', () => {
    assert.equal(usageWords(usage()), '71 % of 200k');
    assert.equal(usageWords(usage({ windowFrom: 'assumed', window: 1_000_000, share: 0.142 })), '14 % of ~1M');
    assert.equal(usageWords(usage({ tokens: null, share: null, reason: 'after-boundary' })), 'window unknown until its next answer');
  });

  it('comes with what the session does', () => {
    assert.equal(activityWords(usage(), around.now), 'idle 4 min');
    assert.equal(activityWords(usage({ running: { pid: 1, status: 'busy' } }), around.now), 'working');
    assert.equal(activityWords(usage({ running: null, lastActive: '2026-11-30T08:00:00Z' }), around.now), 'last active 4 h');
  });

  it('is on the row of an item\'s session', () => {
    const items = [itemView({ ref: 'github:octo/repo#15', state: 'live', session: session({ sessionId: 's1' }) })];
    assert.equal(sessionRows(listReply(items), place, around, new Map([['s1', usage()]]))[0]?.description, 'Claude Code · 71 % of 200k · idle 4 min');
    assert.equal(sessionRows(listReply(items), place, around)[0]?.description, 'Claude Code · live');
  });

  it('is on plain sessions, those that run first, without those of items, never by id', () => {
    const sessions = [usage({ id: 'a', running: null, title: null }), usage({ id: 'b' }), usage({ id: 'c', ref: 'github:octo/repo#15' }), usage({ id: 'd' })];
    const rows = plainSessionRows(sessions, new Set(['d']), place, around);
    assert.deepEqual(rows.map(({ label, description }) => `${label}: ${description ?? ''}`), ['Find the leak: Claude Code · 71 % of 200k · idle 4 min', 'Conversation without a title: Claude Code · 71 % of 200k · last active 4 min']);
    assert.deepEqual(rows[0]?.words, ['session', 'plain', 'live', 'entry', 'checkout']);
    const hostile = plainSessionRows([usage({ title: `**x** \u202e ${'t'.repeat(300)}` })], new Set(), place, around)[0]?.label ?? '';
    assert.match(hostile, /^\*\*x\*\* \\u202e t+…$/);
    assert.ok(hostile.length <= 60);
  });

  it('puts many old sessions below one row', () => {
    const rows = plainSessionRows(Array.from({ length: 40 }, (_, index) => usage({ id: `s${String(index)}`, running: null })), new Set(), place, around);
    assert.equal(rows.length, 11);
    assert.equal(rows[10]?.label, '30 older sessions');
  });
});

describe('the dialogs of the context policy', () => {
  const set = (given: Partial<ContextSetReply['set']> = {}, others: ContextSetReply['otherCheckouts'] = []): ContextSetReply => ({
    ...planReply([itemReply({ ref: '/home/dev/website' })], { verb: 'context-set' }), set: { key: 'enabled', value: false, was: true, file, line: 212, created: false, changed: true, ...given }, otherCheckouts: others,
  });

  it('say afterwards what changed and whom it does not reach', () => {
    const others = [1, 2, 3].map((number) => ({ ref: `github:octo/repo#${String(number)}`, folder: '/w' }));
    assert.deepEqual(setOutcome(set({}, others), 'website'), { sentence: 'Context policy off in website (harness-config.yaml changed). 3 work items have their own checkout and keep their value.', failed: false, undoable: true });
    assert.equal(setOutcome(set({ key: 'taskBoundary', value: 'clear' }), 'website').sentence, 'Task boundary is clear in website (harness-config.yaml changed).');
    assert.equal(setOutcome(set({ changed: false }), 'website').undoable, false);
  });

  it('ask before a file is made', () => {
    const dialog = setDialog(set({ created: true }), 'website', []);
    assert.equal(dialog.message, 'Create a policy file in website?');
    assert.equal(dialog.apply, 'Create File');
    assert.match(dialog.detail, /harness-config\.yaml, with "Policy: off"/);
  });
});

describe('the dialog of a checkpoint', () => {
  const part = (name: CheckpointPart['part'], verdict: CheckpointPart['verdict'], line: number | null = null): CheckpointPart => ({ part: name, verdict, evidence: `why ${name}`, file: line === null ? null : '/w/docs/tasks.md', line, accepted: false });
  const reply = (given: Partial<CheckpointReply> = {}): CheckpointReply => ({
    verb: 'context-checkpoint', item: 'github:octo/repo#15', kind: 'workItem', folder: '/w', complete: true, parts: [part('log', 'missing')], after: [part('checkmarks', 'ok', 31), part('log', 'ok'), part('phase', 'unknown'), part('work', 'ok')],
    label: 'not checked', entry: null, writes: { entry: { did: 'd', next: 'Task 5: prune on write' }, ticked: [], committed: ['a', 'b'], added: [], noted: [] }, plan: planReply([itemReply({ ref: 'github:octo/repo#15' })]), warnings: [], ...given,
  });

  it('says what is written and committed, and each part with its line', () => {
    assert.deepEqual(checkpointDialog(reply(), 'octo/repo#15', []).detail.split('\n'), [
      'Will be written: log entry, next "Task 5: prune on write".', 'Will be committed: 2 files (a, b).', 'The checkpoint is complete then:',
      'Unknown: phase: why phase', 'OK: checkmarks (tasks.md:31).', 'OK: log entry.', 'OK: work in progress.', 'The window is not touched. Undo takes the files back; the commit stays.',
    ]);
  });

  it('says afterwards what is still open', () => {
    assert.equal(checkpointOutcome(reply({ parts: [part('log', 'ok')] }), 'octo/repo#15').sentence, 'The checkpoint of octo/repo#15 is written and complete.');
    assert.deepEqual(checkpointOutcome(reply({ complete: false, parts: [part('log', 'ok'), part('work', 'missing')] }), 'x'), { sentence: 'The checkpoint of x is written, but not complete: work in progress.', failed: true, undoable: true });
  });
});
