import type { Actor, Projection, RetestEvent } from '../../protocol/retest';
import { isLive, isVerdictStatus, projectSession } from './projection';
import { wakePrompt } from './prompt';
import type { Transcript } from './transcript';

export type RetestCommand =
  | { name: 'conclude' | 'adjudicate'; args: { status: string; rationale: string; actor?: Actor } }
  | { name: 'reopen'; args: { reason?: string } }
  | { name: 'end'; args: Record<string, never> }
  | { name: 'wake'; args: { message?: string } }
  | { name: 'message'; args: { text: string } };

export type Refusal = 'unknown-session' | 'not-concluded' | 'not-idle' | 'not-live' | 'no-verdict' | 'invalid-argument';

export interface Decision {
  /** All events of the command, to be appended in one piece; empty when refused. */
  appended: RetestEvent[];
  refused: Refusal | null;
  /** What the transcript says afterwards; null when there is no such session. */
  after: Projection | null;
  /** Of a wake: what the agent gets. */
  prompt?: string;
}

/** The part of an event that a command decides; `seq` and `ts` follow from where and when it is appended. */
type NewEvent = Pick<RetestEvent, 'kind' | 'payload'>;
const toStatus = (to: Projection['status']): NewEvent => ({ kind: 'state_change', payload: { to } });

/** What a command appends to a session in this state, or why it is refused. The status is checked before the arguments (G4). */
function decideEvents(command: RetestCommand, state: Projection): NewEvent[] | Refusal {
  const { status, currentVerdict } = state;
  switch (command.name) {
    case 'conclude': {
      if (!isLive(status)) return 'not-live';
      const { status: verdict, rationale } = command.args;
      if (!isVerdictStatus(verdict)) return 'invalid-argument';
      return [{ kind: 'verdict', payload: { status: verdict, rationale } }, toStatus('concluded')];
    }
    case 'adjudicate': {
      if (status !== 'concluded') return 'not-concluded';
      if (!currentVerdict) return 'no-verdict';
      const { status: verdict, rationale } = command.args;
      if (!isVerdictStatus(verdict)) return 'invalid-argument';
      return [{ kind: 'verdict_adjudicated', payload: { status: verdict, rationale } }];
    }
    case 'reopen': {
      if (status !== 'concluded') return 'not-concluded';
      const reason = command.args.reason === undefined ? {} : { reason: command.args.reason };
      // Concluded by a transcript of another origin that holds no verdict: there is nothing to withdraw.
      if (!currentVerdict) return [{ kind: 'state_change', payload: { to: 'idle', ...reason } }];
      const { status: withdrawn, rationale, seq } = currentVerdict;
      return [{ kind: 'verdict_cancelled', payload: { status: withdrawn, rationale, verdict_seq: seq, ...reason } }, toStatus('idle')];
    }
    case 'end':
      return isLive(status) ? [toStatus('ended')] : 'not-live';
    case 'wake': {
      if (status !== 'idle') return 'not-idle';
      const { message } = command.args;
      return [...(message === undefined ? [] : delivered(message)), toStatus('working')];
    }
    case 'message': {
      if (!isLive(status)) return 'not-live';
      const { text } = command.args;
      // A message wakes an idle session; in every other live status it is queued.
      return status === 'idle' ? [...delivered(text), toStatus('working')] : [{ kind: 'human_message', payload: { text } }];
    }
  }
}

function delivered(text: string): NewEvent[] {
  return [{ kind: 'human_message', payload: { text } }, { kind: 'messages_delivered', payload: {} }];
}

/**
 * Decides a command on a session (cases README, T3 to T6, T8 to T10 and G2 to G6). Pure; nothing is appended.
 * `before` is the transcript as read, or null when there is no such session; `now` is RFC 3339 and becomes the events' `ts`.
 */
export function decide(command: RetestCommand, before: Pick<Transcript, 'events' | 'nextSeq'> | null, now: string): Decision {
  if (!before) return { appended: [], refused: 'unknown-session', after: null };
  const facts = projectSession(before.events);
  const decided = decideEvents(command, facts.projection);
  if (typeof decided === 'string') return { appended: [], refused: decided, after: facts.projection };
  const actor = 'actor' in command.args && command.args.actor ? command.args.actor : 'operator';
  const appended = decided.map(({ kind, payload }, index): RetestEvent => ({ seq: before.nextSeq + index, ts: now, kind, actor, payload }));
  const wakes = appended.some((event) => event.kind === 'state_change' && event.payload.to === 'working');
  const said = appended.find((event) => event.kind === 'human_message')?.payload.text;
  return {
    appended,
    refused: null,
    after: projectSession([...before.events, ...appended]).projection,
    ...(wakes ? { prompt: wakePrompt(before.events, facts, typeof said === 'string' ? said : undefined) } : {}),
  };
}

/** The events with which a session begins: idle, its finding, scope and goal known, no agent. */
export function openingEvents(finding: string, goal: readonly string[], scope: readonly string[], now: string): RetestEvent[] {
  const events: NewEvent[] = [
    { kind: 'session_started', payload: { finding } },
    toStatus('idle'),
    { kind: 'target_set', payload: { endpoints: [...scope] } },
    { kind: 'plan_updated', payload: { steps: [...goal] } },
  ];
  return events.map(({ kind, payload }, index) => ({ seq: index + 1, ts: now, kind, actor: 'operator', payload }));
}
