import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatRunState, parseRunState, type Agent, type RunState } from '../../src/core/workflow/stateFile';
import type { Transition } from '../../src/core/workflow/tags';
import { applyTransition, nextTurn, type TransitionContext } from '../../src/core/workflow/transition';

const name = fc.constantFrom('A.md', 'B.md', 'C.sh', 'LOOP.md');
const directory = fc.constantFrom('', '.', 'sub', '../other', '/srv/tree', '/srv/a/../b');
const input = fc.option(fc.string({ unit: 'binary', maxLength: 12 }), { nil: undefined });

function attributes(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

const reset: fc.Arbitrary<Transition> = fc.record({
  target: name, cd: fc.option(directory, { nil: undefined }), input, task: fc.constantFrom(undefined, 'new', 'x'),
}).map(({ target, ...rest }) => ({ tag: 'reset', target, attributes: attributes(rest), payload: '' }));

const call: fc.Arbitrary<Transition> = fc.record({
  tag: fc.constantFrom('call' as const, 'function' as const, 'call-workflow' as const, 'function-workflow' as const), target: name, return: name, input,
}).map(({ tag, target, ...rest }) => ({ tag, target, attributes: attributes(rest), payload: '' }));

const other: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({ target: name, input }).map(({ target, ...rest }): Transition => ({ tag: 'goto', target, attributes: attributes(rest), payload: '' })),
  fc.record({ target: name, next: name, input }).map(({ target, ...rest }): Transition => ({ tag: 'fork', target, attributes: attributes(rest), payload: '' })),
  fc.string({ unit: 'binary', maxLength: 12 }).map((payload): Transition => ({ tag: 'result', target: '', attributes: {}, payload })),
);

/** A model turn gives the agent a session; a script leaves it as it is. */
const turn = fc.option(fc.constantFrom('S1', 'S2', 'S3'), { nil: undefined });

const start: Agent = { id: 'main', current_state: 'A.md', session_id: null, stack: [], scope_dir: '/flows/caller', task_folder: '/tasks/w1/main' };

const context: TransitionContext = {
  workflowId: 'w1', taskFolderPattern: '/tasks/{{workflow_id}}/{{agent_id}}', forkCounters: {}, agentIds: ['main'], cwd: '/base', vars: {},
  now: new Date('2026-11-30T18:00:00Z'),
  resolve: (specifier) => ({ scope_dir: `/flows/${specifier}`, entry: '1_START.md', abbrev: 'child' }),
};

/** The agent after a model turn and a transition; one that ended stays where it was, so that sequences go on. */
function step(agent: Agent, session: string | undefined, transition: Transition): Agent {
  return applyTransition(session === undefined ? agent : { ...agent, session_id: session }, transition, context).agent ?? agent;
}

/** An agent at any depth to 50, reached by transitions alone. */
const reached = fc.record({
  depth: fc.integer({ min: 0, max: 50 }),
  pushes: fc.array(fc.tuple(turn, call), { minLength: 50, maxLength: 50 }),
  moves: fc.array(fc.tuple(turn, fc.oneof(reset, call, other)), { maxLength: 20 }),
}).map(({ depth, pushes, moves }) => {
  let agent = start;
  for (const [session, transition] of pushes.slice(0, depth)) {
    // Workflows nest at most four deep, so deeper pushes stay inside the scope.
    const tag = (agent.nesting_depth ?? 0) < 4 ? transition.tag : 'function';
    agent = step(agent, session, { ...transition, tag });
  }
  assert.equal(agent.stack.length, depth);
  for (const [session, transition] of moves) agent = step(agent, session, transition);
  return agent;
});

describe('workflow transitions', function () {
  this.timeout(20_000);

  it('a reset leaves stack, scope and directory deep-equal and the session null, at any depth', () => {
    fc.assert(fc.property(reached, turn, reset, (agent, session, transition) => {
      const after = step(agent, session, transition);
      assert.deepEqual(after.stack, agent.stack);
      for (const key of ['scope_dir', 'scope_url', 'nesting_depth', 'id'] as const) assert.deepEqual(after[key], agent[key], key);
      if (transition.attributes['cd'] === undefined) assert.equal(after.cwd, agent.cwd);
      if (transition.attributes['task'] !== 'new') assert.deepEqual([after.task_folder, after.task_count], [agent.task_folder, agent.task_count]);
      assert.equal(after.session_id, null);
      assert.deepEqual(nextTurn(after), { resume: null, fork: false });
      assert.equal(after.current_state, transition.target);
    }), { numRuns: 2000 });
  });

  it('a result returns exactly what the call pushed, however often the callee reset in between', () => {
    const round = fc.tuple(turn, fc.oneof(reset, fc.record({ target: name, input }).map(({ target, ...rest }): Transition => (
      { tag: 'goto', target, attributes: attributes(rest), payload: '' }))));
    fc.assert(fc.property(reached, turn, call, fc.array(round, { maxLength: 10 }), fc.string(), (agent, session, calling, rounds, payload) => {
      const caller: Agent = session === undefined ? agent : { ...agent, session_id: session };
      fc.pre((caller.nesting_depth ?? 0) < 4 || !calling.tag.endsWith('-workflow'));
      let callee = step(caller, undefined, calling);
      assert.equal(callee.stack.length, caller.stack.length + 1);
      for (const [inner, transition] of rounds) callee = step(callee, inner, transition);
      const back = step(callee, undefined, { tag: 'result', target: '', attributes: {}, payload });
      assert.equal(back.current_state, calling.attributes['return']);
      assert.equal(back.session_id, caller.session_id);
      assert.equal(back.pending_result, payload);
      assert.deepEqual(back.stack, caller.stack);
      for (const key of ['scope_dir', 'scope_url', 'nesting_depth', 'task_folder'] as const) assert.deepEqual(back[key], caller[key], key);
      assert.equal(back.cwd, caller.cwd ?? context.cwd, 'the directory the caller ran in, also where it had none of its own');
    }), { numRuns: 2000 });
  });

  it('what is written is read back the same, and written again to the same bytes', () => {
    fc.assert(fc.property(reached, fc.string({ unit: 'binary' }), fc.float({ noNaN: true, noDefaultInfinity: true, min: 0 }), (agent, text, cost) => {
      const run: RunState = {
        workflow_id: text, scope_dir: '/flows/caller', total_cost_usd: cost, budget_usd: 0, started_at: '2026-11-30T18:01:30.600878997Z', agents: [agent],
        fork_counters: { main: 2, 'main_child': 1 },
      };
      const written = formatRunState(run);
      assert.doesNotMatch(written, /[<>&\u2028\u2029]/);
      const read = parseRunState(written, 'x.json');
      assert.deepEqual(read.agents[0]?.stack, agent.stack);
      assert.deepEqual(read.workflow_id, text);
      assert.equal(formatRunState(read), written);
    }), { numRuns: 500 });
  });
});
