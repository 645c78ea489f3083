import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { isRunning } from '../../src/core/disk/processes';
import { PlanReply, type ItemReply } from '../../src/protocol/plan';
import { DoctorReply } from '../../src/protocol/sessions';
import { runWithFault } from '../support/faults';
import { cleanEnv, cli, makePlace, runCli, writeFiles, type Place, type Ran } from '../support/program';
import { control, endpoint, portable, poll, session, type SessionFields } from '../support/state';
import { PrivateServer, until } from './server';
import type { Member } from './server';

const ref = 'github:octo/repo#15';
const pullRef = 'github:octo/repo#16';
const slug = 'github-octo-repo-15';
const terminal = `loop-${slug}`;
const pullTerminal = 'loop-github-octo-repo-16';

/** A loop's folder with a tmux server of its own, reached as the program reaches it: by TMUX_TMPDIR. */
class Loop {
  readonly place: Place = makePlace();
  readonly server = new PrivateServer('', this.place.home);
  readonly members: Member[] = [];
  readonly record = path.join(this.place.work, `.the-loop/local/${slug}.json`);

  /** The item's own session and a pull request's, each a script with a child, in its checkout. */
  async start(options: { own?: SessionFields | null; pull?: SessionFields | null; tmux?: string; workspace?: boolean; ignoring?: boolean } = {}): Promise<void> {
    const { own = { status: 'active' }, pull = { status: 'active' } } = options;
    const cwds = [15, 16].map((number) => path.join(this.place.work, `ws/.worktrees/github.com/octo/repo/github-octo-repo-${String(number)}`));
    const [cwd = '', pullCwd = ''] = cwds;
    for (const one of cwds) writeFiles(one, { 'wip.txt': 'not committed\n' });
    this.config(options.tmux ?? '', options.workspace ?? false);
    const pullRequests = pull === null ? [] : [endpoint(pullRef, { cwd: pullCwd, terminal: pullTerminal, id: '', ...pull })];
    writeFiles(this.place.work, {
      [`.the-loop/local/${slug}.json`]: session(ref, { status: 'closed', cwd, terminal, ...own, pullRequests }),
      [`.the-loop/portable/${slug}.json`]: portable(ref, { control: control(ref), poll: poll('IC_1') }),
    });
    if (own !== null) this.members.push(...(await this.server.agent(terminal, ['child', ...(options.ignoring ? ['ignoring'] : [])], { cwd })).members);
    if (pull !== null) this.members.push(...(await this.server.agent(pullTerminal, ['child'], { cwd: pullCwd })).members);
  }

  config(tmux: string, workspace: boolean): void {
    writeFiles(this.place.work, { '.the-loop/cli-config.yaml': `version: "0.5.0"\nrouting:\n  tmux:\n    harnessKillGraceSeconds: 1\n${tmux}${workspace ? '  workspace:\n    root: ws\n' : ''}` });
  }

  run(args: string[], env: Record<string, string> = {}): Promise<Ran> {
    return runCli([...args, '--json'], { cwd: this.place.work, env: cleanEnv(this.place.home, env) });
  }

  async reset(args: string[] = [], env: Record<string, string> = {}): Promise<{ code: number | null; reply: PlanReply; item: ItemReply }> {
    const ran = await this.run(['sessions', 'reset', '--work-item', ref, ...args], env);
    const reply = PlanReply.parse(JSON.parse(ran.stdout), { error: () => ran.stdout + ran.stderr });
    return { code: ran.code, reply, item: reply.items[0] as ItemReply };
  }

  /** What doctor finds, by kind. */
  async doctor(): Promise<Map<string, string>> {
    const { stdout } = await this.run(['doctor']);
    return new Map(DoctorReply.parse(JSON.parse(stdout)).findings.map(({ kind, message }) => [kind, message]));
  }

  /** The roles of what runs, sorted: in what order an agent and its child began is chance. */
  running(): string[] {
    return this.members.filter(({ pid, startTime }) => isRunning(pid, startTime)).map(({ role }) => role).sort();
  }

  events(kind: string): Record<string, unknown>[] {
    const log = path.join(this.place.work, '.the-loop/logs/events.jsonl');
    if (!fs.existsSync(log)) return [];
    return fs.readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>).filter((event) => event['event'] === kind && event['work_item'] === ref);
  }

  /** The event of the one reset, without what differs from run to run. */
  event(plan: string): Record<string, unknown> {
    const events = this.events('session.reset');
    assert.equal(events.length, 1);
    assert.equal(events[0]?.['plan'], plan);
    return Object.fromEntries(Object.entries(events[0]).filter(([key]) => !['ts', 'pid', 'plan', 'source', 'event', 'work_item', 'actor'].includes(key)));
  }

  async close(): Promise<void> {
    await this.server.close();
    this.place.remove();
  }
}

const everything = ['agent', 'agent', 'child', 'child'];
const kindsOf = (messages: { kind: string }[]) => messages.map(({ kind }) => kind);

describe('a reset of an item that is alive', function () {
  this.timeout(60_000);
  let loop: Loop;
  beforeEach(() => { loop = new Loop(); });
  afterEach(() => loop.close());

  const pieces = ['session', 'control', 'poll'];
  const ending = (name: string, of: string, open = true) => ({ ref: of, harness: 'claude', terminal: name, open: open ? `tmux attach -r -t ${name}` : null });

  it('ends its agent and its pull request\'s, keeps the terminals readable, forgets the records', async () => {
    await loop.start();
    loop.server.run('send-keys', '-t', `=${terminal}:`, '-l', 'its last words');
    const dry = await loop.reset(['--dry-run']);
    assert.equal(dry.code, 0);
    assert.deepEqual(dry.item.ends, [ending(terminal, ref), ending(pullTerminal, pullRef)]);
    assert.deepEqual(dry.item.removed, pieces);
    assert.deepEqual(loop.running(), everything, 'a dry run ends nothing');
    assert.deepEqual(dry.item.steps.filter(({ kind }) => kind === 'endSession').map(({ undo }) => undo), ['none', 'none']);

    const { code, reply, item } = await loop.reset(['--expect', dry.reply.digest]);
    assert.equal(code, 0, JSON.stringify(item.errors));
    assert.deepEqual(item.ends, dry.item.ends);
    assert.equal(item.live, true);
    assert.deepEqual(item.errors, []);
    assert.deepEqual(item.removed, pieces);
    assert.deepEqual(loop.running(), []);
    for (const name of [terminal, pullTerminal]) {
      assert.deepEqual(loop.server.paneStates(name), ['1'], 'its program has ended, its screen stays');
      assert.ok(item.kept.some(({ what, why }) => what === `terminal ${name}` && why.includes(`tmux attach -r -t ${name}`)));
    }
    assert.match(loop.server.run('capture-pane', '-p', '-S', '-', '-t', `=${terminal}:`), /its last words/);
    assert.equal(fs.existsSync(loop.record), false);
    assert.deepEqual(loop.event(reply.plan), { level: 'info', removed: pieces, was_live: true, found: true });
    const found = await loop.doctor();
    assert.equal(found.has('orphan-terminal'), false, 'a screen is no agent');

    const undone = await loop.run(['undo', reply.plan]);
    assert.equal(undone.code, 0);
    assert.deepEqual(kindsOf(PlanReply.parse(JSON.parse(undone.stdout)).items[0]?.notices ?? []), ['cannot-undo', 'cannot-undo']);
    assert.equal((JSON.parse(fs.readFileSync(loop.record, 'utf8')) as { status: string }).status, 'active', 'its record says what it said');
    assert.match((await loop.doctor()).get('terminal-died') ?? '', /only a last screen/);
  });

  it('and is stale as soon as another agent runs there', async () => {
    await loop.start({ pull: null });
    const { reply: { digest } } = await loop.reset(['--dry-run']);
    loop.server.run('respawn-pane', '-k', '-t', `=${terminal}:`);
    await until('the new agent', () => loop.server.paneStates(terminal)[0] === '0' && loop.running().length === 0);
    const ran = await loop.run(['sessions', 'reset', '--work-item', ref, '--expect', digest]);
    assert.equal(ran.code, 3);
    assert.deepEqual(loop.server.paneStates(terminal), ['0']);
  });

  it('ends a paused one', async () => {
    await loop.start({ own: { status: 'paused' }, pull: { status: 'paused' } });
    const { code, reply } = await loop.reset();
    assert.equal(code, 0);
    assert.deepEqual(loop.running(), []);
    assert.deepEqual(loop.event(reply.plan), { level: 'info', removed: pieces, was_live: true, found: true });
  });

  it('leaves the terminal of a closed one alone and ends its pull request\'s agent', async () => {
    await loop.start({ own: { status: 'closed' } });
    const { code, reply, item } = await loop.reset();
    assert.equal(code, 0);
    assert.deepEqual(item.ends, [ending(pullTerminal, pullRef)]);
    assert.deepEqual(loop.running(), ['agent', 'child'], 'what runs in a closed session\'s terminal is a person\'s');
    assert.deepEqual(loop.server.paneStates(pullTerminal), ['1']);
    assert.match(item.kept.find(({ what }) => what === `terminal ${terminal}`)?.why ?? '', /closed session is not touched/);
    assert.deepEqual(loop.event(reply.plan), { level: 'info', removed: pieces, found: true });
    assert.match((await loop.doctor()).get('orphan-terminal') ?? '', new RegExp(terminal));
  });

  it('takes the checkouts of all that end', async () => {
    await loop.start({ workspace: true });
    const { code, item } = await loop.reset();
    assert.equal(code, 0, JSON.stringify(item.errors));
    assert.deepEqual(item.checkouts?.map((one) => path.basename(one.path)), [slug, 'github-octo-repo-16']);
    assert.deepEqual(item.removed, ['workspace', ...pieces]);
    assert.deepEqual(fs.readdirSync(path.join(loop.place.work, 'ws/.worktrees/github.com/octo/repo')), []);
    assert.deepEqual(loop.running(), []);
  });

  it('ends the terminals too when the config says so', async () => {
    await loop.start({ tmux: '    keepSessionOnClose: false\n' });
    const { code, item } = await loop.reset();
    assert.equal(code, 0);
    assert.deepEqual(item.ends, [ending(terminal, ref, false), ending(pullTerminal, pullRef, false)]);
    assert.deepEqual(loop.running(), []);
    assert.deepEqual([terminal, pullTerminal].map((name) => loop.server.hasTerminal(name)), [false, false]);
    assert.deepEqual(item.kept.filter(({ what }) => what.startsWith('terminal')), []);
  });

  describe('where no agent is found', () => {
    /** The records go, nothing is said to have ended. */
    async function forgets(env: Record<string, string> = {}): Promise<ItemReply> {
      const { code, reply, item } = await loop.reset([], env);
      assert.equal(code, 0, JSON.stringify(item));
      assert.equal(item.ends, undefined);
      assert.deepEqual(item.removed, pieces);
      assert.deepEqual(loop.event(reply.plan), { level: 'info', removed: pieces, was_live: true, found: true });
      return item;
    }

    it('as its terminal is gone: it is forgotten', async () => {
      await loop.start();
      for (const name of [terminal, pullTerminal]) loop.server.run('kill-session', '-t', `=${name}`);
      assert.deepEqual((await forgets()).notices, []);
    });

    it('as its terminal is gone and another one begins with the same name', async () => {
      await loop.start({ pull: null });
      loop.server.run('rename-session', '-t', `=${terminal}`, `${terminal}0`);
      assert.deepEqual((await forgets()).notices, []);
      assert.deepEqual(loop.running(), ['agent', 'child']);
    });

    it('as no tmux runs', async () => {
      await loop.start();
      loop.server.run('kill-server');
      await until('the end of the agents', () => loop.running().length === 0);
      assert.deepEqual((await forgets()).notices, []);
    });

    it('as there is no tmux: it is said that it may go on', async () => {
      await loop.start();
      const item = await forgets({ LOOPKEEPER_TMUX: path.join(loop.place.top, 'no-tmux') });
      assert.deepEqual(kindsOf(item.notices), ['agent-out-of-reach', 'agent-out-of-reach']);
      assert.deepEqual(loop.running(), everything);
      assert.match((await loop.doctor()).get('orphan-terminal') ?? '', /no record here names it/);
    });

    it('as nothing may be started', async () => {
      await loop.start({ pull: null });
      const { code, item } = await loop.reset(['--no-exec']);
      assert.equal(code, 0);
      assert.deepEqual(kindsOf(item.notices), ['agent-out-of-reach']);
      assert.deepEqual(loop.running(), ['agent', 'child']);
    });
  });

  it('does not touch a terminal of the same name that is not its own, and names it', async () => {
    await loop.start({ pull: null });
    writeFiles(loop.place.work, { [`.the-loop/local/${slug}.json`]: session(ref, { status: 'active', terminal, cwd: loop.server.checkout() }) });
    const { code, item } = await loop.reset();
    assert.equal(code, 0);
    assert.equal(item.ends, undefined);
    assert.deepEqual(kindsOf(item.notices), ['foreign-terminal']);
    assert.match(item.kept.find(({ what }) => what === `terminal ${terminal}`)?.why ?? '', /not this session's/);
    assert.deepEqual(loop.running(), ['agent', 'child']);
    assert.deepEqual(loop.server.paneStates(terminal), ['0']);
  });

  describe('in a terminal that two live records name', () => {
    const share = () => {
      const { cwd } = JSON.parse(fs.readFileSync(loop.record, 'utf8')) as { cwd: string };
      writeFiles(loop.place.work, { '.the-loop/local/github-octo-other-7.json': session('github:octo/other#7', { status: 'active', cwd: loop.server.checkout(), terminal }) });
      return cwd;
    };

    it('does not end it, nor takes what it works in', async () => {
      await loop.start({ pull: null, workspace: true });
      const cwd = share();
      const { code, item } = await loop.reset();
      assert.equal(code, 0);
      assert.equal(item.ends, undefined);
      assert.deepEqual(kindsOf(item.notices), ['shared-terminal']);
      assert.match(item.notices[0]?.message ?? '', /github:octo\/other#7, github:octo\/repo#15/);
      assert.deepEqual(item.removed, pieces);
      assert.match(item.kept.find(({ what }) => what === `checkout ${cwd}`)?.why ?? '', /goes on in it/);
      assert.deepEqual(loop.running(), ['agent', 'child']);
      assert.ok(fs.existsSync(path.join(cwd, 'wip.txt')));
      assert.equal((await loop.doctor()).has('orphan-terminal'), false, 'the other record names it');
    });

    it('neither when both go, and doctor names it then', async () => {
      await loop.start({ pull: null, workspace: true });
      const cwd = share();
      const { code } = await loop.reset(['--work-item', 'github:octo/other#7']);
      assert.equal(code, 0);
      assert.deepEqual(loop.running(), ['agent', 'child']);
      assert.ok(fs.existsSync(path.join(cwd, 'wip.txt')));
      assert.match((await loop.doctor()).get('orphan-terminal') ?? '', new RegExp(terminal));
    });
  });

  it('is refused from inside: below its own agent', async () => {
    await loop.start({ pull: null });
    const out = path.join(loop.place.top, 'out');
    const { cwd } = JSON.parse(fs.readFileSync(loop.record, 'utf8')) as { cwd: string };
    loop.server.run('new-window', '-d', '-t', `=${terminal}:`, '-c', cwd, `cd '${loop.place.work}' && '${process.execPath}' '${cli}' sessions reset --work-item '${ref}' --json > '${out}'; echo $? > '${out}.code'; exec sleep 60`);
    await until('the refusal', () => fs.existsSync(`${out}.code`) && fs.readFileSync(`${out}.code`, 'utf8').trim() !== '');
    assert.equal(fs.readFileSync(`${out}.code`, 'utf8').trim(), '2', fs.readFileSync(out, 'utf8'));
    assert.equal((JSON.parse(fs.readFileSync(out, 'utf8')) as { error: { kind: string } }).error.kind, 'own-session');
    assert.deepEqual(loop.running(), ['agent', 'child']);
    assert.ok(fs.existsSync(loop.record));
  });

  it('keeps the record of an agent that does not end, and says so', async () => {
    await loop.start({ pull: null });
    // A tmux that does everything but set an option: the screen would be lost.
    const lame = path.join(loop.place.top, 'tmux');
    fs.writeFileSync(lame, '#!/bin/sh\ncase "$*" in *set-option*) exit 1;; *) exec tmux "$@";; esac\n', { mode: 0o755 });
    const { code, item, reply } = await loop.reset([], { LOOPKEEPER_TMUX: lame });
    assert.equal(code, 1);
    assert.deepEqual(kindsOf(item.errors), ['remain-on-exit']);
    assert.ok(!item.removed.includes('session'));
    assert.deepEqual(loop.running(), ['agent', 'child']);
    assert.ok(fs.existsSync(loop.record));
    assert.match((await loop.doctor()).get('closed-but-running') ?? '', new RegExp(terminal), 'what runs under a record that was closed first is named');
    assert.deepEqual({ ...loop.event(reply.plan), error: '' }, { level: 'warning', removed: ['control', 'poll'], was_live: true, found: true, error: '' });
  });
});

describe('a reset of an item that is alive, killed', function () {
  this.timeout(10 * 60_000);
  const reset = ['sessions', 'reset', '--work-item', ref, '--json'];
  /** A changing command that has nothing to do with it finishes it. */
  const next = ['sessions', 'reset', '--work-item', 'github:octo/other#1'];

  /** Nothing runs that neither a record nor doctor names; then the next command finishes it all. */
  async function finishes(loop: Loop, point: string): Promise<'untouched' | 'before' | 'after'> {
    const store = path.join(loop.place.work, '.the-loop/loopkeeper');
    const running = loop.running();
    const journal = path.join(store, 'journal');
    const begun = fs.existsSync(journal) && fs.readdirSync(journal).some((name) => /^[^.].*\.json$/.test(name));
    if (running.length > 0 && begun) {
      const found = await loop.doctor();
      assert.ok(found.has('unfinished-plan'), `${point}: doctor names the plan`);
      assert.ok(fs.existsSync(loop.record) || found.has('orphan-terminal'), `${point}: ${running.join()} runs and nothing names it`);
    }
    await loop.run(next);
    const events = loop.events('session.reset');
    if (events.length === 0) {
      assert.deepEqual(loop.running(), everything, `${point}: ended without an event`);
      assert.equal((JSON.parse(fs.readFileSync(loop.record, 'utf8')) as { status: string }).status, 'active', point);
      return 'untouched';
    }
    assert.deepEqual(events.map((event) => [event['was_live'], event['removed'], event['error']]), [[true, ['workspace', 'session', 'control', 'poll'], undefined]], point);
    assert.deepEqual(loop.running(), [], `${point}: it runs on`);
    assert.equal(fs.existsSync(loop.record), false, point);
    assert.deepEqual([terminal, pullTerminal].map((name) => loop.server.paneStates(name).join()), ['1', '1'], `${point}: its screens`);
    assert.deepEqual(fs.readdirSync(journal), [], `${point}: the journal is not empty`);
    return running.length > 0 ? 'before' : 'after';
  }

  it('at every file operation: the next command finishes it', async () => {
    const counting = new Loop();
    await counting.start({ workspace: true });
    await runWithFault(reset, counting.place, 'count', 0);
    const operations = Number(fs.readFileSync(path.join(counting.place.top, 'operations'), 'utf8'));
    await counting.close();
    const counts = { untouched: 0, before: 0, after: 0 };
    const queue = Array.from({ length: operations }, (_, index) => index + 1);
    const worker = async (): Promise<void> => {
      for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
        const loop = new Loop();
        try {
          await loop.start({ workspace: true });
          const ran = await runWithFault(reset, loop.place, 'kill', at);
          assert.equal(ran.signal, 'SIGKILL', `operation ${String(at)}: ${ran.stdout}`);
          counts[await finishes(loop, `killed at ${String(at)} of ${String(operations)}`)] += 1;
        } finally {
          await loop.close();
        }
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    console.log(`      live reset: killed at ${String(operations)} operations: ${String(counts.untouched)} untouched, ${String(counts.before)} before the signals, ${String(counts.after)} behind them`);
    assert.ok(counts.untouched > 3 && counts.before > 1 && counts.after > 10, JSON.stringify(counts));
  });

  it('between SIGTERM and SIGKILL: the next command finishes it', async () => {
    const loop = new Loop();
    try {
      await loop.start({ workspace: true, ignoring: true });
      loop.config('', true);
      fs.writeFileSync(path.join(loop.place.work, '.the-loop/cli-config.yaml'), fs.readFileSync(path.join(loop.place.work, '.the-loop/cli-config.yaml'), 'utf8').replace('GraceSeconds: 1', 'GraceSeconds: 3'));
      const program = spawn(process.execPath, [cli, ...reset], { cwd: loop.place.work, env: cleanEnv(loop.place.home), stdio: 'ignore' });
      const closed = new Promise((resolve) => program.once('close', resolve));
      await until('the first signals', () => loop.running().join() === 'ignoring');
      program.kill('SIGKILL');
      await closed;
      assert.equal(program.signalCode, 'SIGKILL');
      assert.deepEqual(loop.running(), ['ignoring']);
      assert.equal((JSON.parse(fs.readFileSync(loop.record, 'utf8')) as { status: string }).status, 'closed', 'its record is there until it has ended');
      assert.equal(await finishes(loop, 'in the grace'), 'before');
    } finally {
      await loop.close();
    }
  });
});
