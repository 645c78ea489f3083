import type { Message } from '../../protocol/message';
import type { Attention } from '../../protocol/plan';
import type { ExportReply, RetestListReply, RetestRow, RetestShowReply } from '../../protocol/retest';
import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { decide } from './commands';
import type { Decision } from './commands';
import { compareDetermination } from './audit';
import { determine, verdictOf } from './findings';
import { isLive } from './projection';
import { refusalFailure } from './plans';
import { determinations, readSession, readSessions, readVerdicts } from './store';
import type { OpenSession, Session } from './store';

function attentionOf(session: Session): Attention[] {
  const { id, facts, state } = session;
  const since = facts.lastActivity;
  const command = `loopkeeper retest show ${id}`;
  const attention: Attention[] = [];
  if (facts.projection.status === 'awaiting_operator') attention.push({ kind: 'asks-you', since, sentence: 'The agent handed back and waits for you.', command });
  if (facts.projection.status === 'awaiting_command') attention.push({ kind: 'asks-you', since, sentence: 'A command waits for your approval.', command });
  if (facts.projection.status === 'error') attention.push({ kind: 'failed', since, sentence: 'The session failed.', command });
  if (state.problems.length > 0) attention.push({ kind: 'unreadable', since, sentence: state.corrupt ? 'The transcript has damaged lines.' : 'The last line of the transcript was cut.', command });
  return attention;
}

function rowOf(session: Session): RetestRow {
  const { id, facts, state } = session;
  const { status, currentVerdict, endedAt, adjudicated } = facts.projection;
  return {
    session: id, finding: facts.finding, status, currentVerdict, endedAt, adjudicated, withdrawn: facts.verdicts.filter((verdict) => verdict.state === 'withdrawn').length,
    startedAt: facts.startedAt, lastActivity: facts.lastActivity, events: state.count, problems: state.problems, attention: attentionOf(session), path: session.path,
  };
}

/** What needs a person first, then live, then concluded, then ended and failed. */
function rank(row: RetestRow): number {
  if (row.attention.some(({ kind }) => kind === 'asks-you')) return 0;
  if (row.unreadable !== undefined || row.attention.some(({ kind }) => kind === 'unreadable')) return 1;
  if (isLive(row.status)) return 2;
  return row.status === 'concluded' ? 3 : 4;
}

const warningOf = (events: number[]): Message[] => (events.length === 0 ? []
  : [{ kind: 'ignored-events', message: `Events whose content is not as their kind has it do not count: ${events.slice(0, 10).join(', ')}${events.length > 10 ? ', …' : ''}.` }]);

/** Every session and every finding, computed from the transcripts; nothing is written, also when verdicts.json is stale. Failures: `unsafe-path`, `io`. */
export function listRetests(reader: Reader, stateRoot: string): RetestListReply {
  const { sessions, unreadable } = readSessions(reader, stateRoot);
  const rows = sessions.map(rowOf);
  for (const { id, path, problem } of unreadable) {
    rows.push({
      session: id, finding: null, status: 'error', currentVerdict: null, endedAt: null, adjudicated: false, withdrawn: 0, startedAt: null, lastActivity: null, events: 0, problems: [],
      attention: [{ kind: 'unreadable', since: null, sentence: problem, command: '' }], path, unreadable: problem,
    });
  }
  rows.sort((a, b) => rank(a) - rank(b) || ((b.lastActivity ?? '') > (a.lastActivity ?? '') ? 1 : (b.lastActivity ?? '') < (a.lastActivity ?? '') ? -1 : 0) || (a.session < b.session ? -1 : 1));
  const byFinding = new Map<string, string[]>();
  for (const { session, finding } of rows) if (finding !== null) byFinding.set(finding, [...(byFinding.get(finding) ?? []), session]);
  const current = determinations(sessions);
  const warnings: Message[] = [];
  if (sessions.length > 0 && isStale(reader, stateRoot, sessions)) {
    warnings.push({ kind: 'stale-verdicts', message: 'verdicts.json is not what the transcripts say. This list is computed from them; the next retest command writes the file anew.' });
  }
  return {
    verb: 'retest-list', stateRoot, sessions: rows, warnings,
    findings: [...byFinding].map(([finding, ids]) => ({ finding, determination: current.get(finding) ?? null, sessions: ids })),
  };
}

function isStale(reader: Reader, stateRoot: string, sessions: readonly Session[]): boolean {
  const stored = readVerdicts(reader, stateRoot);
  if (stored === undefined || stored === 'unreadable') return true;
  const current = determinations(sessions);
  const known = new Map(stored.findings.map(({ finding, ...verdict }) => [finding, verdict]));
  return stored.sessions.length !== sessions.length
    || [...new Set([...current.keys(), ...known.keys()])].some((finding) => compareDetermination(known.get(finding) ?? null, current.get(finding) ?? null, () => []).length > 0);
}

/** A session that has to be there. Failures: `unknown-session` (exit 1), those of `readSession`. */
export function openSession(reader: Reader, stateRoot: string, id: string): OpenSession {
  const session = readSession(reader, stateRoot, id);
  if (!session) throw new Failure('unknown-session', `There is no such session: ${id}.`, '`loopkeeper retest list` shows the sessions.', 1, { session: id });
  return session;
}

/** One session: its projection, its history in full, what is wrong with its transcript. Failures as `openSession`. */
export function showRetest(reader: Reader, stateRoot: string, id: string): RetestShowReply {
  const session = openSession(reader, stateRoot, id);
  const { facts, state } = session;
  const others = facts.finding === null ? []
    : readSessions(reader, stateRoot).sessions.filter((other) => other.id !== id && other.facts.finding === facts.finding).map((other) => verdictOf(other.id, other.facts));
  return {
    verb: 'retest-show', session: id, finding: facts.finding, ...facts.projection,
    determination: facts.finding === null ? null : determine([...others, verdictOf(id, facts)]), without: determine(others),
    verdicts: facts.verdicts, problems: state.problems, events: state.count, startedAt: facts.startedAt, lastActivity: facts.lastActivity,
    attention: attentionOf(session), path: session.path, warnings: warningOf(facts.ignored),
  };
}

/** Transcript and projection as one document. `now` is RFC 3339. Failures as `openSession`. */
export function exportRetest(reader: Reader, stateRoot: string, id: string, now: string): ExportReply {
  const { facts, state, events, sha256 } = openSession(reader, stateRoot, id);
  return {
    verb: 'retest-export', version: 1, session: id, finding: facts.finding, exportedAt: now, sha256, projection: facts.projection, verdicts: facts.verdicts,
    transcript: events, problems: state.problems, unreadable: state.unreadable, warnings: warningOf(facts.ignored),
  };
}

/** What waking the session now would append, and the prompt that an agent would get; nothing is written. Failures as `openSession`, and `not-idle`. */
export function previewWake(reader: Reader, stateRoot: string, id: string, message: string | undefined, now: string): { session: OpenSession; decision: Decision } {
  const session = openSession(reader, stateRoot, id);
  const decision = decide({ name: 'wake', args: message === undefined ? {} : { message } }, { events: session.events, nextSeq: session.state.nextSeq }, now);
  if (decision.refused) throw refusalFailure('wake', id, decision.refused, decision.after);
  return { session, decision };
}
