import * as assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Failure } from '../../src/core/disk/failure';
import { pruneRuns, recordRun } from '../../src/core/retention/runLedger';
import { appendRun, pruneLog } from '../../src/core/retention/runLog';
import { pruneTargets } from '../../src/core/retention/targets';
import { writeTarget } from '../../src/core/retention/writeTarget';
import type { Decision } from '../../src/core/retention/decision';

const Args = z.object({
  runId: z.optional(z.string()), workflowName: z.optional(z.string()), headSha: z.optional(z.string()), outcome: z.optional(z.string()), loopRunId: z.optional(z.string()),
  entry: z.optional(z.string()),
  target: z.optional(z.string()), sha: z.optional(z.string()), mode: z.optional(z.enum(['metadata', 'advance', 'pending', 'promote', 'clear_pending'])),
  rejectReason: z.optional(z.string()), openRejections: z.optional(z.string()), pendingPr: z.optional(z.number()), pendingPrUrl: z.optional(z.string()),
  loopName: z.optional(z.string()), writeTarget: z.optional(z.boolean()),
});
const Case = z.object({
  id: z.string(), kind: z.enum(['prune', 'ledger', 'runlog', 'write']), title: z.string(), now: z.string(), inputText: z.nullable(z.string()),
  command: z.nullable(z.object({ name: z.string(), args: z.strictObject(Args.shape) })),
  expectedText: z.nullable(z.string()), plan: z.array(z.object({ key: z.string(), action: z.string(), reason: z.string() })),
  skipped: z.nullable(z.string()), error: z.nullable(z.string()),
});
type Case = z.infer<typeof Case>;
interface Result { text: string | null; decisions: Decision[]; skipped: string | null }

function perform(test: Case): Result {
  const now = new Date(test.now);
  const text = test.inputText;
  const args = test.command?.args;
  if (test.kind === 'prune') return pruneTargets(text ?? '', now);
  if (test.kind === 'ledger') {
    if (args === undefined) return pruneRuns(text ?? '', now);
    return recordRun(text, { ...args, workflowName: args.workflowName ?? '', headSha: args.headSha ?? '', outcome: args.outcome ?? '' }, now);
  }
  if (test.kind === 'runlog') return args === undefined ? pruneLog(text ?? '', now) : appendRun(text, args.entry ?? '', now);
  const mode = args?.mode === 'clear_pending' ? 'clear-pending' : args?.mode ?? 'metadata';
  return writeTarget(text, args?.writeTarget === false ? undefined : { ...args, target: args?.target ?? '', outcome: args?.outcome ?? '', mode }, now);
}

describe('cases: retention', () => {
  const root = join(__dirname, 'retention');
  for (const folder of ['prune', 'ledger', 'runlog', 'write']) {
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.json'));
    it(`has ${folder} cases`, () => { assert.ok(names.length > 0); });
    for (const name of names) {
      const test = Case.parse(JSON.parse(readFileSync(join(root, folder, name), 'utf8')));
      it(`${test.id}: ${test.title}`, () => {
        if (test.error !== null) {
          assert.equal(test.inputText, test.expectedText);
          assert.throws(() => perform(test), (error: unknown) => error instanceof Failure && error.kind === test.error);
          return;
        }
        const result = perform(test);
        assert.equal(result.text, test.expectedText);
        assert.deepEqual(result.decisions, test.plan);
        assert.equal(result.skipped, test.skipped);
      });
    }
  }
});
