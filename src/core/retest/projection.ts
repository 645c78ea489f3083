import { Projection, RetestStatus, VerdictStatus } from '../../protocol/retest';
import type { Evidence, RetestEvent, VerdictRecord } from '../../protocol/retest';

/** All that follows from a transcript's events. */
export interface SessionFacts {
  projection: Projection;
  /** The history with all that the transcript says about each verdict. */
  verdicts: VerdictRecord[];
  /** The finding that `session_started` names; null in a transcript of another origin. */
  finding: string | null;
  startedAt: string | null;
  lastActivity: string | null;
  /** Numbers of events whose kind is known and whose payload is not as named: kept and not counted. */
  ignored: number[];
}

/** The fields of a projection, in the order in which an audit names them. */
export const projectionFields = Object.keys(Projection.shape) as (keyof Projection)[];

const statuses: ReadonlySet<unknown> = new Set(RetestStatus.options);
const verdictStatuses: ReadonlySet<unknown> = new Set(VerdictStatus.options);
const isStatus = (value: unknown): value is RetestStatus => statuses.has(value);
export const isVerdictStatus = (value: unknown): value is VerdictStatus => verdictStatuses.has(value);
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');

const terminal: ReadonlySet<RetestStatus> = new Set<RetestStatus>(['concluded', 'ended', 'error']);
/** Live: idle, working, awaiting_command, awaiting_operator, stopped. */
export const isLive = (status: RetestStatus): boolean => !terminal.has(status);

/**
 * Computes what a transcript says, in one pass (cases README, T1, T5, T6, T9 and G1).
 * Current verdict, adjudicated and evidence look only at events after the last `verdict_cancelled`.
 * Decided here where the cases leave it open: `endedAt` of an ended or failed session is the time of that change.
 */
export function projectSession(events: readonly RetestEvent[]): SessionFacts {
  const projection: Projection = { status: 'idle', currentVerdict: null, endedAt: null, history: [], adjudicated: false, goal: [], scope: [] };
  const verdicts: VerdictRecord[] = [];
  const ignored: number[] = [];
  let evidence: Evidence | null = null;
  let finding: string | null = null;

  for (const event of events) {
    const { payload } = event;
    let understood = true;
    switch (event.kind) {
      case 'session_started':
        if (typeof payload.finding === 'string') finding ??= payload.finding;
        else understood = false;
        break;
      case 'state_change':
        if (isStatus(payload.to)) {
          projection.status = payload.to;
          projection.endedAt = isLive(payload.to) ? null : event.ts;
        } else understood = false;
        break;
      case 'target_set':
        if (isStrings(payload.endpoints)) projection.scope = payload.endpoints;
        else understood = false;
        break;
      case 'plan_updated':
        if (isStrings(payload.steps)) projection.goal = payload.steps;
        else understood = false;
        break;
      case 'command_output':
        if (typeof payload.command === 'string') {
          evidence = { seq: event.seq, command: payload.command, exit_code: typeof payload.exit_code === 'number' ? payload.exit_code : null };
        } else understood = false;
        break;
      case 'verdict':
      case 'verdict_adjudicated': {
        if (!isVerdictStatus(payload.status)) { understood = false; break; }
        const rationale = typeof payload.rationale === 'string' ? payload.rationale : '';
        const { seq, ts, kind, actor } = event;
        const last = verdicts.at(-1);
        if (last?.state === 'current') last.state = 'superseded';
        verdicts.push({ seq, ts, kind, actor, status: payload.status, rationale, state: 'current', withdrawn: null });
        projection.adjudicated = kind === 'verdict_adjudicated';
        projection.currentVerdict = { seq, status: payload.status, rationale, actor, evidence: projection.adjudicated ? null : evidence };
        break;
      }
      case 'verdict_cancelled': {
        const last = verdicts.at(-1);
        if (last?.state === 'current') {
          last.state = 'withdrawn';
          last.withdrawn = { seq: event.seq, ts: event.ts, actor: event.actor, reason: typeof payload.reason === 'string' ? payload.reason : null };
        }
        projection.currentVerdict = null;
        projection.adjudicated = false;
        evidence = null;
        break;
      }
    }
    if (!understood) ignored.push(event.seq);
  }
  projection.history = verdicts.map(({ seq, status, state }) => ({ seq, status, state }));
  return { projection, verdicts, finding, startedAt: events[0]?.ts ?? null, lastActivity: events.at(-1)?.ts ?? null, ignored };
}
