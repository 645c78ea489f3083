import path from 'node:path';
import { Failure, messageOf } from '../disk/failure';
import { sha256 } from '../disk/hash';
import { assertInside, unsafePath } from '../disk/reader';
import type { Reader } from '../disk/reader';
import { VerdictsFile } from '../../protocol/retest';
import type { FindingVerdict, RetestEvent } from '../../protocol/retest';
import { determine, verdictOf } from './findings';
import { createProjector, projectSession } from './projection';
import type { SessionFacts } from './projection';
import { readTranscript, scanTranscript } from './transcript';
import type { TranscriptState } from './transcript';

/** A retest session as its transcript has it, without the events. */
export interface Session {
  id: string;
  path: string;
  state: TranscriptState;
  facts: SessionFacts;
}
/** One session whole. */
export interface OpenSession extends Session {
  events: RetestEvent[];
  /** The transcript's length in bytes and their SHA-256 in hex. */
  bytes: number;
  sha256: string;
}
/** Every session of a state root; a transcript that cannot be read is named and left out. */
export interface Sessions { sessions: Session[]; unreadable: { id: string; path: string; problem: string }[] }

export const retestDirectory = (stateRoot: string): string => path.join(stateRoot, 'loopkeeper', 'retest');
export const verdictsPath = (stateRoot: string): string => path.join(retestDirectory(stateRoot), 'verdicts.json');

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The file of a session's transcript. Failure `invalid-session` (exit 2) for an id that could name anything else. */
export function transcriptPath(stateRoot: string, id: string): string {
  if (!SESSION_ID.test(id)) {
    throw new Failure('invalid-session', `${JSON.stringify(id)} is no session id.`, 'An id has letters, digits, dots, dashes and underscores, and begins with a letter or digit; `loopkeeper retest list` shows them.', 2);
  }
  return path.join(retestDirectory(stateRoot), `${id}.jsonl`);
}

/** One session, or undefined when there is none. Failures: `invalid-session`, `unsafe-path` (a link, no regular file), `io`. */
export function readSession(reader: Reader, stateRoot: string, id: string): OpenSession | undefined {
  const file = transcriptPath(stateRoot, id);
  assertInside(stateRoot, file);
  const bytes = reader.bytes(file);
  if (!bytes) return undefined;
  const { events, ...state } = readTranscript(bytes.toString('utf8'));
  return { id, path: file, state, facts: projectSession(events), events, bytes: bytes.length, sha256: sha256(bytes) };
}

/** Every session, by id. Failures: `unsafe-path` when the directory is not a plain folder inside the state root, `io`. */
export function readSessions(reader: Reader, stateRoot: string): Sessions {
  const directory = retestDirectory(stateRoot);
  assertInside(stateRoot, path.join(directory, 'x'));
  const found: Sessions = { sessions: [], unreadable: [] };
  for (const name of reader.list(directory)) {
    if (!name.endsWith('.jsonl')) continue;
    const id = name.slice(0, -'.jsonl'.length);
    const file = path.join(directory, name);
    try {
      if (!SESSION_ID.test(id)) throw unsafePath(file, 'named as no session is');
      // As bytes: a line that was cut inside a character is no UTF-8 text, and still a transcript with a torn tail.
      const bytes = reader.bytes(file);
      if (!bytes) continue;
      // Event by event: keeping all of them alive costs more than reading them.
      const projector = createProjector();
      const state = scanTranscript(bytes.toString('utf8'), projector.take);
      found.sessions.push({ id, path: file, state, facts: projector.facts() });
    } catch (error) {
      found.unreadable.push({ id, path: file, problem: messageOf(error) });
    }
  }
  return found;
}

/** What each finding is taken to be, by finding id; null when it has sessions and no current verdict. */
export function determinations(sessions: readonly Session[]): Map<string, FindingVerdict | null> {
  const byFinding = new Map<string, (FindingVerdict | null)[]>();
  for (const session of sessions) {
    const { finding } = session.facts;
    if (finding === null) continue;
    const verdicts = byFinding.get(finding) ?? [];
    verdicts.push(verdictOf(session.id, session.facts));
    byFinding.set(finding, verdicts);
  }
  return new Map([...byFinding].map(([finding, verdicts]) => [finding, determine(verdicts)]));
}

/** verdicts.json as it should be for these sessions. A finding without a current verdict is not in it. */
export function verdictsOf(sessions: readonly Session[]): VerdictsFile {
  const findings = [...determinations(sessions)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    version: 1,
    findings: findings.flatMap(([finding, verdict]) => (verdict ? [{ finding, ...verdict }] : [])),
    sessions: sessions.map(({ id, facts }) => ({ session: id, finding: facts.finding, ...facts.projection })),
  };
}

/** The text of verdicts.json from the transcripts alone: one row a line, so that a change is a short difference. Failures as `readSessions`. */
export function buildVerdicts(reader: Reader, stateRoot: string): string {
  const { version, findings, sessions } = verdictsOf(readSessions(reader, stateRoot).sessions);
  const rows = (entries: readonly unknown[]): string => (entries.length === 0 ? '[]' : `[\n${entries.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')}\n  ]`);
  return `{\n  "version": ${String(version)},\n  "findings": ${rows(findings)},\n  "sessions": ${rows(sessions)}\n}\n`;
}

/** verdicts.json as it is: undefined when absent, `unreadable` when it is not ours or damaged. Never repaired by reading. */
export function readVerdicts(reader: Reader, stateRoot: string): VerdictsFile | 'unreadable' | undefined {
  try {
    const text = reader.text(verdictsPath(stateRoot));
    if (text === undefined) return undefined;
    const parsed = VerdictsFile.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
