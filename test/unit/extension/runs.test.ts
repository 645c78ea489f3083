import assert from 'node:assert/strict';
import { lineLimit } from '../../../src/extension/dialogs/dialog';
import { runResetDialog, runResetOutcome } from '../../../src/extension/dialogs/runResetDialog';
import { raymondAbove } from '../../../src/extension/places';
import { fileOfState, frameRows, runRows } from '../../../src/extension/views/runRows';
import type { AgentView, FrameView, RunView, WorkflowResetReply } from '../../../src/protocol/workflow';
import { itemReply, planReply } from '../../support/replies';

const place = { cwd: '/work', stateRoot: '/work/.raymond' };
const around = { now: new Date('2026-11-30T12:00:00Z'), home: '/home/dev' };
const agent = (given: Partial<AgentView> = {}): AgentView => ({
  name: 'main', state: 'REVIEW.md', status: 'active', session: '0f1c5e7a-1111-2222', forks: false, directory: '/home/dev/x', scope: null, nestingDepth: 0, taskFolder: null, depth: 3, returnsTo: 'AFTER.md',
  input: null, ask: null, error: null, retries: 0, ...given,
});
const runView = (given: Partial<RunView> = {}): RunView => ({
  id: 'nightly', workflow: 'review', scope: '/flows/review', path: '/work/.raymond/state/nightly.json', readOnly: false, execution: 'unknown', executionSentence: 'running or stopped: unknown, written 20 s ago',
  writtenAt: null, startedAt: null, costUsd: 1.24, budgetUsd: null, agents: [agent()], attention: [], ...given,
});
const rowsOf = (...runs: RunView[]) => runRows({ verb: 'workflow-list', directory: '/work/.raymond', runs, warnings: [] }, place, around);
const frame = (given: Partial<FrameView> = {}): FrameView => ({ returnsTo: 'AFTER.md', session: null, directory: '/home/dev/x', scope: null, taskFolder: null, nestingDepth: 0, ...given });

describe('the rows of workflow runs', () => {
  it('are the workflow with stack and cost, its agents with their state, and the stack, its top first', () => {
    const [run] = rowsOf(runView());
    assert.deepEqual([run?.label, run?.description, run?.icon], ['review', 'stack 3 · $1.24 · running or stopped: unknown', 'circle-slash']);
    const children = typeof run?.children === 'object' ? run.children : [];
    assert.deepEqual(children.map(({ label, description }) => [label, description]), [['main at REVIEW', '3 frames · session 0f1c5e7a-11…']]);
    assert.equal(children[0]?.children, 'later');
    const frames = frameRows([frame(), frame({ returnsTo: 'OUTER.md', session: 's-1', directory: null })], runView(), 'main', place, around);
    assert.deepEqual(frames.map(({ label, description }) => [label, description]), [['returns to AFTER.md', 'fresh session · ~/x'], ['returns to OUTER.md', 'session s-1 · same directory']]);
    assert.equal(frames[1]?.spoken, 'Frame 2 of 2: returns to OUTER.md, session s-1, same directory');
    assert.equal(new Set(frames.map(({ id }) => id)).size, 2);
  });

  it('offer a reset only where the run can be reset', () => {
    const wordsOf = (given: Partial<RunView>) => rowsOf(runView(given))[0]?.words ?? [];
    assert.ok(wordsOf({}).includes('resettable'));
    for (const given of [{ execution: 'raymond' as const }, { execution: 'loopkeeper' as const }, { readOnly: true }, { problem: 'no JSON' }, { agents: [] }]) assert.ok(!wordsOf(given).includes('resettable'), JSON.stringify(given));
    assert.deepEqual(wordsOf({ problem: 'no JSON' }), ['run', 'unreadable', 'attention']);
  });

  it('say what needs a person, and tell runs of one workflow apart', () => {
    const asks = { kind: 'asks-you' as const, since: null, sentence: 'main asks: Which file?', command: '' };
    const rows = rowsOf(runView({ attention: [asks], agents: [agent({ status: 'asking', ask: { id: 'a', prompt: 'Which file?', next: 'N', since: null, timeout: null, timeoutNext: null } })] }), runView({ id: 'daily' }));
    assert.equal(rows[0]?.description, 'nightly · asks you · stack 3 · $1.24 · running or stopped: unknown');
    assert.equal(rows[0]?.icon, 'question');
    assert.match(rows[0]?.spoken ?? '', /^Workflow run review nightly: asks you, stack 3.*\. Needs you: main asks: Which file\?$/);
    assert.deepEqual([...rows[0]?.words ?? []].sort(), ['asking', 'attention', 'resettable', 'run', 'workflow']);
    assert.match(rows[1]?.description ?? '', /^daily · /);
    assert.notEqual(rows[0]?.id, rows[1]?.id);
  });

  it('show foreign names as text', () => {
    const [run] = rowsOf(runView({ workflow: 'a\u202eb', agents: [agent({ name: 'm\n', state: 'X\u200b.md' })] }));
    assert.equal(run?.label, 'a\\u202eb');
    assert.equal(typeof run?.children === 'object' ? run.children[0]?.label : '', 'm\\n at X\\u200b');
  });

  it('find a state\'s file in the workflow and nowhere else', () => {
    assert.equal(fileOfState('/flows/review', 'REVIEW.md'), '/flows/review/REVIEW.md');
    assert.equal(fileOfState('/flows/review', '../../etc/passwd'), '/flows/review/passwd');
    assert.equal(fileOfState('/flows/review.yaml', 'REVIEW'), '/flows/review.yaml');
    assert.equal(fileOfState('/flows/review', undefined), '/flows/review');
  });
});

describe('where runs are looked for', () => {
  const above = (folder: string, ...there: string[]) => raymondAbove(folder, (file) => there.includes(file));
  it('is upward to the repository\'s root, not beyond', () => {
    assert.equal(above('/a/b/c', '/a/.raymond'), '/a/.raymond');
    assert.equal(above('/a/b/c', '/a/b/.git', '/a/.raymond'), undefined);
    assert.equal(above('/a/b', '/a/b/.git', '/a/b/.raymond'), '/a/b/.raymond');
    assert.equal(above('/a'), undefined);
  });
});

const resetReply = (given: Partial<WorkflowResetReply['reset']> = {}, more: Partial<WorkflowResetReply> = {}): WorkflowResetReply => ({
  ...planReply([itemReply({ ref: 'nightly' })], { verb: 'workflow-reset' }),
  reset: { run: 'nightly', before: agent({ input: 'round 2' }), after: agent({ state: 'LOOP.md', session: null }), stack: ['AFTER.md', 'OUTER.md', 'START.md'].map((returnsTo) => frame({ returnsTo })), ...given }, ...more,
});

describe('the question before an agent is reset', () => {
  it('says that the stack stays, how deep it is and where it returns', () => {
    const dialog = runResetDialog(resetReply(), 'review');
    assert.equal(dialog.message, 'Reset main of review to LOOP.md?');
    assert.deepEqual(dialog.detail.split('\n'), [
      'It goes from REVIEW.md to LOOP.md, with a fresh session.',
      'The return stack stays, 3 deep: results return to AFTER.md, OUTER.md, START.md, in this order.',
      'Goes: its session 0f1c5e7a-1111-2222 and the input that waited.',
      'The directory stays: /home/dev/x.',
      'Stays besides: workflow, task folder, cost, all other agents, the transcript of the old session.',
      'Nothing runs until the run is resumed. Undo puts its file back byte for byte.',
    ]);
    assert.equal(dialog.apply, 'Reset Agent');
  });

  it('names the first returns of a deep stack, the one of a shallow one, and an empty one', () => {
    const deep = runResetDialog(resetReply({ stack: Array.from({ length: 1000 }, (_, index) => frame({ returnsTo: `S${String(index)}.md` })) }), 'review').detail;
    assert.match(deep, /^The return stack stays, 1000 deep: results return to S0\.md, S1\.md, S2\.md, S3\.md, S4\.md and 995 more, in this order\.$/m);
    assert.match(runResetDialog(resetReply({ stack: [frame()] }), 'review').detail, /^The return stack stays, 1 deep: the next result returns to AFTER\.md\.$/m);
    assert.match(runResetDialog(resetReply({ stack: [] }), 'review').detail, /^The return stack stays: it is empty, a result ends the agent\.$/m);
  });

  it('tells what changed, and passes on what the program says, in at most twelve lines', () => {
    const reply = resetReply({}, { items: [itemReply({ ref: 'nightly', notices: [{ kind: 'execution-unknown', message: 'If raymond is at it, stop it first.' }] })], warnings: Array.from({ length: 20 }, (_, index) => ({ kind: 'x', message: `w${String(index)}` })) });
    const { detail } = runResetDialog(reply, 'review', ['what the plan rests on']);
    assert.match(detail, /^Changed while you were reading: what the plan rests on\./);
    assert.match(detail, /^If raymond is at it, stop it first\.$/m);
    assert.equal(detail.split('\n').length, lineLimit);
  });

  it('is followed by one sentence with the depth of the stack', () => {
    assert.deepEqual(runResetOutcome(resetReply(), 'review'), { sentence: 'Reset main of review to LOOP.md, its return stack of 3 kept; Undo brings all of it back.', failed: false, undoable: true });
    assert.equal(runResetOutcome(resetReply({}, { items: [itemReply({ ref: 'nightly', errors: [{ kind: 'io', message: 'no space' }] })] }), 'review').failed, true);
  });
});
