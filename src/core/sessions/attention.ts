import type { Attention } from '../../protocol/plan';
import type { ItemState, ShowReply } from '../../protocol/sessions';
import type { Question } from '../events/eventLog';
import { isSafeTerminal } from '../harness/terminal';
import type { ItemSnapshot } from '../workItems/snapshot';

/** What else is known of an item when it is asked whether it needs a person. */
export interface AttentionFacts {
  /** What its agent waits for. */
  question?: Question;
  /** When the unfinished plan was begun that has steps of this item. */
  unfinishedSince?: string;
  /** What tmux says of its own terminal; absent when tmux was not asked. */
  terminal?: ShowReply['terminals'][number]['state'];
}

/** A command line with the ref quoted: a `#` begins a comment in some shells. */
export function commandFor(verb: string, ref: string): string {
  return `loopkeeper ${verb} --work-item '${ref.replaceAll("'", `'\\''`)}'`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** What of an item needs a person, in the order of urgency (design: `attention`). `state` is that of the row. */
export function attentionOf(item: ItemSnapshot, state: ItemState, facts: AttentionFacts): Attention[] {
  const found: Attention[] = [];
  const { ref } = item.ref;
  const record = item.session.kind === 'record' ? item.session.record : undefined;
  const live = record !== undefined && record.status !== 'closed' && state !== 'collided';
  const show = commandFor('sessions show', ref);
  if (live && facts.question) {
    const command = isSafeTerminal(record.terminal) ? `tmux attach -t ${record.terminal}` : show;
    found.push({ kind: 'asks-you', since: facts.question.since || null, sentence: facts.question.question ? `Its agent asks: ${cut(facts.question.question)}` : 'Its agent waits for an answer.', command });
  }
  const poll = item.sections.poll?.facts;
  if (poll?.gaveUp) found.push({ kind: 'failed', since: poll.lastPolledAt || null, sentence: poll.gaveUp === 'start' ? 'The poller has given up starting it.' : 'The poller has given up delivering a comment to it.', command: show });
  if (live && (facts.terminal === 'dead' || facts.terminal === 'absent')) {
    found.push({ kind: 'terminal-died', since: record.lastEventAt, sentence: facts.terminal === 'dead' ? `Its agent has ended; the terminal ${record.terminal} shows its last screen.` : `Its terminal ${record.terminal} is gone.`, command: show });
  }
  const problem = problemOf(item);
  if (problem !== undefined) found.push({ kind: 'unreadable', since: null, sentence: problem, command: 'loopkeeper doctor' });
  if (facts.unfinishedSince !== undefined) found.push({ kind: 'unfinished-plan', since: facts.unfinishedSince, sentence: 'A change of it was begun and not finished.', command: 'loopkeeper doctor' });
  if (state === 'armed') {
    const control = item.sections.control?.facts;
    found.push({ kind: 'armed-without-session', since: control?.requestedAt || null, sentence: `${control?.command ?? 'start'}${control?.actor ? ` by ${control.actor}` : ''} is recorded, but no session works on it.`, command: show });
  }
  return found;
}

/** Why a record of the item cannot be read, or whose it is, in one sentence; undefined when all is well. */
export function problemOf(item: ItemSnapshot): string | undefined {
  const [collision] = item.collisions;
  if (collision) return `${collision.path} is the ${collision.piece} record of ${collision.ref.ref}: both refs make the same file name.`;
  const [bad] = item.bad;
  return bad && `${bad.path} cannot be read as a ${bad.piece} record: ${bad.why}.`;
}
