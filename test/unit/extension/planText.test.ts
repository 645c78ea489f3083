import assert from 'node:assert/strict';
import { planText } from '../../../src/extension/planPreview/planText';
import { checkout, itemReply, planReply } from '../../support/replies';

describe('a dry run as a document', () => {
  const item = itemReply({
    ref: 'github:octo/repo#15', live: true, removed: ['workspace', 'session'], kept: [{ what: 'graph', why: 'asked for only with --include graph' }],
    ends: [{ ref: 'github:octo/repo#15', harness: 'claude', terminal: 'loop-15', open: 'tmux attach -t loop-15' }], checkouts: [checkout({ ignored: 1 })],
    steps: [
      { kind: 'writeFile', path: '/state/portable/15.json', reason: 'disarmed first', undo: 'restore' },
      { kind: 'endSession', path: 'loop-15', reason: 'its agent ends', undo: 'none' },
      { kind: 'rebuildIndex', path: '/state/portable/index.json', reason: 'it follows', undo: 'inverse' },
    ],
  });
  const words = { heading: 'Dry run: reset octo/repo#15', note: 'Nothing has been changed.', command: 'loopkeeper sessions reset' };

  it('names everything that would be done, and what stays', () => {
    assert.equal(planText(planReply([item], { warnings: [{ kind: 'daemon-running', message: 'the poller runs' }] }), words), [
      'Dry run: reset octo/repo#15', 'Nothing has been changed.', '', 'State: /state', '', 'Warning: the poller runs', '',
      'octo/repo#15  (live)',
      '  Ends', '    octo/repo#15: Claude Code, loop-15', '      stays readable: tmux attach -t loop-15',
      '  Checkouts that go', '    /ws/.worktrees/github.com/octo/repo/github-octo-repo-15',
      '      3 modified or staged files, 2 untracked files, 1 ignored file, 1 unpushed commit, stays on its branch, branch issue-15', '      kept at /state/loopkeeper/trash/p1/1',
      '  Steps', '    1. rewrite portable/15.json: disarmed first (can be undone)', '    2. end loop-15: its agent ends (cannot be undone)',
      '    3. make anew portable/index.json: it follows (is made anew by an undo)',
      '  Stays', '    phase choices: asked for only with --include graph', '',
      'The same in a terminal, only if the plan is still this one (digest d1):', '  loopkeeper sessions reset', '',
    ].join('\n'));
  });

  it('shows hidden characters, and keeps every line a line', () => {
    const text = planText(planReply([{ ...item, errors: [{ kind: 'io', message: 'a\nb\u202e' }] }]), words);
    assert.match(text, /^ {4}a\\nb\\u202e$/m);
  });

  it('says that git could not be asked', () => {
    assert.match(planText(planReply([{ ...item, checkouts: [checkout({ uncommitted: null, untracked: null })] }]), words), /what is uncommitted in it is unknown/);
  });
});
