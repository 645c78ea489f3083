import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resolveCliConfig } from '../../src/core/config/cliConfig';
import { listReply, statusReply, type ListFacts } from '../../src/core/sessions/list';
import { inspectItem, showReply } from '../../src/core/sessions/show';
import { headingOf, titleOf } from '../../src/core/sessions/title';
import { channelBindings } from '../../src/core/workItems/channels';
import { parseRef } from '../../src/core/workItems/ref';
import { snapshotAll, snapshotItem } from '../../src/core/workItems/snapshot';
import { ListReply, ShowReply, StatusReply } from '../../src/protocol/sessions';
import { memoryReader } from '../support/memoryReader';

const base = resolveCliConfig(undefined, null, { cwd: '/w', home: '' });
const config = { ...base, workspace: { ...base.workspace, root: '/ws' } };
const local = (n: number | string) => `/w/.the-loop/local/github-octo-repo-${String(n)}.json`;
const portable = (n: number | string) => `/w/.the-loop/portable/github-octo-repo-${String(n)}.json`;
const refOf = (n: number) => `github:octo/repo#${String(n)}`;
const session = (n: number, more: object = {}) => JSON.stringify({ workItem: { ref: refOf(n) }, harness: 'claude', harnessSessionId: `s-${String(n)}`, cwd: '/nowhere', status: 'active', createdAt: '2026-08-01T00:00:00Z', lastEventAt: null, tmuxTarget: `loop-github-octo-repo-${String(n)}`, ...more });
const record = (n: number, more: object) => JSON.stringify({ ref: refOf(n), ...more });
const control = (n: number, command: string, requestedAt = '2026-08-02T00:00:00Z') => ({ control: { ref: refOf(n), command, source: 'comment', actor: 'octocat', requestedAt, note: '' } });

const files = {
  [local(1)]: session(1, { lastEventAt: '2026-08-03T00:00:00Z' }),
  [portable(1)]: record(1, { ...control(1, 'start'), poll: { seenComments: ['a', 'b'], lastPolledAt: '2027-01-01T00:00:00Z' }, graph: { loop: 'pdlc', workItem: 'issue-1', nodes: [{}, {}] } }),
  [local(2)]: session(2, { lastEventAt: '2026-08-05T00:00:00Z' }),
  [local(3)]: session(3, { status: 'paused' }),
  [portable(4)]: record(4, control(4, 'start')),
  [local(5)]: session(5, { status: 'closed' }),
  [portable(5)]: record(5, control(5, 'stop', '2026-08-09T00:00:00Z')),
  [portable(6)]: record(6, { poll: { seenComments: [] } }),
  [portable(7)]: record(7, { sealed: true }),
  [portable(8)]: record(8, { control: null }),
  [local(9)]: '{ not json',
  [portable(9)]: '{ not json',
  [local(10)]: JSON.stringify({ workItem: { ref: refOf(10) } }),
  '/w/.the-loop/local/github-a-b-c-1.json': session(1, { workItem: { ref: 'github:a/b-c#1' } }),
  '/w/.the-loop/portable/github-a-b-c-1.json': JSON.stringify({ ref: 'github:a-b/c#1', ...control(1, 'start') }),
  [local(11)]: session(11, { status: 'paused' }),
  [portable(11)]: record(11, { poll: { spawn: { attempts: 3, gaveUp: true } } }),
  [local(12)]: session(12, { workItem: { ref: refOf(99) } }),
  '/w/.the-loop/channels/slack.json': JSON.stringify({ threads: { a: { workItem: refOf(1) }, b: { workItem: 'github:github.com/octo/repo#1' }, c: { workItem: refOf(2) }, d: {} } }),
  '/w/.the-loop/channels/broken.json': '{',
  '/ws/.worktrees/github.com/octo/repo/github-octo-repo-1/README.md': 'x',
  '/ws/.worktrees/github.com/octo/repo/github-octo-repo-16': 'link!',
} as const;

const list = (facts: Partial<ListFacts> = {}) => {
  const reader = memoryReader(files);
  return listReply(reader, { config, snapshot: snapshotAll(reader, config), questions: new Map(), unfinished: new Map(), warnings: [], ...facts });
};

describe('sessions list', () => {
  it('shows every item once, with its state, in order of need', () => {
    const reply = list({ questions: new Map([[refOf(3), { since: '2026-08-06T00:00:00Z', question: 'Which\n one?' }], [refOf(5), { since: '', question: 'closed ones do not ask' }]]), unfinished: new Map([[refOf(6), '2026-08-07T00:00:00Z']]) });
    assert.deepEqual(ListReply.parse(reply), reply);
    assert.deepEqual(reply.items.map(({ ref, state, attention }) => [ref, state, attention.map(({ kind }) => kind).join()]), [
      [refOf(3), 'paused', 'asks-you'],
      [refOf(11), 'paused', 'failed'],
      ['github-octo-repo-9.json', 'unreadable', 'unreadable'],
      [refOf(10), 'unreadable', 'unreadable'],
      ['github:a-b/c#1', 'collided', 'unreadable'],
      ['github:a/b-c#1', 'collided', 'unreadable'],
      [refOf(6), 'remembered', 'unfinished-plan'],
      [refOf(4), 'armed', 'armed-without-session'],
      [refOf(2), 'live', ''],
      [refOf(1), 'live', ''],
      [refOf(5), 'closed', ''],
    ]);
  });

  it('tells what it knows of an item', () => {
    const item = list().items.find(({ ref }) => ref === refOf(1));
    assert.deepEqual(item, {
      ref: refOf(1), url: 'https://github.com/octo/repo/issues/1', state: 'live', armed: true, sealed: false, lastActivity: '2026-08-03T00:00:00Z', attention: [], paths: [local(1), portable(1)],
      session: { harness: 'claude', sessionId: 's-1', status: 'active', cwd: '/nowhere', terminal: 'loop-github-octo-repo-1', createdAt: '2026-08-01T00:00:00Z', lastEventAt: '2026-08-03T00:00:00Z', pullRequests: [], path: local(1) },
      control: { command: 'start', source: 'comment', actor: 'octocat', requestedAt: '2026-08-02T00:00:00Z', note: '', path: portable(1) },
      poll: { seenComments: 2, lastPolledAt: '2027-01-01T00:00:00Z', path: portable(1) }, graph: { loop: 'pdlc', workItem: 'issue-1', nodes: 2, path: portable(1) },
      checkout: '/ws/.worktrees/github.com/octo/repo/github-octo-repo-1',
    });
  });

  it('says in a sentence what needs a person, and what to run', () => {
    const attention = (ref: string, facts?: Partial<ListFacts>) => list(facts).items.find((item) => item.ref === ref)?.attention[0];
    assert.deepEqual(attention(refOf(3), { questions: new Map([[refOf(3), { since: '', question: `Which\n\tone? ${'x'.repeat(400)}` }]]) }),
      { kind: 'asks-you', since: null, sentence: `Its agent asks: Which one? ${'x'.repeat(148)}…`, command: 'tmux attach -t loop-github-octo-repo-3' });
    assert.deepEqual(attention(refOf(4)), { kind: 'armed-without-session', since: '2026-08-02T00:00:00Z', sentence: 'start by octocat is recorded, but no session works on it.', command: "loopkeeper sessions show --work-item 'github:octo/repo#4'" });
    assert.match(attention('github:a/b-c#1')?.sentence ?? '', /portable\/github-a-b-c-1\.json is the portable record of github:a-b\/c#1/);
    assert.match(attention('github-octo-repo-9.json')?.sentence ?? '', /local\/.*it is no JSON\. .*portable\/.*it is no JSON\./);
  });

  it('warns of what is no item', () => {
    assert.deepEqual(list({ warnings: [{ kind: 'clock-overridden', message: 'x' }] }).warnings.map(({ kind }) => kind), ['clock-overridden', 'misplaced-record']);
  });

  it('opens each file once and lists each folder once, however many items there are', () => {
    const many: Record<string, string> = { '/ws/.worktrees/github.com/octo/repo/github-octo-repo-1/x': '' };
    for (let n = 1; n <= 300; n++) many[local(n)] = session(n, { status: n % 2 ? 'closed' : 'active' });
    const reader = memoryReader(many);
    let kinds = 0;
    let lists = 0;
    const counting = { ...reader, kind: (file: string) => { kinds++; return reader.kind(file); }, list: (directory: string) => { lists++; return reader.list(directory); } };
    const reply = listReply(counting, { config, snapshot: snapshotAll(counting, config), questions: new Map(), unfinished: new Map(), warnings: [] });
    assert.equal(reply.items.filter(({ checkout }) => checkout !== undefined).length, 1);
    assert.ok(kinds < 20 && lists < 20, `${String(kinds)} ${String(lists)}`);
    assert.deepEqual([...reader.reads].filter(([, count]) => count > 1), []);
  });

  it('is empty where nothing is', () => {
    const reader = memoryReader({});
    const reply = listReply(reader, { config, snapshot: snapshotAll(reader, config), questions: new Map(), unfinished: new Map(), warnings: [] });
    assert.deepEqual([reply.items, reply.warnings], [[], []]);
  });
});

describe('status', () => {
  it('counts the rows and names what needs a person, the most urgent first', () => {
    const reply = statusReply(list({ questions: new Map([[refOf(3), { since: '', question: '' }]]) }), true, [{ name: 'poller', pid: 5, pidfile: 'x' }]);
    assert.deepEqual(StatusReply.parse(reply), reply);
    assert.deepEqual(reply.counts, { live: 2, paused: 2, armed: 1, closed: 1, remembered: 1, unreadable: 2, collided: 2 });
    assert.deepEqual(reply.attention.map(({ ref, attention }) => [ref, attention.kind]), [[refOf(3), 'asks-you'], [refOf(11), 'failed'], ['github-octo-repo-9.json', 'unreadable'], [refOf(10), 'unreadable'],
      ['github:a-b/c#1', 'unreadable'], ['github:a/b-c#1', 'unreadable'], [refOf(4), 'armed-without-session']]);
    assert.deepEqual(reply.daemons, [{ name: 'poller', pid: 5 }]);
  });
});

describe('sessions show', () => {
  const reader = memoryReader(files);
  const item = snapshotItem(reader, config, parseRef(refOf(1)));

  it('adds what git, tmux and the channels know', async () => {
    const channels = channelBindings(reader, config);
    assert.deepEqual([...channels], [[refOf(1), [{ path: '/w/.the-loop/channels/slack.json', threads: 2 }]], [refOf(2), [{ path: '/w/.the-loop/channels/slack.json', threads: 1 }]]]);
    const reply = showReply(reader, { config, item, checkouts: [], terminals: [{ ref: refOf(1), terminal: 'loop-github-octo-repo-1', state: 'dead', command: null, open: null }], channels: channels.get(refOf(1)) ?? [], warnings: [] });
    assert.deepEqual(ShowReply.parse(reply), reply);
    assert.deepEqual(reply.item.attention.map(({ kind }) => kind), ['terminal-died']);
    assert.deepEqual(reply.channels, [{ path: '/w/.the-loop/channels/slack.json', threads: 2 }]);
    const none = showReply(reader, { config, item: snapshotItem(reader, config, parseRef(refOf(77))), checkouts: [], terminals: [], channels: [], warnings: [] });
    assert.deepEqual([none.item.state, none.item.paths, none.item.lastActivity], ['remembered', [], null]);
  });

  it('looks into the checkouts of the item and its pull requests', async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-show-'));
    try {
      const place = { ...config, workspace: { ...config.workspace, root } };
      const under = path.join(root, '.worktrees/github.com/octo/repo');
      fs.mkdirSync(path.join(under, 'github-octo-repo-1/src'), { recursive: true });
      fs.writeFileSync(path.join(under, 'github-octo-repo-1/src/wip.txt'), '');
      fs.symlinkSync('/', path.join(under, 'github-octo-repo-16'));
      const withPull = memoryReader({ [local(1)]: session(1, { pullRequests: [JSON.parse(session(16)), JSON.parse(session(17))] }) });
      const { diskReader } = await import('../../src/core/disk/reader');
      const found = await inspectItem(diskReader, place, snapshotItem(withPull, place, parseRef(refOf(1))), { git: null, env: {} });
      assert.deepEqual(found.checkouts, [{ path: path.join(under, 'github-octo-repo-1'), branch: null, uncommitted: 0, untracked: 1, ignored: 0, nestedRepositories: 0, unpushed: 0 }]);
      assert.deepEqual(found.warnings.map(({ kind }) => kind), ['unsafe-path']);
    } finally {
      fs.rmSync(root, { recursive: true });
    }
  });
});

describe('titles', () => {
  it('are the first heading, without the kind of file', () => {
    assert.equal(headingOf('---\ntype: requirements\n# a comment\n---\n\n# Requirements: stream the service\n\n## Next'), 'stream the service');
    assert.equal(headingOf('\ufeff---\r\na: 1\r\n---\r\n# Bugfix — torn log ##\r\n'), 'torn log');
    assert.equal(headingOf('text\n## no\n# Prune loop state #\n# second'), 'Prune loop state');
    assert.equal(headingOf('# Requirements\n'), undefined);
    assert.equal(headingOf('# Requirements Document\n'), undefined);
    assert.equal(headingOf('# Requirementsless\n'), 'Requirementsless');
    assert.equal(headingOf('no heading'), undefined);
    assert.equal(headingOf('---\nfront: matter\n# that never ends'), undefined);
    assert.equal(headingOf(`# ${'é'.repeat(500)}`)?.length, 120);
  });

  it('are read from the checkout and from nowhere else', () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-title-'));
    try {
      const put = (file: string, text: string) => { fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true }); fs.writeFileSync(path.join(dir, file), text); };
      put('cwd/docs/specs/issue-1/bugfix.md', '# Bugfix: one');
      assert.equal(titleOf(path.join(dir, 'cwd'), 'issue-1'), 'one');
      put('cwd/docs/specs/issue-1/requirements.md', `# Requirements: two\n${'x'.repeat(100_000)}`);
      assert.equal(titleOf(path.join(dir, 'cwd'), 'issue-1'), 'two');
      put('outside/requirements.md', '# secret');
      fs.symlinkSync(path.join(dir, 'outside'), path.join(dir, 'cwd/docs/specs/issue-2'));
      fs.mkdirSync(path.join(dir, 'cwd/docs/specs/issue-3/requirements.md'), { recursive: true });
      for (const folder of ['issue-2', 'issue-3', 'issue-4', '../../outside', '..', '']) assert.equal(titleOf(path.join(dir, 'cwd'), folder), undefined, folder);
      assert.equal(titleOf('', 'issue-1'), undefined);
      assert.equal(titleOf('relative', 'issue-1'), undefined);
    } finally {
      fs.rmSync(dir, { recursive: true });
    }
  });
});
