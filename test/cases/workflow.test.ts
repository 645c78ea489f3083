import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseOutput } from '../../src/core/workflow/parse';
import { Agent } from '../../src/core/workflow/stateFile';
import type { Transition } from '../../src/core/workflow/tags';
import { applyTransition, nextTurn, type ResolvedWorkflow } from '../../src/core/workflow/transition';

interface ParseCase { id: string; text: string; kind: 'markdown' | 'script'; expected: unknown }
interface ApplyCase {
  id: string;
  agent: unknown;
  run: { workflow_id: string; task_folder_pattern: string; fork_counters?: Record<string, number>; agents?: string[] };
  transition: Transition;
  env: { cwd: string };
  vars?: Record<string, string>;
  resolver?: Record<string, ResolvedWorkflow | { error: string }>;
  expected: {
    agent: Record<string, unknown> | null;
    worker: Record<string, unknown> | null;
    result: string | null;
    nextTurn?: { resume: string | null; fork: boolean };
    workerVars?: Record<string, string>;
    forkCounters?: Record<string, number>;
  };
}

function casesOf<T>(area: string): T[] {
  const directory = path.join(__dirname, 'workflow', area);
  return fs.readdirSync(directory).sort().map((name) => JSON.parse(fs.readFileSync(path.join(directory, name), 'utf8')) as T);
}

/** Absent = zero value, but a `pending_result` of `""` is present; the time of an ask is not compared. */
function bare(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).filter(([key, inner]) =>
    key !== 'ask_entered_at' && inner !== undefined && inner !== null && inner !== 0 && inner !== false && (inner !== '' || key === 'pending_result'));
  return Object.fromEntries(entries.map(([key, inner]) => [key, key === 'stack' ? (inner as Record<string, unknown>[]).map(bare) : inner]));
}

function assertAgent(actual: Agent | null, expected: Record<string, unknown> | null): void {
  if (actual === null || expected === null) {
    assert.equal(actual, expected);
    return;
  }
  const [got, wanted] = [bare(actual), bare(expected)];
  for (const [key, value] of Object.entries(wanted)) {
    const text = typeof got[key] === 'string' ? got[key] : '';
    if (value === '@any') { assert.notEqual(text, '', key); wanted[key] = got[key]; }
    if (value === '@ask_id') { assert.match(text, new RegExp(`^ask_${actual.id}_\\d+$`)); wanted[key] = got[key]; }
  }
  assert.deepEqual(got, wanted);
}

describe('workflow cases: parse', () => {
  for (const { id, text, kind, expected } of casesOf<ParseCase>('parse')) {
    it(id, () => { assert.deepEqual(parseOutput(text, kind), expected); });
  }
});

describe('workflow cases: apply', () => {
  for (const { id, agent, run, transition, env, vars, resolver, expected } of casesOf<ApplyCase>('apply')) {
    it(id, () => {
      const before = Agent.parse(agent);
      const copy = structuredClone(before);
      const applied = applyTransition(before, transition, {
        workflowId: run.workflow_id, taskFolderPattern: run.task_folder_pattern, forkCounters: run.fork_counters ?? {}, agentIds: run.agents ?? [before.id],
        cwd: env.cwd, vars: vars ?? {}, now: new Date('2026-11-30T18:00:00Z'), resolve: (specifier) => resolver?.[specifier] ?? { error: 'not found' },
      });
      assert.deepEqual(before, copy, 'the agent given is left as it is');
      assertAgent(applied.agent, expected.agent);
      assertAgent(applied.worker, expected.worker);
      assert.equal(applied.result, expected.result);
      if (expected.nextTurn) assert.deepEqual(applied.agent && nextTurn(applied.agent), expected.nextTurn);
      if (expected.workerVars) assert.deepEqual(applied.workerVars, expected.workerVars);
      if (expected.forkCounters) assert.deepEqual(applied.forkCounters, expected.forkCounters);
    });
  }
});
