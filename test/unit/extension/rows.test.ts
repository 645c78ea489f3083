import assert from 'node:assert/strict';
import { byNeed } from '../../../src/extension/views/attention';
import { sessionRows } from '../../../src/extension/views/sessionRows';
import { topRows } from '../../../src/extension/views/topRows';
import { pieceRows, workItemRow, workItemRows } from '../../../src/extension/views/workItemRows';
import type { Attention } from '../../../src/protocol/plan';
import type { ItemView, ShowReply } from '../../../src/protocol/sessions';
import { checkout, itemView, listReply, session } from '../../support/replies';

const place = { cwd: '/loops', stateRoot: '/state' };
const around = { now: new Date('2026-11-30T12:00:00Z'), home: '/home/dev' };
const needs = (kind: Attention['kind'], sentence = 'why'): Attention => ({ kind, since: null, sentence, command: '' });
const ref = (number: number): string => `github:octo/repo#${String(number)}`;
const rowOf = (item: ItemView, details?: ShowReply) => workItemRow(item, place, false, around, details);

describe('the order of rows', () => {
  it('is what needs a person by urgency, then the state, then the last activity', () => {
    const items = [
      itemView({ ref: ref(1), state: 'closed', lastActivity: '2026-01-01T00:00:00Z' }),
      itemView({ ref: ref(2), state: 'closed', lastActivity: '2026-02-01T00:00:00Z' }),
      itemView({ ref: ref(3), state: 'armed', attention: [needs('armed-without-session')] }),
      itemView({ ref: ref(4), state: 'live' }),
      itemView({ ref: ref(5), state: 'live', attention: [needs('terminal-died'), needs('asks-you')] }),
      itemView({ ref: ref(6), state: 'live', attention: [needs('failed')] }),
      itemView({ ref: ref(7), state: 'paused' }),
      itemView({ ref: ref(8), state: 'unreadable', attention: [needs('unreadable')] }),
      itemView({ ref: ref(9), state: 'live', attention: [needs('no-checkpoint')] }),
      itemView({ ref: ref(10), state: 'live', attention: [needs('breaker-open')] }),
    ];
    assert.deepEqual([...items].sort(byNeed).map((item) => Number(item.ref.split('#')[1])), [5, 6, 8, 9, 3, 10, 4, 7, 2, 1]);
  });
});

describe('a work item\'s row', () => {
  it('has number and title, with the repository when there are several', () => {
    const one = [itemView({ ref: ref(15), title: 'Prune loop state' }), itemView({ ref: ref(16) })];
    assert.deepEqual(workItemRows(listReply(one), place, around, () => undefined).map(({ label }) => label), ['#15 Prune loop state', '#16']);
    const several = [...one, itemView({ ref: 'github:ghe.corp.example/octo/repo.js#7' })];
    assert.deepEqual(workItemRows(listReply(several), place, around, () => undefined).map(({ label }) => label), ['ghe.corp.example/octo/repo.js#7', 'octo/repo#15 Prune loop state', 'octo/repo#16']);
  });

  it('says its state, what needs a person, and after a look what is uncommitted', () => {
    const live = itemView({ ref: ref(15), state: 'live', session: session() });
    assert.equal(rowOf(live).description, 'live');
    const details: ShowReply = { verb: 'show', stateRoot: '/state', item: live, checkouts: [checkout()], terminals: [], channels: [], warnings: [] };
    const row = rowOf(live, details);
    assert.equal(row.description, 'live · 5 uncommitted · 1 unpushed');
    assert.ok(row.words.includes('dirty'));
    assert.ok(!rowOf(live).words.includes('dirty'));
    assert.equal(rowOf({ ...live, attention: [needs('terminal-died')] }).description, 'live · terminal died');
    assert.equal(rowOf(itemView({ ref: ref(40), state: 'armed', attention: [needs('armed-without-session')] })).description, 'armed, no session');
    assert.equal(rowOf(live, { ...details, checkouts: [checkout(), checkout({ untracked: 0, unpushed: 2 })] }).description, 'live · 8 uncommitted · 3 unpushed');
    assert.equal(rowOf(live, { ...details, checkouts: [checkout({ uncommitted: null, untracked: null }), checkout()] }).description, 'live · changes unknown');
    assert.equal(rowOf(live, { ...details, item: { ...live, attention: [needs('terminal-died')] }, checkouts: [] }).description, 'live · terminal died');
  });

  it('has the words that its menus are chosen by', () => {
    const row = rowOf(itemView({ ref: ref(15), state: 'live', armed: true, url: 'https://x/15', session: session(), attention: [needs('asks-you')] }));
    assert.deepEqual([...row.words].sort(), ['armed', 'attention', 'checkout', 'item', 'live', 'record', 'ticket', 'tmux']);
    const closed = rowOf(itemView({ ref: ref(15), state: 'closed', session: session({ status: 'closed', cwd: '' }) }));
    assert.deepEqual([...closed.words].sort(), ['closed', 'item', 'record']);
  });

  it('has the icon of its state, unless a person is needed', () => {
    const icon = (given: Partial<ItemView>) => rowOf(itemView({ ref: ref(1), ...given })).icon;
    assert.deepEqual(['live', 'paused', 'armed', 'closed', 'unreadable'].map((state) => icon({ state: state as ItemView['state'] })), ['circle-filled', 'debug-pause', 'zap', 'circle-outline', 'error']);
    assert.equal(icon({ state: 'live', attention: [needs('asks-you')] }), 'question');
    assert.equal(icon({ state: 'live', attention: [needs('terminal-died')] }), 'debug-disconnect');
    assert.equal(icon({ state: 'armed', attention: [needs('armed-without-session')] }), 'zap');
  });

  it('is spoken as a sentence with its state', () => {
    const row = rowOf(itemView({ ref: ref(15), title: 'Prune loop state', state: 'live', attention: [needs('terminal-died', 'Its terminal has ended.')] }));
    assert.equal(row.spoken, 'octo/repo#15 Prune loop state, live · terminal died. Needs you: Its terminal has ended.');
  });

  it('shows foreign text as text and cuts it', () => {
    const row = rowOf(itemView({ ref: ref(15), title: `**bold** [x](command:y) \u202eabc $(zap) ${'t'.repeat(5000)}` }));
    assert.ok(row.label.startsWith('#15 **bold** [x](command:y) \\u202eabc $(zap) ttt'));
    assert.ok(row.label.endsWith('…') && row.label.length < 140, row.label);
    assert.ok(row.spoken.length < 300);
  });
});

describe('the pieces of a work item', () => {
  const item = itemView({
    ref: ref(15), state: 'live', checkout: '/home/dev/ws/15',
    session: session({ pullRequests: [{ ref: ref(16), harness: 'claude', sessionId: 's', status: 'active', cwd: '/ws/16', terminal: 'loop-16', url: 'https://x/16' }] }),
    control: { command: 'start', source: 'comment', actor: 'octocat', requestedAt: '2026-08-04T12:00:00Z', note: '', path: '/state/portable/15.json' },
    poll: { seenComments: 1, lastPolledAt: '2026-08-04T12:00:00Z', path: '/state/portable/15.json' },
    graph: { loop: 'pdlc-work-item-loop', workItem: 'issue-15', nodes: 3, path: '/state/portable/15.json' },
  });

  it('are rows with who and when, counts, paths', () => {
    assert.deepEqual(pieceRows(item, place, around, undefined).map(({ label, description }) => `${label}: ${description ?? ''}`), [
      'Session: Claude Code · live · since Aug 4',
      'Control: start by octocat, Aug 4',
      'Poll: 1 comment seen · Aug 4',
      'Phase choices: 3 phases · pdlc-work-item-loop',
      'Checkout: ~/ws/15',
      'Pull request #16: Claude Code · live',
    ]);
  });

  it('have ids of their own below the item\'s', () => {
    const ids = pieceRows(item, place, around, undefined).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => id.startsWith(`${ref(15)}/`)));
  });
});

describe('the rows of sessions', () => {
  it('are those of items and their pull requests', () => {
    const items = [
      itemView({ ref: ref(40), state: 'armed' }),
      itemView({ ref: ref(99), state: 'armed', attention: [needs('armed-without-session')], session: session({ status: 'closed' }) }),
      itemView({ ref: ref(31), state: 'paused', title: 'Retry', session: session({ status: 'paused', terminal: '' }) }),
      itemView({ ref: ref(15), state: 'live', session: session({ pullRequests: [{ ref: ref(16), harness: 'pi', sessionId: 's', status: 'active', cwd: '', terminal: 'loop-16' }] }) }),
    ];
    const rows = sessionRows(listReply(items), place, around);
    assert.deepEqual(rows.map(({ label, description }) => `${label}: ${description ?? ''}`), ['#15: Claude Code · live', 'Pull request #16 of #15: pi · live', '#31 Retry: Claude Code · paused', '#99: Claude Code · closed']);
    assert.deepEqual([...rows[1]?.words ?? []].sort(), ['live', 'record', 'session', 'tmux']);
    assert.ok(!rows[2]?.words.includes('tmux'));
  });
});

describe('rows of several loops', () => {
  const root = (stateRoot: string) => ({ cwd: '/x', stateRoot }) as Parameters<typeof topRows>[0][number]['root'];

  it('are grouped, with ids that stay apart', () => {
    const loaded = [{ root: root('/home/dev/a'), value: listReply([itemView({ ref: ref(1) })]) }, { root: root('/b'), value: listReply([itemView({ ref: ref(1) })]) }];
    const rows = topRows(loaded, around, (reply, where) => workItemRows(reply, where, around, () => undefined));
    assert.deepEqual(rows.map(({ label }) => label), ['~/a', '/b']);
    const ids = rows.flatMap(({ children }) => typeof children === 'object' ? children.map(({ id }) => id) : []);
    assert.equal(new Set(ids).size, 2);
  });

  it('say in a row why one has nothing', () => {
    const error = { kind: 'config-unreadable', message: 'The config cannot be read.', hint: 'Mend line 3.', stale: false } as Extract<Parameters<typeof topRows>[0][number], { error: unknown }>['error'];
    const [row] = topRows([{ root: root('/a'), error }], around, () => []);
    assert.equal(row?.label, 'The config cannot be read.');
    assert.deepEqual(row?.tooltip?.facts, [{ name: 'What to do', value: 'Mend line 3.' }]);
  });
});
