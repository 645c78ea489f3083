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

/** Takes a transcript's events one after the other. */
export interface Projector { take(event: RetestEvent): void; facts(): SessionFacts }

/**
 * Computes what a transcript says, in one pass (cases README, T1, T5, T6, T9 and G1).
 * Current verdict, adjudicated and evidence look only at events after the last `verdict_cancelled`.
 * Decided here where the cases leave it open: `endedAt` of an ended or failed session is the time of that change.
 */
export function createProjector(): Projector {
  const projection: Projection = { status: 'idle', currentVerdict: null, endedAt: null, history: [], adjudicated: false, goal: [], scope: [] };
  const verdicts: VerdictRecord[] = [];
  const ignored: number[] = [];
  let evidence: Evidence | null = null;
  let finding: string | null = null;
  let startedAt: string | null = null;
  let lastActivity: string | null = null;

  /** False when the payload is not as the kind has it. */
  const apply = ({ seq, ts, kind, actor, payload }: RetestEvent): boolean => {
    switch (kind) {
      case 'session_started':
        if (typeof payload.finding !== 'string') return false;
        finding ??= payload.finding;
        return true;
      case 'state_change':
        if (!isStatus(payload.to)) return false;
        projection.status = payload.to;
        projection.endedAt = isLive(payload.to) ? null : ts;
        return true;
      case 'target_set':
        if (!isStrings(payload.endpoints)) return false;
        projection.scope = payload.endpoints;
        return true;
      case 'plan_updated':
        if (!isStrings(payload.steps)) return false;
        projection.goal = payload.steps;
        return true;
      case 'command_output':
        if (typeof payload.command !== 'string') return false;
        evidence = { seq, command: payload.command, exit_code: typeof payload.exit_code === 'number' ? payload.exit_code : null };
        return true;
      case 'verdict':
      case 'verdict_adjudicated': {
        const { status } = payload;
        if (!isVerdictStatus(status)) return false;
        const rationale = typeof payload.rationale === 'string' ? payload.rationale : '';
        const last = verdicts.at(-1);
        if (last?.state === 'current') last.state = 'superseded';
        verdicts.push({ seq, ts, kind, actor, status, rationale, state: 'current', withdrawn: null });
        projection.adjudicated = kind === 'verdict_adjudicated';
        projection.currentVerdict = { seq, status, rationale, actor, evidence: projection.adjudicated ? null : evidence };
        return true;
      }
      case 'verdict_cancelled': {
        const last = verdicts.at(-1);
        if (last?.state === 'current') {
          last.state = 'withdrawn';
          last.withdrawn = { seq, ts, actor, reason: typeof payload.reason === 'string' ? payload.reason : null };
        }
        projection.currentVerdict = null;
        projection.adjudicated = false;
        evidence = null;
        return true;
      }
      default:
        return true;
    }
  };

  return {
    take(event) {
      startedAt ??= event.ts;
      lastActivity = event.ts;
      if (!apply(event)) ignored.push(event.seq);
    },
    facts() {
      projection.history = verdicts.map(({ seq, status, state }) => ({ seq, status, state }));
      return { projection, verdicts, finding, startedAt, lastActivity, ignored };
    },
  };
}

/** What these events say together. */
export function projectSession(events: readonly RetestEvent[]): SessionFacts {
  const projector = createProjector();
  for (const event of events) projector.take(event);
  return projector.facts();
}
