import type { WorkflowResetReply } from '../../protocol/workflow';
import { shown, visible } from '../text/foreign';
import { l10n, sentenceList } from '../text/l10n';
import { detailOf, type Dialog } from './dialog';
import { warningLines } from './facts';
import type { Outcome } from './outcome';

/** How many returns the dialog names; a stack may be a thousand deep. */
const namedReturns = 5;

/** The question before an agent of a run goes to another state: what stays first, because it is what is asked about. */
export function runResetDialog(plan: WorkflowResetReply, workflow: string, changed: readonly string[] = []): Dialog {
  const { before, after } = plan.reset;
  return {
    message: l10n.t('Reset {0} of {1} to {2}?', shown(before.name, 60), shown(workflow, 60), shown(after.state, 80)),
    detail: detailOf([
      ...changed.length > 0 ? [l10n.t('Changed while you were reading: {0}.', changed.join('; '))] : [],
      ...plan.items.flatMap(({ errors }) => errors.map(({ message }) => l10n.t('Cannot be done: {0}', shown(message, 300)))),
      before.state === after.state ? l10n.t('It stays at {0} and begins it anew, with a fresh session.', shown(after.state, 80)) : l10n.t('It goes from {0} to {1}, with a fresh session.', shown(before.state, 80), shown(after.state, 80)),
      stackSentence(plan),
      goneSentence(plan),
      directorySentence(plan),
      l10n.t('Stays besides: workflow, task folder, cost, all other agents, the transcript of the old session.'),
      ...plan.items.flatMap(({ notices }) => notices.map(({ message }) => shown(message, 300))),
      l10n.t('Nothing runs until the run is resumed. Undo puts its file back byte for byte.'),
      ...warningLines(plan),
    ].filter((line) => line !== '')),
    apply: l10n.t('Reset Agent'), harmlessFirst: false,
  };
}

function stackSentence({ reset: { stack } }: WorkflowResetReply): string {
  const [top] = stack;
  if (!top) return l10n.t('The return stack stays: it is empty, a result ends the agent.');
  const returns = stack.slice(0, namedReturns).map(({ returnsTo }) => shown(returnsTo, 60));
  const way = stack.length > namedReturns ? l10n.t('{0} and {1} more', returns.join(', '), stack.length - namedReturns) : returns.join(', ');
  return stack.length === 1 ? l10n.t('The return stack stays, 1 deep: the next result returns to {0}.', way)
    : l10n.t('The return stack stays, {0} deep: results return to {1}, in this order.', stack.length, way);
}

function goneSentence({ reset: { before } }: WorkflowResetReply): string {
  const gone: string[] = [];
  if (before.session !== null) gone.push(l10n.t('its session {0}', shown(before.session, 40)));
  if (before.input !== null) gone.push(l10n.t('the input that waited'));
  if (before.ask) gone.push(l10n.t('its open question'));
  if (before.error !== null) gone.push(l10n.t('its error'));
  return gone.length > 0 ? l10n.t('Goes: {0}.', sentenceList(gone)) : '';
}

function directorySentence({ reset: { before, after } }: WorkflowResetReply): string {
  if (before.directory !== after.directory) return l10n.t('The directory becomes {0}.', visible(after.directory ?? ''));
  return after.directory === null ? l10n.t('The directory stays: the one that the runner is started in.') : l10n.t('The directory stays: {0}.', shown(after.directory, 200));
}

/** One sentence on what the reset of an agent did. */
export function runResetOutcome(reply: WorkflowResetReply, workflow: string): Outcome {
  const error = reply.items.flatMap(({ errors }) => errors)[0];
  if (error) return { sentence: l10n.t('Not reset: {0}', shown(error.message, 200)), failed: true, undoable: false };
  const { after, stack } = reply.reset;
  const where = [shown(after.name, 60), shown(workflow, 60), shown(after.state, 80)] as const;
  return {
    sentence: stack.length === 0 ? l10n.t('Reset {0} of {1} to {2}; Undo brings all of it back.', ...where) : l10n.t('Reset {0} of {1} to {2}, its return stack of {3} kept; Undo brings all of it back.', ...where, stack.length),
    failed: false, undoable: true,
  };
}
