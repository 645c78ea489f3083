import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { compareDetermination, compareProjection } from '../../src/core/retest/audit';
import { decide } from '../../src/core/retest/commands';
import type { RetestCommand } from '../../src/core/retest/commands';
import { determine, verdictOf } from '../../src/core/retest/findings';
import { projectSession } from '../../src/core/retest/projection';
import { appendText, readTranscript } from '../../src/core/retest/transcript';
import { root } from '../support/program';
import type { Determination, Projection, RetestEvent, TranscriptProblem } from '../../src/protocol/retest';

interface Session { id: string; transcript: RetestEvent[] }
interface Base { id: string; title: string }
interface ReduceCase extends Base { transcript: RetestEvent[]; expected: Partial<Projection> }
interface CommandCase extends Base {
  before: RetestEvent[] | null; now: string; command: RetestCommand;
  expected: {
    appended: Pick<RetestEvent, 'kind' | 'actor' | 'payload'>[]; refused: string | null; after: Partial<Projection> | null;
    prompt?: { contains: string[]; omits: string[] };
  };
}
interface FindingsCase extends Base { sessions: Session[]; expected: { determination: Determination | null } }
interface AuditCase extends Base {
  transcript?: RetestEvent[]; stored?: Projection; sessions?: Session[]; storedDetermination?: Determination | null;
  expected: { ok: boolean; discrepancies: { field: string; kind: string }[] };
}
interface CorruptCase extends Base { text: string; expected: { events: number; corrupt: boolean; tornTail: boolean; problems: TranscriptProblem[] } }

const folderOfCases = path.join(root, 'test/cases/retest');

function casesOf<T extends Base>(kind: string): T[] {
  const folder = path.join(folderOfCases, kind);
  const cases = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as T);
  assert.ok(cases.length > 0, `no cases in ${folder}`);
  return cases;
}

/** The cases leave `endedAt` open for ended and failed sessions: what is absent there is not compared. */
function sameProjection(actual: Projection | null, expected: Partial<Projection> | null): void {
  if (!actual || !expected) { assert.deepEqual(actual, expected); return; }
  assert.deepEqual(Object.fromEntries(Object.entries(actual).filter(([field]) => field in expected)), expected);
}

const fileOf = (events: readonly RetestEvent[]) => readTranscript(appendText({ unterminated: false }, events));
const byFinding = (sessions: readonly Session[]) => {
  const best = determine(sessions.map(({ id, transcript }) => verdictOf(id, projectSession(transcript))));
  return best && { session: best.session, seq: best.seq, status: best.status, rationale: best.rationale };
};

describe('retest cases', () => {
  for (const test of casesOf<ReduceCase>('reduce')) it(`${test.id}: ${test.title}`, () => {
    sameProjection(projectSession(test.transcript).projection, test.expected);
  });

  for (const test of casesOf<CommandCase>('command')) it(`${test.id}: ${test.title}`, () => {
    const before = test.before && fileOf(test.before);
    const decision = decide(test.command, before, test.now);
    assert.equal(decision.refused, test.expected.refused);
    assert.deepEqual(decision.appended.map(({ kind, actor, payload }) => ({ kind, actor, payload })), test.expected.appended);
    const last = test.before?.at(-1)?.seq ?? 0;
    assert.deepEqual(decision.appended.map(({ seq, ts }) => ({ seq, ts })), test.expected.appended.map((_, index) => ({ seq: last + 1 + index, ts: test.now })));
    sameProjection(decision.after, test.expected.after);
    for (const part of test.expected.prompt?.contains ?? []) assert.ok(decision.prompt?.toLowerCase().includes(part.toLowerCase()), `the prompt lacks ${part}`);
    for (const part of test.expected.prompt?.omits ?? []) assert.ok(!decision.prompt?.toLowerCase().includes(part.toLowerCase()), `the prompt has ${part}`);
  });

  for (const test of casesOf<FindingsCase>('findings')) it(`${test.id}: ${test.title}`, () => {
    assert.deepEqual(byFinding(test.sessions), test.expected.determination);
  });

  for (const test of casesOf<AuditCase>('audit')) it(`${test.id}: ${test.title}`, () => {
    let found: { field: string; kind: string }[] = [];
    if (test.stored) {
      found = compareProjection(test.stored, projectSession(test.transcript ?? []).projection);
    } else {
      const sessions = test.sessions ?? [];
      found = compareDetermination(test.storedDetermination ?? null, byFinding(sessions),
        (id) => projectSession(sessions.find((session) => session.id === id)?.transcript ?? []).projection.history);
    }
    assert.deepEqual({ ok: found.length === 0, discrepancies: found }, test.expected);
  });

  for (const test of casesOf<CorruptCase>('corrupt')) it(`${test.id}: ${test.title}`, () => {
    const { events, corrupt, tornTail, problems } = readTranscript(test.text);
    assert.deepEqual({ events: events.length, corrupt, tornTail, problems }, test.expected);
  });
});
