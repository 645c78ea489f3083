import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../src/core/disk/failure';
import { readProcessTable } from '../../src/core/disk/processTable';
import { isRunning, startTimeOf } from '../../src/core/disk/processes';
import { endSessions } from '../../src/core/harness/close';
import type { EndOptions, MonotonicClock } from '../../src/core/harness/close';
import { endSessionExecutor } from '../../src/core/harness/closeExecutor';
import { signalProcess } from '../../src/core/harness/following';
import type { RecordedSession } from '../../src/core/harness/ownership';
import { prepareEndings } from '../../src/core/harness/prepareEndings';
import type { Ending, EndingData, EndingRequest } from '../../src/core/harness/prepareEndings';
import type { Tmux } from '../../src/core/harness/terminal';
import { endTerminals, inspectTerminals, keepAfterExit, listPanes } from '../../src/core/harness/tmux';
import type { StepContext } from '../../src/core/plan/executor';
import type { StepOutcome } from '../../src/core/plan/journal';
import type { EndSessionStep } from '../../src/core/plan/plan';
import { realClock } from './realClock';
import { PrivateServer, until } from './server';
import type { Member } from './server';

const ID = '0f1c5e7a-0000-4000-8000-000000000015';
const OTHER_ID = '0f1c5e7a-0000-4000-8000-000000000099';
const keep = { keepSessionOnClose: true, killHarnessOnClose: true, harnessKillGraceSeconds: 1 };
const kill = { ...keep, keepSessionOnClose: false };
const options: EndOptions = { clock: realClock, callerPid: process.pid };

describe('a session in tmux', function () {
  this.timeout(30_000);
  let server: PrivateServer;
  beforeEach(function () { server = new PrivateServer(String(this.currentTest?.title.length ?? 0)); });
  afterEach(() => server.close());

  const session = (terminal: string, cwd: string, more: Partial<RecordedSession> = {}): RecordedSession =>
    ({ ref: 'github:octo/repo#15', terminal, cwd, harness: 'claude', harnessSessionId: '', ...more });

  async function prepare(sessions: RecordedSession[], more: Partial<EndingRequest> = {}, tmux: Tmux = server.tmux): Promise<Ending[]> {
    const inspection = await inspectTerminals(sessions, tmux);
    return prepareEndings(sessions, inspection, { policy: keep, endAlways: true, caller: { pid: process.pid }, shared: new Map(), ...more });
  }
  async function prepareStep(one: RecordedSession, more: Partial<EndingRequest> = {}): Promise<EndingData> {
    const [ending] = await prepare([one], more);
    assert.ok(ending?.step, JSON.stringify(ending));
    return ending.step;
  }
  const stillRuns = (members: Member[]) => members.filter(({ pid, startTime }) => isRunning(pid, startTime)).map(({ role }) => role);

  describe('is looked at', () => {
    it('with one call for all: live, dead, absent, unknown', async () => {
      const live = await server.agent('loop-live', ['child']);
      const gone = await server.agent('loop-dead', [], { keep: true });
      const agent = gone.members.find(({ role }) => role === 'agent');
      assert.ok(agent);
      process.kill(agent.pid, 'SIGKILL');
      await until('the dead pane', () => server.paneStates('loop-dead')[0] === '1');
      const asked = [['loop-live', live.cwd], ['loop-dead', gone.cwd], ['loop-absent', server.directory], ['loop-elsewhere', path.join(server.directory, 'not-here')], ['loop-x;kill-server', server.directory]]
        .map(([terminal = '', cwd = '']) => ({ terminal, cwd }));
      const { terminals, server: state } = await inspectTerminals(asked, server.tmux);
      assert.equal(state, 'running');
      assert.deepEqual(asked.map(({ terminal }) => terminals.get(terminal)?.state), ['live', 'dead', 'absent', 'unknown', 'unknown']);
      const pane = terminals.get('loop-live')?.panes[0];
      assert.equal(pane?.pid, live.members.find(({ role }) => role === 'agent')?.pid);
      assert.equal(pane?.startTime, startTimeOf(pane?.pid ?? 0));
      assert.equal(pane?.command, 'bash');
      assert.equal(pane?.startDirectory, live.cwd);
    });

    it('and its directory is read exactly: spaces, quotes, another alphabet', async () => {
      const cwd = server.checkout(`it's "a" $b;\\ # 50% é\u{1f600}`);
      await server.agent('loop-odd', [], { cwd });
      const { terminals } = await inspectTerminals([{ terminal: 'loop-odd' }], server.tmux);
      assert.equal(terminals.get('loop-odd')?.panes[0]?.startDirectory, cwd);
    });

    it('a line break in its directory makes it unknown, not absent', async () => {
      await server.agent('loop-odd', [], { cwd: server.checkout('two\nlines') });
      const { terminals } = await inspectTerminals([{ terminal: 'loop-odd' }], server.tmux);
      assert.equal(terminals.get('loop-odd')?.state, 'unknown');
    });

    it('without a server it is absent where its directory is here, before and after one ran', async () => {
      const asked = [{ terminal: 'loop-x', cwd: server.directory }, { terminal: 'loop-y', cwd: '/not/here' }];
      const never = await inspectTerminals(asked, server.tmux);
      assert.equal(never.server, 'none');
      assert.deepEqual([...never.terminals.values()].map(({ state }) => state), ['absent', 'unknown']);
      const { members } = await server.agent('loop-x', []);
      const [pid] = server.run('display-message', '-p', '#{pid}').split(' ');
      server.run('kill-server');
      await until('the end of tmux', () => startTimeOf(Number(pid)) === undefined && stillRuns(members).length === 0);
      const stopped = await inspectTerminals(asked, server.tmux);
      assert.equal(stopped.server, 'stopped');
      assert.deepEqual([...stopped.terminals.values()].map(({ state }) => state), ['absent', 'unknown']);
    });

    it('without tmux it is unknown, and a reset says so and ends nothing', async () => {
      const nowhere = { command: path.join(server.directory, 'no-tmux') };
      const [ending] = await prepare([session('loop-x', server.directory)], {}, nowhere);
      assert.equal(ending?.state, 'unknown');
      assert.equal(ending?.step, undefined);
      assert.deepEqual(ending?.notices.map(({ kind }) => kind), ['agent-out-of-reach']);
      assert.equal(ending?.open, null);
    });
  });

  describe('is ended', () => {
    const everything = ['child', 'ignoring', 'setsid', 'orphan', 'daemon', 'stray'];

    it('with its whole tree, and its terminal stays readable', async () => {
      const { cwd, members } = await server.agent('loop-x', everything);
      const [ending] = await prepare([session('loop-x', cwd)]);
      assert.ok(ending?.step);
      assert.equal(ending.open, `tmux -L ${server.tmux.socket ?? ''} attach -r -t loop-x`);
      // What works elsewhere is named, not ended.
      const stray = members.find(({ role }) => role === 'stray');
      assert.deepEqual(ending.notices.map(({ kind }) => kind), ['detached-processes']);
      assert.match(ending.notices[0]?.message ?? '', new RegExp(`\\b${String(stray?.pid)} sleep 3007`));
      const listed = new Set(ending.step.processes.map(({ pid }) => pid));
      assert.deepEqual(members.filter(({ pid }) => !listed.has(pid)).map(({ role }) => role), ['stray']);
      assert.equal(ending.step.processes[0]?.pid, members.find(({ role }) => role === 'agent')?.pid);

      const started = performance.now();
      assert.deepEqual(await endSessions([ending.step], options), [{ status: 'done' }]);
      assert.ok(performance.now() - started >= 1000, 'the one that ignores SIGTERM has its grace');
      assert.deepEqual(stillRuns(members), ['stray']);
      assert.deepEqual(server.paneStates('loop-x'), ['1']);
      assert.deepEqual(await endSessions([ending.step], options), [{ status: 'already' }]);
    });

    it('with its terminal, when the config says so', async () => {
      const { cwd, members } = await server.agent('loop-x', everything);
      const neighbour = await server.agent('loop-x-1', ['child']);
      const step = await prepareStep(session('loop-x', cwd), { policy: kill });
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      assert.deepEqual(stillRuns(members), ['stray']);
      assert.equal(server.hasTerminal('loop-x'), false);
      assert.deepEqual(stillRuns(neighbour.members).sort(), ['agent', 'child']);
      assert.deepEqual(await endSessions([step], options), [{ status: 'already' }]);
      assert.equal(server.hasTerminal('loop-x-1'), true);
    });

    it('with a terminal that was kept from the start, which then goes too', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child', 'self-ignoring'], { keep: true });
      const step = await prepareStep(session('loop-x', cwd), { policy: kill });
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      assert.deepEqual(stillRuns(members), []);
      await until('the end of the only terminal', () => !server.hasTerminal('loop-x'));
    });

    it('at once when nothing ignores SIGTERM', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child', 'setsid']);
      const step = await prepareStep(session('loop-x', cwd), { policy: { ...keep, harnessKillGraceSeconds: 20 } });
      const started = performance.now();
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      assert.ok(performance.now() - started < 15_000, 'well before its grace is over');
      assert.deepEqual(stillRuns(members), []);
    });

    it('also when it forks while it ends, and when its last child detaches itself', async () => {
      const forking = await server.agent('loop-forking', ['child', 'forking']);
      const daemonizing = await server.agent('loop-daemonizing', ['child', 'daemonizing']);
      const steps = await Promise.all([session('loop-forking', forking.cwd), session('loop-daemonizing', daemonizing.cwd)].map((one) => prepareStep(one, { policy: { ...keep, harnessKillGraceSeconds: 3 } })));
      const before = await endSessions(steps, options);
      assert.deepEqual(before, [{ status: 'done' }, { status: 'done' }]);
      for (const { notes, members } of [forking, daemonizing]) {
        assert.deepEqual(stillRuns(members), []);
        const written = fs.readFileSync(path.join(notes, 'pids'), 'utf8');
        assert.match(written, /^born/m, 'the child was born');
        assert.deepEqual(server.members(notes), [], 'and has ended');
      }
    });

    it('also when a part of it is stopped (Ctrl-Z): that cleans up in its grace', async () => {
      // Not the pane's own program, which tmux sets going again by itself.
      const { cwd, members, notes } = await server.agent('loop-x', ['tidy']);
      const tidy = members.find(({ role }) => role === 'tidy');
      assert.ok(tidy);
      process.kill(tidy.pid, 'SIGSTOP');
      await sleep(50);
      assert.deepEqual(await endSessions([await prepareStep(session('loop-x', cwd), { policy: { ...keep, harnessKillGraceSeconds: 5 } })], options), [{ status: 'done' }]);
      assert.match(fs.readFileSync(path.join(notes, 'pids'), 'utf8'), /^tidied/m, 'it ran its own clean-up');
      assert.deepEqual(stillRuns(members), []);
    });

    it('with every pane and window of its terminal', async () => {
      const { cwd } = await server.agent('loop-x', ['child']);
      server.run('split-window', '-d', '-t', '=loop-x:', '-c', cwd, 'sleep 3010');
      server.run('new-window', '-d', '-t', '=loop-x:', '-c', cwd, 'sleep 3011');
      // A pane's own setting comes before its window's.
      const [pane = ''] = server.run('list-panes', '-s', '-t', '=loop-x:', '-F', '#{pane_id}').split('\n');
      server.run('set-option', '-p', '-t', pane, 'remain-on-exit', 'off');
      const step = await prepareStep(session('loop-x', cwd));
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      await until('three dead panes', () => server.paneStates('loop-x').join() === '1,1,1');
    });

    it('20 at once share one grace', async () => {
      const agents = await Promise.all(Array.from({ length: 20 }, (_, i) => server.agent(`loop-many-${String(i)}`, ['child', 'ignoring'])));
      const endings = await prepare(agents.map(({ cwd }, i) => session(`loop-many-${String(i)}`, cwd)));
      const progress: string[] = [];
      // Only waiting counts, so that a busy machine does not matter.
      let waited = 0;
      const clock: MonotonicClock = { milliseconds: () => waited, sleep: (milliseconds) => { waited += milliseconds; return realClock.sleep(milliseconds); } };
      const results = await endSessions(endings.flatMap(({ step }) => step ?? []), { ...options, clock, onProgress: (ended, total) => progress.push(`${String(ended)}/${String(total)}`) });
      assert.deepEqual(results.map(({ status }) => status), new Array(20).fill('done'));
      assert.ok(waited >= 1000 && waited < 2000, `one grace of 1 s, not 20: ${String(waited)} ms`);
      assert.deepEqual(agents.flatMap(({ members }) => stillRuns(members)), []);
      assert.equal(progress.at(0), '0/20');
      assert.equal(progress.at(-1), '20/20');
      assert.ok(agents.every((_, i) => server.paneStates(`loop-many-${String(i)}`).join() === '1'));
    });

    it('as steps of a plan, each with its own outcome', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child']);
      const data = await prepareStep(session('loop-x', cwd));
      const base = { kind: 'endSession', reason: 'the session is live', undo: 'none', phase: 1 } as const;
      const steps: EndSessionStep[] = [{ ...base, ...data }, { ...base, ...data, terminal: 'loop-y', processes: [] }, { ...base, ...data, terminal: 'main', processes: [] }];
      const outcomes: StepOutcome[] = [];
      const context: StepContext = { store: { directory: cwd }, planId: 'p', index: 0, keepTrash: true, touch: () => undefined } as unknown as StepContext;
      await endSessionExecutor({ clock: realClock, callerPid: process.pid }).run(steps.map((step) => ({ step, context, report: (outcome) => outcomes.push(outcome) })));
      assert.deepEqual(outcomes, [{ status: 'done' }, { status: 'already' }, { status: 'failed', error: { kind: 'unsafe-name', message: '"main" is no terminal of a loop.' } }]);
      assert.deepEqual(stillRuns(members), []);
    });

    it('after the program was killed in the middle', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child', 'ignoring', 'orphan']);
      const step = await prepareStep(session('loop-x', cwd), { policy: { ...keep, harnessKillGraceSeconds: 60 } });
      const file = path.join(server.directory, 'steps.json');
      fs.writeFileSync(file, JSON.stringify([step]));
      const program = spawn(process.execPath, ['--import', 'tsx', path.join(__dirname, 'scripts', 'endOnce.ts'), file], { stdio: ['ignore', 'pipe', 'inherit'] });
      await until('the first signals', () => stillRuns(members).join() === 'ignoring');
      program.kill('SIGKILL');
      await new Promise((resolve) => program.once('close', resolve));
      assert.deepEqual(stillRuns(members), ['ignoring']);
      assert.deepEqual(await endSessions([{ ...step, graceSeconds: 0 }], options), [{ status: 'done' }]);
      assert.deepEqual(stillRuns(members), []);
      assert.deepEqual(server.paneStates('loop-x'), ['1']);
    });
  });

  describe('is left alone', () => {
    it('when another process has its pid by now', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child']);
      const step = await prepareStep(session('loop-x', cwd));
      const recycled = { ...step, processes: step.processes.map(({ pid, startTime }) => ({ pid, startTime: `${startTime}1` })) };
      const [result] = await endSessions([recycled], options);
      assert.equal(result?.kind, 'changed');
      assert.match(result.message ?? '', /not there when the plan was made/);
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
    });

    it('when it was started anew since the plan: the old ends, the new stays', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child', 'orphan']);
      const step = await prepareStep(session('loop-x', cwd), { policy: kill });
      server.run('set-option', '-w', '-t', '=loop-x:', 'remain-on-exit', 'on');
      server.run('respawn-pane', '-k', '-t', '=loop-x:', '--', 'sleep', '3012');
      const [result] = await endSessions([step], options);
      assert.equal(result?.kind, 'changed');
      assert.deepEqual(stillRuns(members), []);
      assert.deepEqual(server.paneStates('loop-x'), ['0']);
    });

    it('when it would not stay readable', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child']);
      const step = await prepareStep(session('loop-x', cwd));
      // A tmux that does everything but set an option.
      const lame = path.join(server.directory, 'tmux');
      fs.writeFileSync(lame, '#!/bin/sh\ncase "$*" in *set-option*) exit 1;; *) exec tmux "$@";; esac\n', { mode: 0o755 });
      const [result] = await endSessions([{ ...step, tmux: { ...server.tmux, command: lame } }], options);
      assert.equal(result?.kind, 'remain-on-exit');
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
    });

    it('when tmux is gone by now', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child']);
      const step = await prepareStep(session('loop-x', cwd));
      const [result] = await endSessions([{ ...step, tmux: { command: path.join(server.directory, 'no-tmux') } }], options);
      assert.equal(result?.kind, 'tmux-unreachable');
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
    });

    it('when this program runs below it', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child']);
      const child = members.find(({ role }) => role === 'child')?.pid ?? 0;
      const isOwn = (error: unknown) => error instanceof Failure && error.kind === 'own-session' && error.exitCode === 2;
      await assert.rejects(prepare([session('loop-x', cwd)], { caller: { pid: child } }), isOwn);
      await assert.rejects(prepare([session('loop-gone', cwd, { harnessSessionId: ID })], { caller: { pid: process.pid, harnessSessionId: ID } }), isOwn);
      const step = await prepareStep(session('loop-x', cwd));
      const [result] = await endSessions([step], { ...options, callerPid: child });
      assert.equal(result?.kind, 'own-session');
      const self = { pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
      const [own] = await endSessions([{ ...step, processes: [self, ...step.processes] }], options);
      assert.equal(own?.kind, 'own-session');
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
    });

    it('when its name is none of a loop', async () => {
      const { cwd, members } = await server.agent('main', ['child']);
      const [ending] = await prepare([session('main', cwd)]);
      assert.equal(ending?.problem?.kind, 'unsafe-name');
      const pid = members.find(({ role }) => role === 'agent');
      assert.ok(pid);
      const [result] = await endSessions([{ terminal: 'main', processes: [pid], keepTerminal: false, graceSeconds: 0, tmux: server.tmux }], options);
      assert.equal(result?.kind, 'unsafe-name');
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
      assert.equal(server.hasTerminal('main'), true);
    });

    it('when only its name begins the same', async () => {
      const { cwd, members } = await server.agent('loop-x-1', ['child']);
      const [ending] = await prepare([session('loop-x', cwd)]);
      assert.equal(ending?.state, 'absent');
      const step: EndingData = { terminal: 'loop-x', processes: [], keepTerminal: false, graceSeconds: 0, tmux: server.tmux };
      assert.deepEqual(await endSessions([step], options), [{ status: 'already' }]);
      // Nor when the terminal goes between looking and acting.
      const [pane] = (await listPanes(server.tmux)).panes;
      assert.ok(pane);
      assert.deepEqual([...await keepAfterExit(server.tmux, [{ ...pane, terminal: 'loop-x' }])], [pane.paneId]);
      await endTerminals(server.tmux, ['loop-x']);
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
      assert.equal(server.hasTerminal('loop-x-1'), true);
    });

    it('when its pid is another process by the time of the signal', async () => {
      const { members: [agent] } = await server.agent('loop-x', []);
      const row = readProcessTable().get(agent?.pid ?? 0);
      assert.ok(row);
      assert.equal(signalProcess({ ...row, startTime: `${row.startTime}1` }, 'SIGKILL'), 'ended');
      assert.equal(signalProcess({ ...row, pid: 1, startTime: startTimeOf(1) ?? '' }, 'SIGTERM'), 'ended', 'never the first process');
      await sleep(50);
      assert.ok(isRunning(row.pid, row.startTime));
    });

    it('when two live records name its terminal', async () => {
      const { cwd } = await server.agent('loop-x', ['child']);
      const [ending] = await prepare([session('loop-x', cwd)], { shared: new Map([['loop-x', ['a', 'b']]]) });
      assert.equal(ending?.problem?.kind, 'shared-terminal');
      assert.equal(ending?.step, undefined);
      assert.match(ending?.problem?.message ?? '', /name it: a, b /);
    });

    it('when the wish to end it is taken back during the grace', async () => {
      const { cwd, members } = await server.agent('loop-x', ['child', 'ignoring']);
      const step = await prepareStep(session('loop-x', cwd), { policy: { ...keep, harnessKillGraceSeconds: 60 } });
      const stop = new AbortController();
      const ending = endSessions([step], { ...options, signal: stop.signal });
      await until('the first signals', () => stillRuns(members).join() === 'ignoring');
      stop.abort();
      const [result] = await ending;
      assert.equal(result?.kind, 'aborted');
      assert.deepEqual(stillRuns(members), ['ignoring']);
    });
  });

  describe('of the same name is ours or not', () => {
    const kindOf = async (terminal: string, cwd: string, id: string, harness = 'claude') => {
      const [ending] = await prepare([session(terminal, cwd, { harnessSessionId: id, harness })]);
      return ending?.problem?.kind ?? (ending?.step ? 'ours' : 'nothing');
    };

    it('by its conversation first, then by its directory', async () => {
      const here = server.checkout();
      const elsewhere = server.checkout();
      await server.agent('loop-id', [], { cwd: elsewhere, args: ['--session-id', ID] });
      await server.agent('loop-resumed', [], { cwd: here, args: ['--resume', OTHER_ID] });
      await server.agent('loop-plain', [], { cwd: here });
      assert.equal(await kindOf('loop-id', here, ID), 'ours');
      assert.equal(await kindOf('loop-id', here, OTHER_ID), 'foreign-terminal');
      assert.equal(await kindOf('loop-id', elsewhere, OTHER_ID), 'foreign-terminal');
      assert.equal(await kindOf('loop-resumed', here, ID), 'foreign-terminal');
      assert.equal(await kindOf('loop-resumed', here, ''), 'ours');
      assert.equal(await kindOf('loop-plain', here, ID), 'ours');
      assert.equal(await kindOf('loop-plain', elsewhere, ID), 'foreign-terminal');
      assert.equal(await kindOf('loop-plain', elsewhere, ''), 'foreign-terminal');
    });

    it('through a link to its directory; and by the harness that runs there', async () => {
      const here = server.checkout();
      const link = path.join(server.directory, 'link');
      fs.symlinkSync(here, link);
      await server.agent('loop-linked', [], { cwd: here });
      assert.equal(await kindOf('loop-linked', link, ID), 'ours');
      const script = path.join(server.directory, 'claude');
      fs.writeFileSync(script, '#!/bin/bash\nwhile :; do sleep 0.1; done\n', { mode: 0o755 });
      server.run('new-session', '-d', '-s', 'loop-byhand', '-c', '/', '--', 'bash', '-c', `cd '${here}' && '${script}'; exit`);
      await sleep(200);
      assert.equal(await kindOf('loop-byhand', here, ID), 'ours');
      assert.equal(await kindOf('loop-byhand', here, ID, 'pi'), 'foreign-terminal');
      assert.equal(await kindOf('loop-byhand', link, ID), 'ours');
    });

    it('and what is not ours is named, with the command that opens it', async () => {
      const { members } = await server.agent('loop-x', ['child']);
      const [ending] = await prepare([session('loop-x', server.checkout(), { harnessSessionId: ID })], { policy: kill });
      assert.equal(ending?.step, undefined);
      assert.match(ending?.problem?.message ?? '', /attach -r -t loop-x\)\.$/);
      assert.deepEqual(stillRuns(members).sort(), ['agent', 'child']);
    });
  });

  describe('follows the close policy', () => {
    it('a stop leaves the harness running where the config says so, a reset does not', async () => {
      const { cwd } = await server.agent('loop-x', ['child']);
      const policy = { ...keep, killHarnessOnClose: false };
      const [stop] = await prepare([session('loop-x', cwd)], { policy, endAlways: false });
      assert.equal(stop?.step, undefined);
      assert.deepEqual(stop?.notices.map(({ kind }) => kind), ['harness-left-running']);
      const [reset] = await prepare([session('loop-x', cwd)], { policy, endAlways: true });
      assert.equal(reset?.step?.keepTerminal, true);
      assert.ok((reset.step.processes.length) >= 2);
      // Without a kept terminal the setting means nothing, as in the-loop.
      const [both] = await prepare([session('loop-x', cwd)], { policy: { ...policy, keepSessionOnClose: false }, endAlways: false });
      assert.equal(both?.step?.keepTerminal, false);
    });

    it('of a dead terminal: kept as it is, or ended', async () => {
      const { cwd, members } = await server.agent('loop-x', [], { keep: true });
      for (const { pid } of members) process.kill(pid, 'SIGKILL');
      await until('the dead pane', () => server.paneStates('loop-x')[0] === '1');
      const [kept] = await prepare([session('loop-x', cwd)]);
      assert.equal(kept?.state, 'dead');
      assert.equal(kept?.step, undefined);
      assert.match(kept?.open ?? '', /loop-x$/);
      const step = await prepareStep(session('loop-x', cwd), { policy: kill });
      assert.deepEqual(step.processes, []);
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      assert.equal(server.hasTerminal('loop-x'), false);
    });

    it('of a dead terminal whose agent left a child', async () => {
      const { cwd, members } = await server.agent('loop-x', ['ignoring', 'orphan'], { keep: true });
      const agent = members.find(({ role }) => role === 'agent');
      assert.ok(agent);
      process.kill(agent.pid, 'SIGKILL');
      await until('the dead pane', () => server.paneStates('loop-x')[0] === '1');
      assert.notDeepEqual(stillRuns(members), []);
      const step = await prepareStep(session('loop-x', cwd));
      assert.deepEqual(await endSessions([step], options), [{ status: 'done' }]);
      assert.deepEqual(stillRuns(members), []);
      assert.deepEqual(server.paneStates('loop-x'), ['1']);
    });
  });
});
