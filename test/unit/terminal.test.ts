import assert from 'node:assert/strict';
import { Failure } from '../../src/core/disk/failure';
import type { ProcessRow, ProcessTable } from '../../src/core/disk/processTable';
import { Following } from '../../src/core/harness/following';
import { isTerminalOf, paneInherited, ProcessFacts, processesOf } from '../../src/core/harness/ownership';
import type { ProcessDetails } from '../../src/core/harness/ownership';
import { attachCommand, isSafeTerminal, sharedTerminals, terminalOpenCommand } from '../../src/core/harness/terminal';
import { inspectionOf, parsePanes } from '../../src/core/harness/tmux';
import type { Listing, Pane } from '../../src/core/harness/tmux';

const ID = '0f1c5e7a-0000-4000-8000-000000000015';
const OTHER = '0f1c5e7a-0000-4000-8000-000000000099';
const pane = (more: Partial<Pane> = {}): Pane => ({
  terminal: 'loop-x', sessionId: '$1', windowId: '@1', paneId: '%1', pid: 100, dead: false, serverPid: 50, remainOnExit: 'off',
  startDirectory: '/gone/x', sessionDirectory: '/gone/x', directory: '/gone/x', command: 'claude', startCommand: '', ...more,
});
const row = (pid: number, parent: number, more: Partial<ProcessRow> = {}): ProcessRow => ({ pid, parent, group: pid, session: pid, startTime: `t${String(pid)}`, stopped: false, name: 'claude', ...more });
const tableOf = (...rows: ProcessRow[]): ProcessTable => new Map(rows.map((each) => [each.pid, each]));
const server = row(50, 1, { name: 'tmux: server' });
const tmux = { command: '/opt/bin/tmux' };

describe('a terminal', () => {
  it('has a safe name or is never given to tmux', () => {
    for (const name of ['loop-x', 'loop-github-octo-repo-15', 'loop-_']) assert.ok(isSafeTerminal(name), name);
    for (const name of ['', 'loop-', 'x', 'loop-a.b', 'loop-a:b', 'loop-a b', 'loop-a\n', 'loop-a;b', '-loop-x', '=loop-x', 'loop-é']) {
      assert.ok(!isSafeTerminal(name), name);
      for (const command of [() => attachCommand(name, tmux, true), () => terminalOpenCommand(name, tmux)]) {
        assert.throws(command, (error: unknown) => error instanceof Failure && error.kind === 'unsafe-name');
      }
    }
  });

  it('is opened by a line to paste, or by arguments', () => {
    assert.equal(terminalOpenCommand('loop-x', { command: 'tmux' }), 'tmux attach -r -t loop-x');
    assert.equal(terminalOpenCommand('loop-x', { command: "/my tools/it's/tmux", socket: 'a b' }), `'/my tools/it'\\''s/tmux' -L 'a b' attach -r -t loop-x`);
    assert.deepEqual(attachCommand('loop-x', { command: 'tmux', socket: 's' }, true), { command: 'tmux', args: ['-L', 's', 'attach', '-r', '-t', '=loop-x'] });
    assert.deepEqual(attachCommand('loop-x', { command: 'tmux' }, false), { command: 'tmux', args: ['attach', '-t', '=loop-x'] });
  });

  it('is shared when two records name it, whatever the spelling; not when one record names it twice', () => {
    const users = [['loop-a', '1'], ['loop-a', '1'], ['loop-b.c', '2'], ['loop-b_c', '3'], ['', '4'], ['', '5'], ['loop-d', '6']].map(([terminal = '', record = '']) => ({ terminal, record }));
    assert.deepEqual(sharedTerminals(users), new Map([['loop-b_c', ['2', '3']]]));
  });
});

describe('what tmux says', () => {
  it('is taken apart at plain spaces only', () => {
    const line = 'P loop-x $1 @2 %3 100 0 50 on /a\\ b\\\\ /s /a\\ b vim claude\\ --resume\\ \\\"x\\\"';
    assert.deepEqual(parsePanes(`${line}\n`), {
      panes: [pane({ windowId: '@2', paneId: '%3', remainOnExit: 'on', startDirectory: '/a b\\', sessionDirectory: '/s', directory: '/a b', command: 'vim', startCommand: 'claude --resume "x"' })],
      unreadable: new Set(),
    });
  });

  it('knows dead panes, empty values and names of others', () => {
    const { panes } = parsePanes('P my\\ own\\ $1 $0 @0 %0 7 1 50 off /a /a   \nP loop-x $1 @1 %1 8 0 50 off /a /a /a sh \n');
    assert.deepEqual(panes.map(({ terminal, pid, dead, directory, command }) => [terminal, pid, dead, directory, command]), [['my own $1', 7, true, '', ''], ['loop-x', 8, false, '/a', 'sh']]);
  });

  it('of another form makes that terminal unreadable, and no other', () => {
    const { panes, unreadable } = parsePanes('P loop-x $1 @1 %1 8 0 50 off /a\nb /a /a sh \nP loop-y $2 @2 %2 9 0 50 off /a /a /a sh \nP loop-z $2 @2 %2 x 0 50 off /a /a /a sh \n');
    assert.deepEqual(panes.map(({ terminal }) => terminal), ['loop-y']);
    assert.deepEqual([...unreadable], ['loop-x', 'loop-z']);
  });
});

describe('the state of a terminal', () => {
  const stateOf = (listing: Partial<Listing>, table: ProcessTable, cwd?: string) =>
    inspectionOf([{ terminal: 'loop-x', cwd }], tmux, { server: 'running', panes: [], unreadable: new Set(), ...listing }, table, (directory) => directory === '/here').terminals.get('loop-x')?.state;

  it('is live or dead by its panes and processes', () => {
    assert.equal(stateOf({ panes: [pane()] }, tableOf(server, row(100, 50))), 'live');
    assert.equal(stateOf({ panes: [pane({ dead: true })] }, tableOf(server)), 'dead');
    assert.equal(stateOf({ panes: [pane()] }, tableOf(server)), 'dead', 'it ended since tmux answered');
    assert.equal(stateOf({ panes: [pane({ dead: true }), pane({ pid: 101 })] }, tableOf(server, row(101, 50))), 'live');
  });

  it('is unknown when its pids are those of another container', () => {
    assert.equal(stateOf({ panes: [pane()] }, tableOf(row(100, 50))), 'unknown', 'no such server here');
    assert.equal(stateOf({ panes: [pane()] }, tableOf(row(50, 1, { name: 'postgres' }), row(100, 50))), 'unknown', 'the server is something else here');
    assert.equal(stateOf({ panes: [pane()] }, tableOf(server, row(100, 1))), 'unknown', 'the pane is something else here');
    assert.equal(stateOf({ panes: [pane({ dead: true })] }, tableOf()), 'unknown');
    assert.equal(stateOf({ panes: [pane()] }, tableOf(row(50, 1, { name: '' }), row(100, 50))), 'live', 'where the system tells no names');
  });

  it('is absent only where its directory is here', () => {
    for (const state of ['running', 'stopped', 'none'] as const) {
      assert.equal(stateOf({ server: state }, tableOf(), '/here'), 'absent', state);
      assert.equal(stateOf({ server: state }, tableOf()), 'absent', state);
      assert.equal(stateOf({ server: state }, tableOf(), '/there'), 'unknown', state);
    }
    for (const state of ['missing', 'unreachable'] as const) assert.equal(stateOf({ server: state }, tableOf(), '/here'), 'unknown', state);
    assert.equal(stateOf({ unreadable: new Set(['loop-x']) }, tableOf(), '/here'), 'unknown');
  });
});

describe('a terminal and a record', () => {
  const details = (argv: Record<number, string[]>, more: Partial<ProcessDetails> = {}): ProcessDetails => ({ arguments: (pid) => argv[pid] ?? [], environment: () => undefined, directory: () => undefined, ...more });
  const session = { ref: 'r', terminal: 'loop-x', cwd: '/gone/x', harness: 'claude', harnessSessionId: ID };
  const table = tableOf(server, row(100, 50), row(101, 100));
  const isOurs = (panes: Pane[], argv: Record<number, string[]>, conversations?: ReadonlyMap<number, string>, more?: Partial<ProcessDetails>, changed: Partial<typeof session> = {}) =>
    isTerminalOf({ ...session, ...changed }, { name: 'loop-x', state: 'live', panes }, new ProcessFacts(table, details(argv, more)), conversations).ours;
  const away = pane({ startDirectory: '/other', sessionDirectory: '/other', directory: '/other' });

  it('belong together by the conversation, wherever it says so', () => {
    for (const argv of [['claude', '--session-id', ID], ['claude', `--resume=${ID}`], ['pi', '--session', `/s/2026_${ID}.jsonl`]]) assert.ok(isOurs([away], { 101: argv }), argv.join(' '));
    assert.ok(isOurs([{ ...away, startCommand: `"claude --session-id '${ID}' go"`, dead: true }], {}));
    assert.ok(isOurs([away], { 101: ['claude', '--session-id', OTHER] }, new Map([[101, ID]])), 'after a clear the process itself knows best');
    assert.ok(!isOurs([away], { 101: ['claude', '--session-id', 'x15'] }, undefined, undefined, { harnessSessionId: 'x1' }), 'a short id is a whole word');
  });

  it('do not when another conversation runs there, even in the recorded directory', () => {
    assert.ok(!isOurs([pane()], { 101: ['claude', '--resume', OTHER] }));
    assert.ok(!isOurs([pane()], {}, new Map([[101, OTHER]])));
    assert.ok(isOurs([pane()], { 101: ['claude', '--resume', 'that thing'] }), 'no id');
    assert.ok(isOurs([pane()], { 101: ['claude', '--resume', OTHER] }, undefined, undefined, { harnessSessionId: '' }), 'the record knows no conversation');
  });

  it('belong together by the directory, or by the harness in it', () => {
    assert.ok(isOurs([pane()], {}));
    assert.ok(isOurs([pane({ startDirectory: '' })], {}));
    assert.ok(isOurs([pane({ startDirectory: '/gone/x/' })], {}));
    assert.ok(!isOurs([away], {}));
    assert.ok(!isOurs([pane({ startDirectory: '/gone/xy', sessionDirectory: '/gone' })], {}));
    assert.ok(isOurs([away], { 101: ['node', '/usr/bin/claude'] }, undefined, { directory: () => '/gone/x' }));
    assert.ok(!isOurs([away], { 101: ['node', '/usr/bin/claude'] }, undefined, { directory: () => '/other' }));
    assert.ok(!isOurs([away], { 101: ['vim', 'notes', 'claude'] }, undefined, { directory: () => '/gone/x' }));
    assert.ok(!isOurs([pane({ startDirectory: '', sessionDirectory: '' })], {}, undefined, undefined, { cwd: '' }));
  });

  it('environments tell the pane', () => {
    assert.equal(paneInherited(['A=1', 'TMUX=/tmp/a,b/default,50,3', 'TMUX_PANE=%1']), '50 %1');
    for (const environment of [undefined, [], ['TMUX_PANE=%1'], ['TMUX=/tmp/x,50,3'], ['TMUX=', 'TMUX_PANE=%1']]) assert.equal(paneInherited(environment), undefined);
  });

  it('own the tree, the process session, and what detached itself within the directory', () => {
    const rows = [server, row(100, 50), row(101, 100, { session: 100 }), row(102, 1, { session: 100 }), row(103, 102, { session: 103 }), row(200, 1), row(201, 1), row(202, 1, { name: 'tmux: server' }), row(203, 1), row(1, 0)];
    const environment = (pid: number) => (pid >= 200 && pid < 203 ? ['TMUX=/tmp/x,50,3', 'TMUX_PANE=%1'] : pid === 203 ? ['TMUX=/tmp/x,51,3', 'TMUX_PANE=%1'] : []);
    const directory = (pid: number) => (pid === 201 ? '/gone/xy' : '/gone/x/sub');
    const { own, detached } = processesOf(session, { name: 'loop-x', state: 'live', panes: [pane()] }, new ProcessFacts(tableOf(...rows), details({ 100: ['claude', 'x'.repeat(300)] }, { environment, directory })));
    assert.deepEqual(own.map(({ pid }) => pid), [100, 101, 102, 103, 200]);
    assert.deepEqual(detached.map(({ pid }) => pid), [201, 202]);
    assert.equal(own[0]?.command.length, 160);
  });
});

describe('following processes that end', () => {
  const looked = (following: Following, ...rows: ProcessRow[]) => {
    following.look(tableOf(...rows));
    return following.running.map(({ pid }) => pid);
  };

  it('keeps to pid and start time', () => {
    const following = new Following([{ pid: 100, startTime: 't100' }, { pid: 1, startTime: 't1' }]);
    assert.deepEqual(looked(following, row(1, 0), row(100, 1, { startTime: 'later' }), row(101, 100)), []);
    assert.ok(following.has(100, 't100') && !following.has(100, 'later') && !following.has(100, undefined) && !following.has(1, 't1'));
  });

  it('remembers children whose parent has gone, and those born since', () => {
    const following = new Following([{ pid: 100, startTime: 't100' }]);
    assert.deepEqual(looked(following, row(100, 50), row(101, 100), row(102, 101)), [100, 101, 102]);
    assert.deepEqual(looked(following, row(102, 1), row(103, 102)), [102, 103]);
    assert.deepEqual(looked(following, row(103, 1, { startTime: 'later' })), []);
  });

  it('finds what is left in the process session of one that is known', () => {
    const following = new Following([{ pid: 101, startTime: 't101' }]);
    assert.deepEqual(looked(following, row(101, 1, { session: 100 }), row(102, 1, { session: 100 }), row(104, 1, { session: 99 })), [101, 102]);
    assert.deepEqual(looked(following, row(105, 1, { session: 100 })), [105], 'born between two looks, all others gone');
    assert.deepEqual(looked(following), []);
    assert.deepEqual(looked(following, row(106, 1, { session: 100 })), [], 'nobody kept the number');
  });

  it('does not take a session whose number was given away', () => {
    const following = new Following([{ pid: 101, startTime: 't101' }]);
    assert.deepEqual(looked(following, row(101, 1, { session: 100 })), [101]);
    assert.deepEqual(looked(following, row(100, 1, { startTime: 'later' }), row(107, 100, { session: 100 })), []);
  });
});
