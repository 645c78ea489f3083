import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareProjection } from '../../src/core/retest/audit';
import { decide, openingEvents } from '../../src/core/retest/commands';
import type { RetestCommand } from '../../src/core/retest/commands';
import { determine, verdictOf } from '../../src/core/retest/findings';
import { projectSession } from '../../src/core/retest/projection';
import { appendText, readTranscript } from '../../src/core/retest/transcript';
import type { Projection, RetestEvent } from '../../src/protocol/retest';

const verdictStatus = fc.constantFrom('fixed', 'still_open', 'inconclusive');
const text = fc.oneof(fc.constantFrom('plain', 'Prüfung\nzweite Zeile', '"quoted" \u2028 \\n', '🙂'), fc.string({ unit: 'binary', maxLength: 12 }));
const command: fc.Arbitrary<RetestCommand> = fc.oneof(
  fc.record({ name: fc.constantFrom('conclude' as const, 'adjudicate' as const), args: fc.record({ status: fc.oneof(verdictStatus, fc.constant('maybe')), rationale: text, actor: fc.constantFrom('agent' as const, 'operator' as const) }) }),
  fc.record({ name: fc.constant('reopen' as const), args: fc.oneof(fc.constant({}), fc.record({ reason: text })) }),
  fc.record({ name: fc.constant('wake' as const), args: fc.oneof(fc.constant({}), fc.record({ message: text })) }),
  fc.record({ name: fc.constant('message' as const), args: fc.record({ text }) }),
);
const end = fc.constant<RetestCommand>({ name: 'end', args: {} });
/** What an agent's turn writes between two commands of an operator. */
const turn = fc.record({ kind: fc.constantFrom('command_output', 'agent_message', 'x_future_kind'), payload: fc.record({ command: text, exit_code: fc.integer({ min: 0, max: 255 }), text }) });
const step = fc.oneof({ weight: 8, arbitrary: command }, { weight: 1, arbitrary: end }, { weight: 2, arbitrary: turn });

const payloadOf: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  state_change: fc.record({ to: fc.constantFrom('idle', 'working', 'awaiting_command', 'awaiting_operator', 'stopped', 'concluded', 'ended', 'error') }),
  target_set: fc.record({ endpoints: fc.array(text, { maxLength: 2 }) }),
  plan_updated: fc.record({ steps: fc.array(text, { maxLength: 2 }) }),
  command_output: fc.record({ command: text, exit_code: fc.nat(255) }),
  verdict: fc.record({ status: verdictStatus, rationale: text }),
  verdict_adjudicated: fc.record({ status: verdictStatus, rationale: text }),
  verdict_cancelled: fc.record({ status: verdictStatus }),
  x_future_kind: fc.dictionary(text, fc.jsonValue()),
};
const anyEvents: fc.Arbitrary<RetestEvent[]> = fc.array(
  fc.constantFrom(...Object.keys(payloadOf)).chain((kind) => fc.record({ kind: fc.constant(kind), payload: payloadOf[kind] ?? fc.constant({}), actor: fc.constantFrom('agent' as const, 'operator' as const, 'system' as const) })),
  { maxLength: 25 },
).map((events) => events.map((event, index) => JSON.parse(JSON.stringify({ seq: index + 1, ts: new Date(Date.UTC(2026, 6, 25) + index * 1000).toISOString(), ...event })) as RetestEvent));

/** G1 word for word, each field found by itself: slow and plain, to hold the one pass against. */
function byDefinition(events: readonly RetestEvent[]): Projection {
  const last = (kinds: string[], from = 0, to = events.length) => {
    for (let index = to - 1; index >= from; index -= 1) if (kinds.includes(events[index]?.kind ?? '')) return index;
    return -1;
  };
  const verdictKinds = ['verdict', 'verdict_adjudicated'];
  const after = last(['verdict_cancelled']) + 1;
  const current = last(verdictKinds, after);
  const change = events[last(['state_change'])];
  const status = (change?.payload.to ?? 'idle') as Projection['status'];
  const verdict = events[current];
  const output = verdict?.kind === 'verdict' ? events[last(['command_output'], after, current)] : undefined;
  const history = events.flatMap((event, index): Projection['history'] => {
    if (!verdictKinds.includes(event.kind)) return [];
    const next = events.slice(index + 1).find((later) => [...verdictKinds, 'verdict_cancelled'].includes(later.kind));
    const state = !next ? 'current' : next.kind === 'verdict_cancelled' ? 'withdrawn' : 'superseded';
    return [{ seq: event.seq, status: event.payload.status as Projection['history'][number]['status'], state }];
  });
  return {
    status,
    currentVerdict: verdict ? {
      seq: verdict.seq, status: verdict.payload.status as Projection['history'][number]['status'], rationale: String(verdict.payload.rationale), actor: verdict.actor,
      evidence: output ? { seq: output.seq, command: String(output.payload.command), exit_code: Number(output.payload.exit_code) } : null,
    } : null,
    endedAt: change && ['concluded', 'ended', 'error'].includes(status) ? change.ts : null,
    history,
    adjudicated: verdict?.kind === 'verdict_adjudicated',
    goal: (events[last(['plan_updated'])]?.payload.steps ?? []) as string[],
    scope: (events[last(['target_set'])]?.payload.endpoints ?? []) as string[],
  };
}

describe('retest properties', () => {
  it('any sequence of commands gives the projection of its replayed transcript; the audit is clean and earlier text stays after each', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let file = appendText({ unterminated: false }, openingEvents('F-1', ['goal'], ['http://lab'], '2026-07-25T10:00:00Z'));
      let stored = projectSession(readTranscript(file).events).projection;
      for (const [index, next] of steps.entries()) {
        const before = readTranscript(file);
        const now = new Date(Date.UTC(2026, 6, 26) + index).toISOString();
        let added: RetestEvent[];
        if ('name' in next) {
          const decision = decide(next, before, now);
          added = decision.appended;
          assert.equal(decision.refused === null, added.length > 0);
          assert.ok(decision.after);
          if (decision.refused) assert.deepEqual(decision.after, stored);
          stored = decision.after;
        } else {
          added = [{ seq: before.nextSeq, ts: now, kind: next.kind, actor: 'agent', payload: next.payload }];
          stored = projectSession([...before.events, ...added]).projection;
        }
        const longer = file + appendText(before, added);
        assert.ok(longer.startsWith(file));
        file = longer;
        const replayed = readTranscript(file);
        assert.deepEqual(replayed.problems, []);
        const { projection } = projectSession(replayed.events);
        assert.deepEqual(projection, stored);
        assert.deepEqual(compareProjection(stored, projection), []);
        if (projection.status === 'concluded') assert.ok(projection.currentVerdict);
        else assert.equal(projection.currentVerdict, null);
      }
    }), { numRuns: 300 });
  });

  it('the one pass gives what the definition says, for any events', () => {
    fc.assert(fc.property(anyEvents, (events) => {
      assert.deepEqual(projectSession(events).projection, byDefinition(events));
    }), { numRuns: 1000 });
  });

  it('a file cut anywhere has whole events and at most a torn tail; the next append closes it and is read whole', () => {
    fc.assert(fc.property(anyEvents, fc.nat(), (events, where) => {
      const whole = Buffer.from(appendText({ unterminated: false }, events));
      const bytes = whole.subarray(0, whole.length === 0 ? 0 : where % (whole.length + 1));
      const cut = readTranscript(bytes.toString('utf8'));
      assert.equal(cut.corrupt, false);
      assert.deepEqual(cut.events, events.slice(0, cut.events.length));
      assert.equal(cut.nextSeq, cut.events.length + 1);
      const next: RetestEvent = { seq: cut.nextSeq, ts: '2026-07-27T00:00:00Z', kind: 'state_change', actor: 'operator', payload: { to: 'ended' } };
      const closed = readTranscript(Buffer.concat([bytes, Buffer.from(appendText(cut, [next]))]).toString('utf8'));
      assert.deepEqual(closed.events, [...cut.events, next]);
      assert.deepEqual(closed.problems.map(({ kind }) => kind), cut.tornTail ? ['not-json'] : []);
      assert.equal(closed.unterminated, false);
    }), { numRuns: 500 });
  });

  it('a withdrawn verdict never determines a finding, whatever the order of the sessions', () => {
    fc.assert(fc.property(fc.array(anyEvents, { maxLength: 6 }), (transcripts) => {
      const verdicts = transcripts.map((events, index) => verdictOf(`s${String(index)}`, projectSession(events)));
      const best = determine(verdicts);
      assert.deepEqual(determine([...verdicts].reverse()), best);
      assert.equal(best === null, verdicts.every((verdict) => verdict === null));
      if (best) {
        const events = transcripts[Number(best.session.slice(1))] ?? [];
        assert.equal(byDefinition(events).currentVerdict?.seq, best.seq);
      }
    }), { numRuns: 300 });
  });
});
