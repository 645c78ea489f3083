import type { FindingVerdict, RetestChangeReply, RetestShowReply, VerdictStatus } from '../../protocol/retest';
import { shown } from '../text/foreign';
import { day, l10n, moment } from '../text/l10n';
import { actorWord, retestStatusWord, verdictWord } from '../text/retestWords';
import { detailOf, type Dialog } from './dialog';
import { warningLines } from './facts';
import type { Outcome } from './outcome';

/** What the questions about a retest session rest on: the dry run, the session as it is, what changed meanwhile. */
export interface RetestQuestion {
  plan: RetestChangeReply;
  session: RetestShowReply;
  changed: readonly string[];
  now: Date;
}

/** What it is a retest of, else its own name. */
export function retestName({ finding, session }: { finding: string | null; session: string }): string {
  return shown(finding ?? session, 100);
}

const quotedVerdict = (status: VerdictStatus): string => `"${verdictWord(status)}"`;
const rationaleWords = (text: string): string => `"${shown(text, 200)}"`;

/** The verdict that stands now, with who and when, and why: `"fixed" (agent, 4 Aug 14:02), "login rejects the payload"`. */
function standing({ currentVerdict, verdicts }: RetestShowReply): string | undefined {
  if (!currentVerdict) return undefined;
  const given = verdicts.find(({ seq }) => seq === currentVerdict.seq);
  const who = given ? l10n.t('{0}, {1}', actorWord(currentVerdict.actor), moment(given.ts)) : actorWord(currentVerdict.actor);
  return l10n.t('{0} ({1}), {2}', quotedVerdict(currentVerdict.status), who, rationaleWords(currentVerdict.rationale));
}

/** What the finding shows after it. `own`: the session whose verdict is newly given, which needs no name. */
function afterwards({ plan, now }: RetestQuestion, own?: string): string {
  const { before, after } = plan.determination;
  if (!after) return l10n.t('The finding then shows no verdict.');
  const what = quotedVerdict(after.status);
  if (after.session === own) return l10n.t('The finding then shows {0}.', what);
  const where = l10n.t('session {0}, {1}', shown(after.session, 60), day(after.ts, now));
  return sameVerdict(before, after) ? l10n.t('The finding goes on showing {0} ({1}).', what, where) : l10n.t('The finding then shows {0} ({1}).', what, where);
}

function sameVerdict(a: FindingVerdict | null, b: FindingVerdict | null): boolean {
  return a?.session === b?.session && a?.seq === b?.seq;
}

function lead({ changed }: RetestQuestion): string[] {
  return changed.length > 0 ? [l10n.t('Changed while you were reading: {0}.', changed.join('; '))] : [];
}

/** What is said besides: notices (a torn line that is closed) and warnings, in the program's words. */
function besides({ plan }: RetestQuestion): string[] {
  return [...plan.items.flatMap(({ notices }) => notices.map(({ message }) => shown(message, 300))), ...warningLines(plan)];
}

/** The question before a verdict is withdrawn. */
export function reopenDialog(question: RetestQuestion): Dialog {
  const verdict = standing(question.session);
  const what = retestName(question.session);
  return {
    message: verdict === undefined ? l10n.t('Reopen the retest of {0}?', what) : l10n.t('Reopen the retest of {0} and withdraw its verdict?', what),
    detail: detailOf([
      ...lead(question),
      verdict === undefined ? l10n.t('It is concluded without a verdict; there is none to withdraw.') : l10n.t('Withdrawn: {0}. It stays in the transcript and history, marked withdrawn.', verdict),
      l10n.t('{0} Goal and scope stay; nothing runs until it is woken. No Undo: the transcript never shrinks.', afterwards(question)),
      ...besides(question),
    ]),
    apply: l10n.t('Reopen'), harmlessFirst: false, whole: true,
  };
}

/** The question before a verdict is recorded. */
export function concludeDialog(question: RetestQuestion, status: VerdictStatus, rationale: string): Dialog {
  return {
    message: l10n.t('Conclude the retest of {0} as {1}?', retestName(question.session), quotedVerdict(status)),
    detail: detailOf([
      ...lead(question),
      l10n.t('Recorded: {0}, {1}.', quotedVerdict(status), rationaleWords(rationale)),
      afterwards(question, question.session.session),
      l10n.t('Reopen withdraws it again; it stays in the transcript and history. No Undo: the transcript never shrinks.'),
      ...besides(question),
    ]),
    apply: l10n.t('Conclude'), harmlessFirst: false, whole: true,
  };
}

/** The question before the verdict of a concluded session is accepted or overridden. */
export function adjudicateDialog(question: RetestQuestion, status: VerdictStatus, rationale: string): Dialog {
  const { session } = question;
  const accepts = session.currentVerdict?.status === status;
  const verdict = standing(session);
  return {
    message: accepts ? l10n.t('Accept {1} as the verdict on {0}?', retestName(session), quotedVerdict(status)) : l10n.t('Override the verdict on {0} with {1}?', retestName(session), quotedVerdict(status)),
    detail: detailOf([
      ...lead(question),
      ...verdict === undefined ? [] : [l10n.t('Superseded: {0}. It stays in the transcript and history.', verdict)],
      l10n.t('Recorded: {0}, {1}.', quotedVerdict(status), rationaleWords(rationale)),
      afterwards(question, session.session),
      l10n.t('Reopen withdraws it again. No Undo: the transcript never shrinks.'),
      ...besides(question),
    ]),
    apply: accepts ? l10n.t('Accept') : l10n.t('Override'), harmlessFirst: false, whole: true,
  };
}

/** The question before a session ends for good. */
export function endDialog(question: RetestQuestion): Dialog {
  const { session } = question;
  return {
    message: l10n.t('End the retest of {0} without a verdict?', retestName(session)),
    detail: detailOf([
      ...lead(question),
      l10n.t('Session {0} is {1}. It takes no more commands and cannot be reopened; a new one can be started.', shown(session.session, 60), retestStatusWord(session.status)),
      l10n.t('{0} The transcript stays. No Undo: the transcript never shrinks.', afterwards(question)),
      ...besides(question),
    ]),
    apply: l10n.t('End Session'), harmlessFirst: false, whole: true,
  };
}

/** One sentence on what was recorded; a transcript has no Undo, so none is offered. */
export function retestOutcome(reply: RetestChangeReply): Outcome {
  const error = reply.items.flatMap(({ errors }) => errors)[0];
  if (error) return { sentence: l10n.t('{0}: {1}', shown(reply.session, 60), shown(error.message, 200)), failed: true, undoable: false };
  return { sentence: outcomeSentence(reply), failed: false, undoable: false };
}

function outcomeSentence({ verb, session, finding, after, prompt }: RetestChangeReply): string {
  const what = retestName({ finding, session });
  const verdict = after.currentVerdict ? quotedVerdict(after.currentVerdict.status) : '';
  switch (verb) {
    case 'retest-start': return l10n.t('Retest session {0} of {1} is started; it is idle, no agent is at work.', session, what);
    case 'retest-conclude': return l10n.t('The retest of {0} is concluded: {1}.', what, verdict);
    case 'retest-adjudicate': return l10n.t('The verdict on {0} is now {1}, adjudicated.', what, verdict);
    case 'retest-reopen': return l10n.t('The retest of {0} is reopened; its verdict is withdrawn and stays in the history.', what);
    case 'retest-end': return l10n.t('The retest of {0} has ended without a verdict.', what);
    case 'retest-message': return prompt === undefined ? l10n.t('The message to session {0} is recorded.', session)
      : l10n.t('The message is recorded and session {0} counts as working. No agent is started yet; start one with the prompt that was opened.', session);
    default: return l10n.t('{0}: {1}', session, retestStatusWord(after.status));
  }
}
