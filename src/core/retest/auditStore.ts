import type { AuditReply, Discrepancy, VerdictsFile } from '../../protocol/retest';
import type { Reader } from '../disk/reader';
import { compareDetermination, compareProjection } from './audit';
import { determinations, readSessions, readVerdicts, verdictsPath } from './store';
import type { Session } from './store';
import type { TranscriptState } from './transcript';

/**
 * True when no event can be missing: a cut last line is none yet, and a line that was cut and then closed is followed by the event that was due,
 * which the sequence proves. A line that is no JSON at the very end may have been an event.
 */
function isWhole({ problems, unreadable, count }: TranscriptState): boolean {
  const lines = count + unreadable.length;
  return problems.every(({ kind, line }) => kind === 'torn-tail'
    || (kind === 'not-json' && lines - line > unreadable.filter((other) => other.line > line).length));
}

function sentence(subject: string, field: string, kind: Discrepancy['kind']): string {
  switch (kind) {
    case 'withdrawn-verdict': return `${subject}: verdicts.json holds a verdict that the transcript says is withdrawn.`;
    case 'not-stored': return `${subject} is not in verdicts.json.`;
    case 'no-transcript': return `${subject} is in verdicts.json and has no transcript.`;
    case 'unreadable': return `${subject} cannot be read.`;
    case 'differs': return `${subject}: ${field} in verdicts.json is not what the transcript says.`;
  }
}

/**
 * Recomputes every projection and names where verdicts.json differs, and what is wrong with each transcript (cases README, T11). Writes nothing.
 * Not ok: any discrepancy, an unreadable transcript, or one that may lack events. Without a verdicts.json there is nothing to differ.
 * Failures: `unsafe-path`, `io`.
 */
export function auditRetests(reader: Reader, stateRoot: string): AuditReply {
  const { sessions, unreadable } = readSessions(reader, stateRoot);
  const stored = readVerdicts(reader, stateRoot);
  const discrepancies: Discrepancy[] = unreadable.map(({ id, problem }) => ({ session: id, field: 'transcript', kind: 'unreadable', message: problem }));
  if (stored === 'unreadable') discrepancies.push({ field: 'verdicts.json', kind: 'unreadable', message: sentence(verdictsPath(stateRoot), '', 'unreadable') });
  else if (stored) discrepancies.push(...compareSessions(stored, sessions, new Set(unreadable.map(({ id }) => id))), ...compareFindings(stored, sessions));
  const problems = sessions.flatMap(({ id, state }) => state.problems.map((problem) => ({ session: id, ...problem })));
  const whole = sessions.every(({ state }) => isWhole(state));
  const warnings = stored === undefined && sessions.length > 0
    ? [{ kind: 'no-verdicts', message: 'There is no verdicts.json to compare with; the next retest command writes it.' }] : [];
  return { verb: 'retest-audit', stateRoot, ok: discrepancies.length === 0 && whole, sessions: sessions.length + unreadable.length, discrepancies, problems, warnings };
}

function compareSessions(stored: VerdictsFile, sessions: readonly Session[], unreadable: ReadonlySet<string>): Discrepancy[] {
  const rows = new Map(stored.sessions.map((row) => [row.session, row]));
  const found = sessions.flatMap(({ id, facts }): Discrepancy[] => {
    const row = rows.get(id);
    rows.delete(id);
    if (!row) return [{ session: id, field: 'session', kind: 'not-stored', message: sentence(`Session ${id}`, '', 'not-stored') }];
    const differences = compareProjection(row, facts.projection);
    if (row.finding !== facts.finding) differences.push({ field: 'finding', kind: 'differs' });
    return differences.map(({ field, kind }) => ({ session: id, field, kind, message: sentence(`Session ${id}`, field, kind) }));
  });
  for (const id of rows.keys()) if (!unreadable.has(id)) found.push({ session: id, field: 'session', kind: 'no-transcript', message: sentence(`Session ${id}`, '', 'no-transcript') });
  return found;
}

function compareFindings(stored: VerdictsFile, sessions: readonly Session[]): Discrepancy[] {
  const current = determinations(sessions);
  const known = new Map(stored.findings.map(({ finding, ...verdict }) => [finding, verdict]));
  const historyOf = (id: string) => sessions.find((session) => session.id === id)?.facts.projection.history ?? [];
  return [...new Set([...current.keys(), ...known.keys()])].sort().flatMap((finding) =>
    compareDetermination(known.get(finding) ?? null, current.get(finding) ?? null, historyOf)
      .map(({ field, kind }) => ({ finding, field, kind, message: sentence(`Finding ${finding}`, field, kind) })));
}
