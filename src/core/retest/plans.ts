import path from 'node:path';
import type { Message } from '../../protocol/message';
import type { FindingVerdict, Projection, RetestChangeReply, RetestEvent } from '../../protocol/retest';
import { Failure } from '../disk/failure';
import { sha256 } from '../disk/hash';
import { assertInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import type { PlanDraft } from '../plan/engine';
import { ABSENT } from '../plan/plan';
import type { EventTemplate, PlanItem, Step } from '../plan/plan';
import { decide, openingEvents } from './commands';
import type { Refusal, RetestCommand } from './commands';
import { determine, verdictOf } from './findings';
import { isLive, projectSession } from './projection';
import type { SessionFacts } from './projection';
import { determinations, readSession, readSessions, retestDirectory, transcriptPath, verdictsPath } from './store';
import type { OpenSession } from './store';
import { appendText } from './transcript';

/** Where the sessions are, where a line for the event log goes (null when the log is switched off), and whose name it carries. */
export interface RetestPlace { stateRoot: string; eventLog: { path: string; root: string } | null; user?: string }

/** A plan, and what it means for the session: the fields that a reply has besides those of every plan. */
export interface RetestPlan {
  draft: PlanDraft;
  meaning: Pick<RetestChangeReply, 'session' | 'finding' | 'appended' | 'closed' | 'after' | 'determination' | 'prompt' | 'path'>;
}

/** The target name under which verdicts.json is made anew. */
export const VERDICTS_TARGET = 'retest-verdicts';

const pastOf = { conclude: 'concluded', adjudicate: 'adjudicated', reopen: 'reopened', end: 'ended', wake: 'woken', message: 'message', start: 'started' } as const;

/** The way back from each command, as the step's reason says it; none for the others. */
const inverseOf: Partial<Record<keyof typeof pastOf, (id: string) => string>> = {
  conclude: (id) => `loopkeeper retest reopen ${id}`,
  adjudicate: (id) => `loopkeeper retest reopen ${id}`,
  reopen: (id) => `loopkeeper retest conclude ${id}`,
};

const wants: Record<Refusal, (command: string) => { message: string; hint: string }> = {
  'unknown-session': () => ({ message: 'There is no such session', hint: '`loopkeeper retest list` shows the sessions.' }),
  'not-concluded': (command) => ({ message: `only a concluded session can be ${command === 'reopen' ? 'reopened' : 'adjudicated'}`, hint: 'See `loopkeeper retest show`; an ended or failed session cannot be taken up again, start a new one.' }),
  'not-idle': () => ({ message: 'only an idle session can be woken', hint: 'Send a working session a message; reopen a concluded one first.' }),
  'not-live': () => ({ message: 'it takes no more commands', hint: 'Reopen it if it is concluded; else start a new session.' }),
  'no-verdict': () => ({ message: 'it has no current verdict to adjudicate', hint: 'Reopen it, then conclude it with a verdict.' }),
  'invalid-argument': () => ({ message: 'the verdict has to be fixed, still_open or inconclusive', hint: 'Give one of them with --status.' }),
};

/** A refusal as the error that a person reads; the session's status is named in it. Exit 1 for a session that is not there, else 2. */
export function refusalFailure(command: RetestCommand['name'], session: string, refused: Refusal, after: Projection | null): Failure {
  const { message, hint } = wants[refused](command);
  if (!after) return new Failure(refused, `${message}: ${session}.`, hint, 1, { session });
  return new Failure(refused, `${session} is ${after.status}: ${message}.`, hint, 2, { session, status: after.status });
}

/**
 * Plans one command on a session: one append of all its events, then verdicts.json anew. `now` is RFC 3339.
 * Failures: a refusal of the cases README, G4 (exit 2; `unknown-session` exit 1), `invalid-session`, `unsafe-path`, `io`.
 */
export function planCommand(reader: Reader, place: RetestPlace, id: string, command: RetestCommand, now: string): RetestPlan {
  const session = readSession(reader, place.stateRoot, id);
  const decision = decide(command, session ? { events: session.events, nextSeq: session.state.nextSeq } : null, now);
  if (!session || decision.refused || !decision.after) throw refusalFailure(command.name, id, decision.refused ?? 'unknown-session', decision.after);
  const { facts, state, path: file } = session;
  const text = appendText(state, decision.appended);
  const determination = determinationChange(reader, place.stateRoot, session, decision.appended);
  const inverse = inverseOf[command.name]?.(id);
  const reason = inverse === undefined ? 'a transcript only grows: this cannot be taken back' : `a transcript only grows: it is taken back by \`${inverse}\``;
  const closed = state.tornTail ? 'torn-tail' : state.unterminated ? 'no-newline' : null;
  const item: PlanItem = {
    ref: id, found: true, live: isLive(facts.projection.status), kept: [], errors: [], notices: noticesOf(command, session, closed),
    // What a person agrees to: the text that is appended and what the finding shows then, but not when.
    decision: { status: facts.projection.status, verdict: facts.verdicts.at(-1)?.seq ?? null, appended: decision.appended.map(({ kind, actor, payload }) => ({ kind, actor, payload })), finding: determination.after && { session: determination.after.session, status: determination.after.status } },
  };
  const step: Step = { kind: 'appendBytes', item: id, path: file, root: place.stateRoot, offset: session.bytes, text, exclusive: true, reason, undo: inverse === undefined ? 'none' : 'inverse', phase: 0 };
  return {
    meaning: {
      session: id, finding: facts.finding, appended: decision.appended, closed, after: decision.after, determination, path: file,
      ...(decision.prompt === undefined ? {} : { prompt: decision.prompt }),
    },
    draft: draftOf(place, [step], item, eventsOf(place, id, facts, command, decision.appended)),
  };
}

/** Plans a new, idle session under the next free number: `S-1`, `S-2`, … Failures: `unsafe-path`, `io`. */
export function planStart(reader: Reader, place: RetestPlace, request: { finding: string; goal: readonly string[]; scope: readonly string[] }, now: string): RetestPlan {
  const directory = retestDirectory(place.stateRoot);
  assertInside(place.stateRoot, path.join(directory, 'x'));
  const numbers = reader.list(directory).map((name) => Number(/^S-(\d{1,9})\.jsonl$/.exec(name)?.[1] ?? 0));
  const id = `S-${String(numbers.reduce((most, number) => Math.max(most, number), 0) + 1)}`;
  const file = transcriptPath(place.stateRoot, id);
  const appended = openingEvents(request.finding, request.goal, request.scope, now);
  const text = appendText({ unterminated: false }, appended);
  const facts = projectSession(appended);
  const current = determinations(readSessions(reader, place.stateRoot).sessions).get(request.finding) ?? null;
  const item: PlanItem = { ref: id, found: true, live: true, kept: [], errors: [], notices: [], decision: { appended: appended.map(({ kind, payload }) => ({ kind, payload })) } };
  const step: Step = { kind: 'writeFile', item: id, path: file, root: place.stateRoot, before: ABSENT, after: sha256(text), content: { text }, reason: 'the new session', undo: 'restore', phase: 0 };
  return {
    meaning: { session: id, finding: request.finding, appended, closed: null, after: facts.projection, determination: { before: current, after: current }, path: file },
    draft: draftOf(place, [step], item, eventsOf(place, id, facts, { name: 'start' }, appended)),
  };
}

function draftOf(place: RetestPlace, steps: Step[], item: PlanItem, events: EventTemplate[]): PlanDraft {
  const rebuild: Step = {
    kind: 'rebuildIndex', target: VERDICTS_TARGET, path: verdictsPath(place.stateRoot), root: place.stateRoot, reason: 'it follows from the transcripts', undo: 'inverse', phase: 1, requires: [0],
  };
  return { items: [item], steps: [...steps, rebuild], warnings: [], events, pieceOrder: [], keepTrash: true };
}

function eventsOf(place: RetestPlace, id: string, facts: SessionFacts, command: { name: keyof typeof pastOf }, appended: readonly RetestEvent[]): EventTemplate[] {
  if (!place.eventLog) return [];
  const { path: log, root } = place.eventLog;
  const payload = appended.find((event) => event.kind.startsWith('verdict'))?.payload ?? {};
  const fields: Record<string, unknown> = { session: id, finding: facts.finding ?? undefined, actor: place.user, by: appended[0]?.actor, status: payload.status, verdict_seq: payload.verdict_seq, reason: payload.reason };
  return [{ item: id, log, root, source: 'retest', event: `retest.${pastOf[command.name]}`, fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) }];
}

/** What the finding shows before and after these events. */
function determinationChange(reader: Reader, stateRoot: string, session: OpenSession, appended: readonly RetestEvent[]): { before: FindingVerdict | null; after: FindingVerdict | null } {
  const { finding } = session.facts;
  if (finding === null) return { before: null, after: null };
  const others = readSessions(reader, stateRoot).sessions.filter((other) => other.id !== session.id && other.facts.finding === finding).map((other) => verdictOf(other.id, other.facts));
  return {
    before: determine([...others, verdictOf(session.id, session.facts)]),
    after: determine([...others, verdictOf(session.id, projectSession([...session.events, ...appended]))]),
  };
}

function noticesOf(command: RetestCommand, session: OpenSession, closed: RetestChangeReply['closed']): Message[] {
  const notices: Message[] = [];
  if (closed === 'torn-tail') notices.push({ kind: 'torn-tail', message: `The last line of the transcript was cut (line ${String(session.state.problems.at(-1)?.line ?? 0)}). It stays, closed with a line feed; the new events follow it.` });
  if (closed === 'no-newline') notices.push({ kind: 'no-newline', message: 'The last event of the transcript had no line feed; one is written before the new events.' });
  if (session.state.corrupt) notices.push({ kind: 'corrupt', message: 'The transcript has damaged lines. They are left as they are; see `loopkeeper retest show`.' });
  if (command.name === 'message' && session.facts.projection.status === 'idle') {
    notices.push({ kind: 'no-agent', message: 'The message is recorded and the session counts as working. This version of Loopkeeper starts no agent: start one by hand with the prompt of this reply.' });
  }
  return notices;
}
