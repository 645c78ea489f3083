import assert from 'node:assert/strict';
import { changesBetween } from '../../../src/extension/dialogs/changes';
import { lineLimit } from '../../../src/extension/dialogs/dialog';
import { resetOutcome, undoOutcome } from '../../../src/extension/dialogs/outcome';
import { resetDialog } from '../../../src/extension/dialogs/resetDialog';
import { planState, planTitle, undoDialog } from '../../../src/extension/dialogs/undoDialog';
import type { ItemReply } from '../../../src/protocol/plan';
import { checkout, itemReply, planReply } from '../../support/replies';

const now = new Date('2026-11-30T12:00:00Z');
const live15 = itemReply({
  ref: 'github:octo/repo#15', live: true, removed: ['workspace', 'session', 'control', 'poll'], kept: [{ what: 'graph', why: 'phase choices stay' }],
  ends: [
    { ref: 'github:octo/repo#15', harness: 'claude', terminal: 'loop-github-octo-repo-15', open: 'tmux attach -t loop-github-octo-repo-15' },
    { ref: 'github:octo/repo#16', harness: 'claude', terminal: 'loop-github-octo-repo-16', open: null },
  ],
  checkouts: [checkout()], control: { command: 'start', actor: 'octocat', requestedAt: '2026-08-04T12:00:00Z' }, poll: { seenComments: 2 },
});
const armed40 = itemReply({ ref: 'github:octo/repo#40', removed: ['control'] });
const paused31 = itemReply({ ref: 'github:octo/repo#31', live: true, removed: ['session', 'control'] });
const bare = (number: number): ItemReply => itemReply({ ref: `github:octo/repo#${String(number)}`, removed: ['poll'] });

describe('the reset dialog', () => {
  it('of one live item reads as in the design', () => {
    const dialog = resetDialog(planReply([live15], { warnings: [{ kind: 'daemon-running', message: 'the poller runs (pid 812) and may write back' }] }), now);
    assert.equal(dialog.message, 'Reset octo/repo#15?');
    assert.deepEqual(dialog.detail.split('\n'), [
      'Ends now: its agent (Claude Code) and the session of pull request #16. The turn in progress is lost.',
      'Forgets: session, control (start by octocat, Aug 4), poll (2 comments seen). The item then waits for a start.',
      'Removes the checkout …/github-octo-repo-15: 5 uncommitted files, kept in the trash. 1 unpushed commit stays on its branch.',
      'Stays: repository, ticket, event log, phase choices, transcript, terminal loop-github-octo-repo-15 (readable).',
      'Undo brings back records and files, not the running agent.',
      'Warning: the poller runs (pid 812) and may write back',
    ]);
    assert.equal(dialog.apply, 'End Agent and Reset');
    assert.equal(dialog.harmlessFirst, false);
  });

  it('of one item without an agent has the plain verb and promises all of it back', () => {
    const dialog = resetDialog(planReply([armed40]), now);
    assert.equal(dialog.apply, 'Reset');
    assert.doesNotMatch(dialog.detail, /Ends now|checkout/);
    assert.match(dialog.detail, /Undo brings all of it back\./);
  });

  it('does not promise that the item waits when the loop would spawn it again', () => {
    const dialog = resetDialog(planReply([armed40], { warnings: [{ kind: 'may-respawn', message: 'the loop may start it again' }] }), now);
    assert.doesNotMatch(dialog.detail, /waits for a start/);
  });

  it('says so when the changes in a checkout are unknown, and when nothing of it is kept', () => {
    const unknown = resetDialog(planReply([{ ...live15, checkouts: [checkout({ uncommitted: null, untracked: null, unpushed: null })] }]), now);
    assert.match(unknown.detail, /what is uncommitted in it is unknown, kept in the trash/);
    const gone = resetDialog(planReply([{ ...live15, checkouts: [checkout({ keptAt: null })] }]), now);
    assert.match(gone.detail, /nothing is kept/);
    assert.match(gone.detail, /There is no Undo for what is not kept/);
  });

  it('says so when a live session has no running agent', () => {
    const dialog = resetDialog(planReply([{ ...live15, ends: [], notices: [{ kind: 'unpushed', message: 'told with the checkout' }] }]), now);
    assert.equal(dialog.detail.split('\n')[0], 'Closes its session, of which no running agent was found.');
    assert.equal(dialog.apply, 'Reset');
    assert.doesNotMatch(dialog.detail, /told with/);
  });

  it('of several items puts those with something to lose first and adds up', () => {
    const dialog = resetDialog(planReply([armed40, paused31, live15]), now);
    assert.equal(dialog.message, 'Reset 3 work items?');
    assert.deepEqual(dialog.detail.split('\n'), [
      'octo/repo#15: ends its agent and 1 pull-request session; removes a checkout with 5 uncommitted files.',
      'octo/repo#31: forgets session and control; no agent, no checkout.',
      'octo/repo#40: forgets control; no agent, no checkout.',
      'In all: 2 agents end, 1 checkout goes, 5 files kept in the trash. One Undo covers all of it; it restarts no agent.',
    ]);
    assert.equal(dialog.apply, 'Reset 3 Items');
  });

  it('of many items keeps to twelve lines and says what the rest loses', () => {
    const harmless = Array.from({ length: 40 }, (_, index) => bare(100 + index));
    const lines = resetDialog(planReply([...harmless, live15]), now).detail.split('\n');
    assert.equal(lines.length, lineLimit);
    assert.match(lines[0] ?? '', /#15/);
    assert.equal(lines[10], 'and 31 more, nothing to lose');
    const agents = Array.from({ length: 20 }, (_, index) => ({ ...live15, ref: `github:octo/repo#${String(index)}` }));
    assert.match(resetDialog(planReply(agents), now).detail, /and 10 more, 10 of them with something to lose/);
  });

  it('names first what refuses, with the program\'s reason', () => {
    const refused = itemReply({ ref: 'github:octo/repo#7', errors: [{ kind: 'no-git', message: 'git is not there' }] });
    const dialog = resetDialog(planReply([live15, refused]), now);
    assert.equal(dialog.detail.split('\n')[0], 'octo/repo#7: not reset: git is not there');
    assert.equal(dialog.apply, 'Reset 1 Item');
  });

  it('of all items says where, what belongs elsewhere, what is left out; Enter is harmless', () => {
    const plan = planReply([live15, armed40, paused31], { warnings: [{ kind: 'unreadable-record', message: 'x cannot be read' }] });
    const dialog = resetDialog(plan, now, { all: { stateRoot: '/home/dev/loops/state', elsewhere: 2, choicesOnly: 1 } });
    assert.equal(dialog.message, 'Reset all 3 work items this machine remembers?');
    assert.deepEqual(dialog.detail.split('\n'), [
      'State: /home/dev/loops/state. 2 of them belong to folders that are not open here.',
      '2 live agents end: octo/repo#15. 1 checkout goes; 5 uncommitted files, kept in the trash.',
      'Not reset: 1 unreadable record, 1 item with phase choices only.',
      'Stays: repositories, tickets, event log, standing sessions, runs, retests.',
      'Undo brings back records and files, not the running agent.',
    ]);
    assert.equal(dialog.apply, 'Reset All 3 Items');
    assert.equal(dialog.harmlessFirst, true);
  });

  it('opens again with what changed, still within twelve lines', () => {
    const many = Array.from({ length: 40 }, (_, index) => bare(index));
    const lines = resetDialog(planReply(many), now, { changed: ['octo/repo#15 is live now'] }).detail.split('\n');
    assert.equal(lines[0], 'Changed while you were reading: octo/repo#15 is live now.');
    assert.equal(lines.length, lineLimit);
  });

  it('shows hidden characters of foreign text and cuts what is long', () => {
    const hostile = itemReply({
      ref: 'github:octo/repo#15', removed: ['control'], control: { command: 'start\u202e', actor: `a\nb${'x'.repeat(5000)}`, requestedAt: 'never' },
      errors: [{ kind: 'io', message: 'm'.repeat(5000) }],
    });
    const { detail } = resetDialog(planReply([hostile]), now);
    assert.match(detail, /start\\u202e by a\\nb/);
    assert.ok(detail.length < 1500, String(detail.length));
  });
});

describe('what changed while a person read', () => {
  it('is named, item by item', () => {
    const before = planReply([armed40, { ...live15, live: false, ends: [] }, bare(9)]);
    const after = planReply([{ ...armed40, removed: ['session', 'control'] }, live15, bare(10)], { digest: 'd2', warnings: [{ kind: 'daemon-running', message: 'the poller runs' }] });
    assert.deepEqual(changesBetween(before, after), ['octo/repo#40: now also session', 'octo/repo#15 is live now', 'octo/repo#9 is gone', 'octo/repo#10 has come', 'the poller runs']);
  });

  it('tells new uncommitted work and another ending', () => {
    const after = planReply([{ ...live15, ends: live15.ends?.slice(0, 1), checkouts: [checkout({ uncommitted: 4 })] }], { digest: 'd2' });
    assert.deepEqual(changesBetween(planReply([live15]), after), ['octo/repo#15: now 1 agent ends', 'octo/repo#15: 6 uncommitted files now']);
  });

  it('is never silent when the digest differs', () => {
    assert.deepEqual(changesBetween(planReply([armed40]), planReply([armed40], { digest: 'd2' })), ['what the plan rests on']);
    assert.deepEqual(changesBetween(planReply([armed40]), planReply([armed40])), []);
  });
});

describe('the notification afterwards', () => {
  it('is one sentence with what Undo cannot bring back', () => {
    assert.deepEqual(resetOutcome(planReply([live15])), { sentence: 'Reset octo/repo#15; Undo brings back records and files, not the running agents.', failed: false, undoable: true });
    assert.equal(resetOutcome(planReply([armed40, bare(1)])).sentence, 'Reset 2 work items; Undo brings all of it back.');
  });

  it('counts verified effects and names a failure', () => {
    const failed = itemReply({ ref: 'github:octo/repo#31', removed: [], errors: [{ kind: 'io', message: 'the record could not be deleted' }] });
    assert.deepEqual(resetOutcome(planReply([armed40, failed])), { sentence: 'Reset 1 of 2 work items; not reset: octo/repo#31: the record could not be deleted', failed: true, undoable: true });
    assert.deepEqual(resetOutcome(planReply([failed])), { sentence: 'Not reset: octo/repo#31: the record could not be deleted', failed: true, undoable: false });
    assert.equal(resetOutcome(planReply([itemReply({ ref: 'github:octo/repo#1', found: false })])).undoable, false);
  });

  it('of an undo says what is as before', () => {
    assert.equal(undoOutcome(planReply([armed40])).sentence, 'Undone: octo/repo#40 is remembered as before.');
    const failed = { ...armed40, errors: [{ kind: 'changed', message: 'the record was written since' }] };
    assert.equal(undoOutcome(planReply([failed])).sentence, 'Not undone: octo/repo#40: the record was written since');
  });
});

describe('the undo dialog', () => {
  const summary = { plan: 'p1', verb: 'reset', createdAt: '2026-08-04T12:00:00Z', items: ['github:octo/repo#15'], state: 'undoable' as const, cannot: ['the ended agent'], store: '/state/loopkeeper' };

  it('names the plan, what comes back and what does not', () => {
    const plan = planReply([itemReply({ ref: 'github:octo/repo#15', steps: [{ kind: 'writeFile', path: '/a', reason: 'r', undo: 'restore' }, { kind: 'moveCheckout', path: '/b', reason: 'r', undo: 'restore' }] })]);
    const dialog = undoDialog(plan, summary);
    assert.equal(dialog.message, 'Undo "Reset octo/repo#15"?');
    assert.match(dialog.detail, /octo\/repo#15: brings back 2 files and folders/);
    assert.match(dialog.detail, /Does not bring back: the ended agent\./);
  });

  it('tells each state of a plan in words', () => {
    assert.equal(planState({ state: 'undoable', cannot: [] }), 'can be undone');
    assert.equal(planState({ state: 'purged', cannot: [] }), 'its trash was purged');
    assert.equal(planTitle({ verb: 'reset', items: ['github:octo/repo#1', 'github:octo/repo#2'] }), 'Reset 2 work items');
  });
});
