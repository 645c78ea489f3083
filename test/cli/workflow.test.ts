import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pidSpace, startTimeOf } from '../../src/core/disk/processes';
import { parseRunState } from '../../src/core/workflow/stateFile';
import { runView, stackView } from '../../src/core/workflow/view';
import { ErrorReply } from '../../src/protocol/message';
import { PlanReply, UndoListReply } from '../../src/protocol/plan';
import { RunView, WorkflowDiagramReply, WorkflowGuideReply, WorkflowLintReply, WorkflowListReply, WorkflowResetReply, WorkflowShowReply } from '../../src/protocol/workflow';
import { cleanEnv, makePlace, readTree, runCli, type Place } from '../support/program';
import { putRuns, raymondOf, resetText, runFileOf, runText, sampleNames, sampleText, workflow, workflowJson } from '../support/raymond';

type Seen = [agent: string, state: string, status: string, session: string | null, directory: string | null, stack: [returnsTo: string, session: string | null, directory: string | null][], input: string | null];

const AFTER: [string, null, null] = ['AFTER.sh', null, null];
const ELSEWHERE = '/home/dev/runs/e15/elsewhere';
const samples: Record<string, Seen[]> = {
  '01_fresh_start': [['main', '1_START.sh', 'active', null, null, [], null]],
  '02_after_call': [['main', 'LOOP.sh', 'active', null, null, [AFTER], null]],
  '03_after_reset_inside_call': [['main', 'LOOP.sh', 'active', null, null, [AFTER], 'iter 1']],
  '04_after_result_pop': [['main', 'AFTER.sh', 'active', null, null, [], 'looped 4 times, last input=[iter 3]']],
  '05_after_call_with_session': [['main', 'CHILD.md', 'active', 'S1', null, [['AFTER.md', 'S1', null]], null]],
  '06_forked_worker_with_cwd': [['main_worker1', 'WORKER.sh', 'active', null, '/tmp', [], null]],
  '07_asking': [['main', '1_START.sh', 'asking', null, null, [], null]],
  '08_paused_validation_error': [['main', '1_START.sh', 'paused', null, null, [], null]],
  '09_paused_claude_error_inside_call_after_reset': [['main', 'LOOP2.md', 'paused', null, null, [['A.md', 'S1', null]], 'carry']],
  '10_nested_2_frames_reset_cd_tasknew': [['main', 'INNER2.sh', 'active', null, ELSEWHERE, [['BACK.sh', null, null], AFTER], null]],
  '11_cwd_leak_after_returns': [['main', 'AFTER.sh', 'active', null, ELSEWHERE, [],
    `BACK pwd=${ELSEWHERE} tf=/home/dev/runs/e15/.raymond/tasks/x/main [inner2 pwd=${ELSEWHERE} tf=/home/dev/runs/e15/.raymond/tasks/x/main_task1 in=unset]`]],
  '12_after_reset_workflow_stack_null': [['main', 'START.sh', 'active', null, null, [], 'i<& main']],
  '13_duplicate_agent_id': [['main', 'DONE.sh', 'active', null, null, [], null], ['main_worker1', 'WORKER.sh', 'active', null, null, [], null], ['main_worker1#2', 'START.sh', 'active', null, null, [], null]],
  '14_old_minimal_state': [['main', 'A.sh', 'active', 'sess-1', null, [['RET.sh', 'sess-0', null]], null]],
  '15_old_state_rewritten': [['main', 'B.sh', 'active', null, null, [['RET.sh', 'sess-0', null]], null]],
  '16_paused_bad_cwd': [['main', 'B.md', 'paused', null, '/home/dev/runs/e22/nope', [], null]],
};

describe('loopkeeper workflow', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  const bytes = (id: string): Buffer => fs.readFileSync(runFileOf(place, id));
  const undo = async (plan: string): Promise<{ code: number | null; reply: PlanReply }> => {
    const ran = await runCli(['undo', plan, '--json'], { cwd: place.work, env: cleanEnv(place.home) });
    return { code: ran.code, reply: PlanReply.parse(JSON.parse(ran.stdout)) };
  };
  const refused = async (args: string[], code: number, kind: string): Promise<string> => {
    const before = readTree(place.top, (name) => name.includes('loopkeeper'));
    const ran = await workflowJson(place, args, ErrorReply);
    assert.deepEqual([args, ran.code, ran.reply.error.kind], [args, code, kind], JSON.stringify(ran.reply));
    assert.ok(ran.reply.error.hint.length > 0);
    assert.deepEqual(readTree(place.top, (name) => name.includes('loopkeeper')), before);
    return ran.reply.error.message;
  };

  it('has a line for each sample', () => { assert.deepEqual(Object.keys(samples), sampleNames); });

  for (const [name, seen] of Object.entries(samples)) {
    it(`${name}: shown right, reset with all else kept, undone byte for byte`, async () => {
      putRuns(place, { [name]: sampleText(name) });
      fs.chmodSync(runFileOf(place, name), 0o640);
      const before = bytes(name);
      // By the core: starting the program for each look would be most of the time these tests take.
      const run = parseRunState(before.toString(), name);
      const shown = RunView.parse(runView({ id: name, path: runFileOf(place, name), readOnly: false }, run, { raymond: raymondOf(place), processes: [], now: Date.now() }));
      assert.deepEqual(shown.agents.map((agent, index): Seen => {
        const stack = stackView(run.agents[index] ?? assert.fail()).map((frame): Seen[5][number] => [frame.returnsTo, frame.session, frame.directory]);
        return [agent.name, agent.state, agent.status, agent.session, agent.directory, stack, agent.input];
      }), seen);
      assert.match(shown.executionSentence, /^running or stopped: unknown, written \d+ s ago$/);

      const last = seen.length - 1;
      const agent = seen[last]?.[0] ?? '';
      const args = ['reset', name, '--agent', agent, '--to', 'FRESH.md'];
      const dry = await workflowJson(place, [...args, '--dry-run'], WorkflowResetReply);
      assert.deepEqual(bytes(name), before);
      assert.equal(fs.existsSync(path.join(raymondOf(place), 'loopkeeper')), false, 'looking creates nothing');
      const done = await workflowJson(place, [...args, '--expect', dry.reply.digest], WorkflowResetReply);
      assert.equal(done.code, 0, JSON.stringify(done.reply));
      assert.deepEqual({ ...done.reply, dryRun: true, plan: dry.reply.plan, items: [], warnings: [] }, { ...dry.reply, items: [], warnings: [] });
      assert.deepEqual(done.reply.items.map((item) => item.removed), dry.reply.items.map((item) => item.removed));

      const { agents } = JSON.parse(before.toString()) as { agents: { stack: unknown[] | null }[] };
      const after = JSON.parse(bytes(name).toString()) as { agents: { stack: unknown[]; current_state: string; session_id: unknown }[] };
      assert.deepEqual(after.agents[last]?.stack, agents[last]?.stack ?? []);
      assert.deepEqual([after.agents[last]?.current_state, after.agents[last]?.session_id], ['FRESH.md', null]);
      if (name !== '14_old_minimal_state') assert.equal(bytes(name).toString(), resetText(sampleText(name), last, 'FRESH.md'));
      assert.equal(fs.statSync(runFileOf(place, name)).mode & 0o777, 0o640);

      assert.equal((await undo(done.reply.plan)).code, 0);
      assert.deepEqual(bytes(name), before);
      assert.equal(fs.statSync(runFileOf(place, name)).mode & 0o777, 0o640);
    });
  }

  it('a stopped run with a stack of three goes to another state by its bare name, the stack stays, the event says so once', async () => {
    const flow = path.join(place.work, 'flow');
    fs.mkdirSync(path.join(flow, 'job'), { recursive: true });
    for (const state of ['1_START.md', 'LOOP.md', 'REVIEW.sh', 'README.md']) fs.writeFileSync(path.join(flow, state), 'x <result>y</result>');
    const stack = ['A', 'B', 'C'].map((state, index) => ({ session: `S${String(index)}`, state: `${state}.md`, scope_dir: flow, cwd: flow, task_folder: '/t' }));
    putRuns(place, { nightly: runText({ stack, pending_result: 'old', cwd: flow, scope_dir: flow, status: 'paused', retry_count: 3, error: 'boom', task_folder: '/t' }) });
    const before = bytes('nightly');
    const deeper = path.join(flow, 'job');
    const { reply: shown } = await workflowJson(place, ['show', 'nightly'], WorkflowShowReply, deeper);
    assert.deepEqual(shown.states, [['1_START.md', 'LOOP.md', 'REVIEW.sh']]);
    assert.deepEqual(shown.stacks[0]?.map((frame) => frame.returnsTo), ['C.md', 'B.md', 'A.md']);

    const { reply, code } = await workflowJson(place, ['reset', 'nightly', '--to', 'REVIEW', '--cd', 'job', '--input', 'a <b> & \u2028'], WorkflowResetReply, deeper);
    assert.equal(code, 0);
    assert.deepEqual(reply.warnings, []);
    assert.deepEqual(reply.items[0]?.removed, ['session', 'input', 'error']);
    assert.deepEqual(reply.items[0]?.kept[0], { what: 'return stack', why: '3 deep; the next result goes back to C.md' });
    assert.deepEqual(reply.reset.stack.map((frame) => frame.returnsTo), ['C.md', 'B.md', 'A.md']);
    const text = bytes('nightly').toString();
    assert.ok(text.includes('"pending_result": "a \\u003cb\\u003e \\u0026 \\u2028"'), text);
    const agent = (JSON.parse(text) as { agents: unknown[] }).agents[0];
    assert.deepEqual(agent, {
      id: 'main', current_state: 'REVIEW.sh', session_id: null, stack, pending_result: 'a <b> & \u2028', cwd: deeper, scope_dir: flow, task_folder: '/t', ask_entered_at: '0001-01-01T00:00:00Z',
    });
    const list = await runCli(['undo', '--list', '--json'], { cwd: deeper, env: cleanEnv(place.home) });
    assert.deepEqual(UndoListReply.parse(JSON.parse(list.stdout)).plans.map(({ plan, state, items }) => [plan, state, items]), [[reply.plan, 'undoable', ['nightly']]]);
    await undo(reply.plan);
    assert.deepEqual(bytes('nightly'), before);
    const events = fs.readFileSync(path.join(raymondOf(place), 'loopkeeper', 'events.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(events.map(({ event, run, agent: name, from, to, stack: depth, actor, removed, restored }) => ({ event, run, name, from, to, depth, actor, removed, restored })), [
      { event: 'workflow.reset', run: 'nightly', name: 'main', from: 'LOOP.md', to: 'REVIEW.sh', depth: 3, actor: 'tester', removed: ['session', 'input', 'error'], restored: undefined },
      { event: 'workflow.reset_undone', run: undefined, name: undefined, from: undefined, to: undefined, depth: undefined, actor: 'tester', removed: undefined, restored: ['session', 'input', 'error'] },
    ]);
    assert.equal(fs.readFileSync(path.join(raymondOf(place), 'loopkeeper', '.gitignore'), 'utf8'), '*\n');
  });

  it('a run that changed since it was shown is left alone: exit 3; nothing can be undone over a later change', async () => {
    putRuns(place, { nightly: runText({}) });
    const dry = await workflowJson(place, ['reset', 'nightly', '--to', 'A.md', '--dry-run'], WorkflowResetReply);
    const again = await workflowJson(place, ['reset', 'nightly', '--to', 'A.md', '--dry-run'], WorkflowResetReply);
    assert.equal(again.reply.digest, dry.reply.digest);
    putRuns(place, { nightly: runText({ session_id: 'S10' }) });
    await refused(['reset', 'nightly', '--to', 'A.md', '--expect', dry.reply.digest], 3, 'stale-plan');
    const done = await workflowJson(place, ['reset', 'nightly', '--to', 'A.md'], WorkflowResetReply);
    putRuns(place, { nightly: runText({ session_id: 'S11' }) });
    const { code, reply } = await undo(done.reply.plan);
    assert.deepEqual([code, reply.items[0]?.errors.map((error) => error.kind)], [3, ['changed']]);
    assert.equal(bytes('nightly').toString(), runText({ session_id: 'S11' }));
  });

  it('refuses what cannot be meant, with the state file as it was', async () => {
    const flow = path.join(place.work, 'flow');
    fs.mkdirSync(flow);
    fs.writeFileSync(path.join(flow, 'A.md'), 'x');
    fs.writeFileSync(path.join(flow, 'A.sh'), 'x');
    fs.writeFileSync(path.join(place.work, 'flow.zip'), 'PK');
    putRuns(place, {
      nightly: runText({ scope_dir: flow }), pack: runText({ scope_dir: path.join(place.work, 'flow.zip') }), two: sampleText('13_duplicate_agent_id'), broken: '{"workflow_id":', empty: runText({}, { agents: [] }),
    });
    putRuns(place, { served: runText({}) }, 'serve-state');
    fs.symlinkSync(runFileOf(place, 'nightly'), runFileOf(place, 'linked'));
    await refused(['reset', 'nightly'], 2, 'usage');
    await refused(['reset', 'nightly', '--to', 'NOWHERE'], 2, 'no-such-state');
    await refused(['reset', 'nightly', '--to', '../A.md'], 2, 'no-such-state');
    assert.match(await refused(['reset', 'nightly', '--to', 'A'], 2, 'no-such-state'), /A\.md or A\.sh/);
    await refused(['reset', 'nightly', '--to', 'A.md', '--agent', 'other'], 2, 'no-such-agent');
    await refused(['reset', 'pack', '--to', 'A.md'], 2, 'unsupported-scope');
    assert.match(await refused(['reset', 'two', '--to', 'A.md'], 2, 'ambiguous-agent'), /main, main_worker1, main_worker1#2/);
    await refused(['reset', 'two', '--agent', 'main_worker1', '--to', 'A.md'], 2, 'ambiguous-agent');
    await refused(['reset', 'empty', '--to', 'A.md'], 2, 'no-such-agent');
    await refused(['reset', 'served', '--to', 'A.md'], 2, 'read-only-run');
    await refused(['reset', 'broken', '--to', 'A.md'], 1, 'unreadable-run');
    await refused(['reset', 'linked', '--to', 'A.md'], 1, 'unsafe-path');
    await refused(['reset', 'gone', '--to', 'A.md'], 1, 'no-such-run');
    await refused(['reset', '../state/nightly', '--to', 'A.md'], 2, 'invalid-run-id');
    const own = await workflowJson(place, ['reset', 'nightly', '--to', 'A.md'], ErrorReply, place.work, { CLAUDE_CODE_SESSION_ID: 'S9' });
    assert.deepEqual([own.code, own.reply.error.kind], [2, 'own-session']);
    const first = await workflowJson(place, ['reset', 'two', '--agent', 'main_worker1#1', '--to', 'A.md'], WorkflowResetReply);
    assert.equal(first.reply.reset.before.state, 'WORKER.sh');
    assert.deepEqual(first.reply.warnings.map((warning) => warning.kind), ['state-not-checked']);
  });

  it('says that a directory given by hand reaches the caller where raymond left the frame without one', async () => {
    putRuns(place, { nightly: runText({ stack: [{ session: null, state: 'AFTER.md' }] }) });
    const { reply } = await workflowJson(place, ['reset', 'nightly', '--to', 'A.md', '--cd', 'nowhere', '--dry-run'], WorkflowResetReply);
    assert.deepEqual(reply.warnings.map((warning) => warning.kind), ['state-not-checked', 'directory-reaches-caller', 'no-such-directory']);
    assert.equal(reply.reset.after.directory, path.join(place.work, 'nowhere'));
  });

  describe('a run that is being executed is not touched', () => {
    const children: ChildProcess[] = [];
    afterEach(() => { for (const child of children.splice(0)) child.kill('SIGKILL'); });
    const start = async (command: string, args: string[], env: Record<string, string> = {}): Promise<void> => {
      const child = spawn(command, args, { cwd: place.work, env: { ...cleanEnv(place.home), ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
      children.push(child);
      await new Promise((resolve) => { child.stdout.once('data', resolve); });
    };
    const forever = 'process.stdout.write("x"); setInterval(() => {}, 1000)';
    const execution = async (id: string): Promise<string> => (await workflowJson(place, ['show', id], WorkflowShowReply)).reply.run.execution;

    it('by us: the lease of a living holder; one of a dead holder says that it stopped', async () => {
      putRuns(place, { nightly: runText({}) });
      const lease = path.join(raymondOf(place), 'loopkeeper', 'leases', 'nightly');
      fs.mkdirSync(path.dirname(lease), { recursive: true });
      const holder = { pid: process.pid, startTime: startTimeOf(process.pid), ...pidSpace(), verb: 'workflow run', since: '2026-11-30T18:00:00Z', nonce: 'n' };
      fs.writeFileSync(lease, JSON.stringify(holder));
      await refused(['reset', 'nightly', '--to', 'A.md'], 2, 'run-is-executed');
      assert.equal(await execution('nightly'), 'loopkeeper');
      fs.writeFileSync(lease, JSON.stringify({ ...holder, host: 'elsewhere' }));
      await refused(['reset', 'nightly', '--to', 'A.md'], 2, 'run-is-executed');
      fs.writeFileSync(lease, JSON.stringify({ ...holder, startTime: '1' }));
      assert.equal(await execution('nightly'), 'stopped');
      assert.equal((await workflow(place, ['reset', 'nightly', '--to', 'A.md'])).code, 0);
    });

    // Elsewhere the system does not tell where a process is, so a raymond is not seen.
    if (process.platform === 'linux') it('by raymond: its process, or a script it started, or a file it is writing', async () => {
      putRuns(place, { nightly: runText({}), other: runText({}, { started_at: new Date(Date.now() + 1000).toISOString() }), old: runText({}) });
      fs.symlinkSync(process.execPath, path.join(place.top, 'ray'));
      assert.equal(await execution('nightly'), 'unknown');
      await start(path.join(place.top, 'ray'), ['-e', forever, '--', '--resume', 'nightly']);
      assert.equal(await execution('nightly'), 'raymond');
      assert.match(await refused(['reset', 'nightly', '--to', 'A.md'], 2, 'run-is-executed'), /raymond seems to be at it, pid \d+/);
      assert.equal(await execution('other'), 'unknown');
      // Without an id of its own it is at a run that began when it did.
      await start(path.join(place.top, 'ray'), ['-e', forever]);
      assert.equal(await execution('other'), 'raymond');
      assert.equal(await execution('old'), 'unknown');
      for (const child of children.splice(0)) child.kill('SIGKILL');
      await start(process.execPath, ['-e', forever], { RAYMOND_WORKFLOW_ID: 'old', RAYMOND_TASK_FOLDER: path.join(raymondOf(place), 'tasks/old/main') });
      await refused(['reset', 'old', '--to', 'A.md'], 2, 'run-is-executed');
      for (const child of children.splice(0)) child.kill('SIGKILL');
      const temporary = path.join(raymondOf(place), 'state', 'nightly_1234.tmp');
      fs.writeFileSync(temporary, '{');
      await refused(['reset', 'nightly', '--to', 'A.md'], 2, 'run-is-executed');
      fs.utimesSync(temporary, 1, 1);
      assert.equal((await workflow(place, ['reset', 'nightly', '--to', 'A.md'])).code, 0);
    });
  });

  it('lists what needs a person first, the daemon\'s runs too, and what cannot be read as such; temporary files are none', async () => {
    putRuns(place, Object.fromEntries(['02_after_call', '07_asking', '09_paused_claude_error_inside_call_after_reset'].map((name) => [name, sampleText(name)])));
    putRuns(place, { broken: '{', 'broken_1.tmp': '{' });
    putRuns(place, { served: runText({}) }, 'serve-state');
    for (const [index, id] of ['02_after_call', '07_asking', 'broken'].entries()) fs.utimesSync(runFileOf(place, id), 1_700_000_000 + index, 1_700_000_000 + index);
    const before = readTree(place.top);
    const { code, reply } = await workflowJson(place, ['list'], WorkflowListReply);
    assert.equal(code, 0);
    assert.deepEqual(reply.runs.map((run) => [run.id, run.readOnly, run.attention[0]?.kind ?? null]), [
      ['07_asking', false, 'asks-you'], ['09_paused_claude_error_inside_call_after_reset', false, 'failed'], ['broken', false, 'unreadable'], ['served', true, null], ['02_after_call', false, null],
    ]);
    assert.match(reply.runs[2]?.problem ?? '', /broken\.json cannot be read as a workflow run: it is no JSON/);
    assert.deepEqual(reply.runs[1]?.agents[0], {
      name: 'main', state: 'LOOP2.md', status: 'paused', session: null, forks: false, directory: null, scope: '/home/dev/runs/e29/wf', nestingDepth: 0, taskFolder: '/home/dev/runs/e29/.raymond/tasks/x/main',
      depth: 1, returnsTo: 'A.md', input: 'carry', ask: null, error: 'Claude Code execution failed: claude command failed with return code 7\nStderr: boom\n', retries: 3,
    });
    assert.deepEqual(readTree(place.top), before);
    const text = (await workflow(place, ['list'])).stdout;
    assert.match(text, /07_asking: main asks: Give <b>me<\/b> & a file/);
    assert.match(text, /02_after_call .*1, returns to AFTER\.sh .*running or stopped: unknown, written \d+ days ago/);
  });

  it('shows for a person: the question, the pending fork, the stack from top to bottom', async () => {
    putRuns(place, Object.fromEntries(sampleNames.map((name) => [name, sampleText(name)])));
    const show = async (name: string): Promise<string> => (await workflow(place, ['show', name])).stdout;
    assert.match(await show('07_asking'), /asks +Give <b>me<\/b> & a file\n +the answer goes to N\.sh; asked 2026-11-30T18:07:12\.60198561Z; after 1h to T\n/);
    assert.match(await show('05_after_call_with_session'), /session +S1, the caller's; the next turn forks it\n/);
    assert.match(await show('10_nested_2_frames_reset_cd_tasknew'), /stack +2 frames, the next return first\n +1 {2}BACK\.sh .*\n +2 {2}AFTER\.sh /);
  });

  it('finds nothing outside of a project, and follows no folder out of .raymond', async () => {
    const { reply } = await workflowJson(place, ['list'], WorkflowListReply);
    assert.deepEqual([reply.directory, reply.runs], [null, []]);
    await refused(['show', 'nightly'], 1, 'no-raymond');
    fs.mkdirSync(path.join(place.top, 'outside'));
    fs.writeFileSync(path.join(place.top, 'outside', 'nightly.json'), runText({}));
    fs.mkdirSync(raymondOf(place));
    fs.symlinkSync(path.join(place.top, 'outside'), path.join(raymondOf(place), 'state'));
    await refused(['list'], 1, 'unsafe-path');
    await refused(['reset', 'nightly', '--to', 'A.md'], 1, 'unsafe-path');
    assert.equal(fs.readFileSync(path.join(place.top, 'outside', 'nightly.json'), 'utf8'), runText({}));
  });

  it('lint: places, level and exit code; diagram and guide', async () => {
    const flow = path.join(place.work, 'flow');
    fs.mkdirSync(flow);
    fs.writeFileSync(path.join(flow, '1_START.md'), '<call return="AFTER">LOOP</call>');
    fs.writeFileSync(path.join(flow, 'LOOP.md'), 'One round.\n  <goto>LOOP</goto> <result>x</result>');
    fs.writeFileSync(path.join(flow, 'AFTER.md'), '<result>x</result>');
    const warned = await workflowJson(place, ['lint', 'flow'], WorkflowLintReply);
    assert.deepEqual([warned.code, warned.reply.counts, warned.reply.diagnostics.map(({ check, line, column, endColumn }) => [check, line, column, endColumn])], [0, { error: 0, warning: 1, info: 0 }, [['growing-context', 2, 3, 9]]]);
    assert.match((await workflow(place, ['lint', 'flow'])).stdout, /^flow\/LOOP\.md:2:3: warning: .* \[growing-context\]\n0 errors, 1 warning, 0 notes\n$/);
    fs.writeFileSync(path.join(flow, 'AFTER.md'), '<goto>NOWHERE</goto>');
    const failed = await workflowJson(place, ['lint', 'flow', '--level', 'error'], WorkflowLintReply);
    assert.deepEqual([failed.code, failed.reply.counts, failed.reply.diagnostics.map(({ check }) => check)], [1, { error: 1, warning: 1, info: 0 }, ['missing-target']]);
    await refused(['lint', 'flow', '--level', 'all'], 2, 'usage');
    await refused(['lint', 'flow.zip'], 2, 'unsupported-scope');
    await refused(['lint', 'https://example.com/x.zip'], 2, 'unsupported-scope');
    const drawn = await workflowJson(place, ['diagram', 'flow'], WorkflowDiagramReply);
    assert.match(drawn.reply.mermaid, /LOOP -\.->\|return #40;1_START#41;\| AFTER/);
    const guide = await workflowJson(place, ['guide'], WorkflowGuideReply);
    assert.match(guide.reply.text, /Reset is goto with a fresh session/);
    assert.equal((await workflow(place, ['guide'])).stdout, guide.reply.text);
  });
});
