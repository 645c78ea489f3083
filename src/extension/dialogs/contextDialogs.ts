import type { CheckpointPart, CheckpointReply, ContextSetReply } from '../../protocol/context';
import { fileAndLine, partName, policyName, policyWord } from '../text/contextWords';
import { shown, visible } from '../text/foreign';
import { l10n, plural, sentenceList } from '../text/l10n';
import { shortRef } from '../text/refs';
import { detailOf, type Dialog } from './dialog';
import { warningLines } from './facts';
import type { Outcome } from './outcome';

/** The question before a policy file is made, or a value of one is changed from a dry run. */
export function setDialog(reply: ContextSetReply, name: string, changed: readonly string[]): Dialog {
  const { key, value, file, created } = reply.set;
  return {
    message: created ? l10n.t('Create a policy file in {0}?', visible(name)) : l10n.t('Change the context policy of {0}?', visible(name)),
    detail: detailOf([
      ...changed.length === 0 ? [] : [l10n.t('Changed while you were reading: {0}.', changed.join('; '))],
      created ? l10n.t('Will be written: {0}, with "{1}: {2}"; all else stays as it comes.', shown(file, 200), policyName(key), policyWord(value)) : l10n.t('Will be changed: {0}, "{1}: {2}".', fileAndLine(file, reply.set.line), policyName(key), policyWord(value)),
      ...othersLine(reply), ...warningLines(reply),
      created ? l10n.t('Undo removes the file again.') : l10n.t('Undo brings all of it back.'),
    ]),
    apply: created ? l10n.t('Create File') : l10n.t('Change'), harmlessFirst: false,
  };
}

function othersLine({ otherCheckouts }: ContextSetReply): string[] {
  return otherCheckouts.length === 0 ? [] : [plural(otherCheckouts.length, '{0} work item has its own checkout and keeps its value.', '{0} work items have their own checkout and keep their value.')];
}

/** `Context policy off in website (harness-config.yaml changed). 3 work items have their own checkout and keep their value.` */
export function setOutcome(reply: ContextSetReply, name: string): Outcome {
  const error = reply.items.flatMap(({ errors }) => errors)[0];
  if (error) return { sentence: l10n.t('The context policy was not changed: {0}', shown(error.message, 300)), failed: true, undoable: false };
  const { key, value, file, created, changed } = reply.set;
  const where = fileAndLine(file, null);
  const what = key === 'enabled'
    ? value === true ? l10n.t('Context policy on in {0}', visible(name)) : l10n.t('Context policy off in {0}', visible(name))
    : l10n.t('{0} is {1} in {2}', policyName(key), policyWord(value), visible(name));
  const how = !changed ? l10n.t('{0} says so already', where) : created ? l10n.t('{0} created', where) : l10n.t('{0} changed', where);
  return { sentence: [l10n.t('{0} ({1}).', what, how), ...othersLine(reply)].join(' '), failed: false, undoable: changed };
}

/** `OK: checkmarks (tasks.md:31).` */
export function partLine({ part, verdict, evidence, file, line, accepted }: CheckpointPart): string {
  const where = file === null ? '' : ` (${fileAndLine(file, line)})`;
  switch (verdict) {
    case 'ok': return l10n.t('OK: {0}{1}.', partName(part), where);
    case 'missing': return l10n.t('Missing: {0}{1}: {2}', partName(part), where, shown(evidence, 150));
    case 'unknown': return accepted ? l10n.t('Unknown, accepted: {0}{1}: {2}', partName(part), where, shown(evidence, 150)) : l10n.t('Unknown: {0}{1}: {2}', partName(part), where, shown(evidence, 150));
  }
}

/** The question before a checkpoint is written: what is there, what is written, what is still missing then. */
export function checkpointDialog(reply: CheckpointReply, name: string, changed: readonly string[]): Dialog {
  const parts = reply.after ?? reply.parts;
  const { writes } = reply;
  const written = [
    ...writes?.entry ? [l10n.t('log entry, next "{0}"', shown(writes.entry.next, 120))] : [],
    ...writes && writes.ticked.length > 0 ? [plural(writes.ticked.length, 'checkmark of task {1}', 'checkmarks of tasks {1}', shown(sentenceList(writes.ticked)))] : [],
  ];
  const files = (paths: readonly string[]): string => [...paths.slice(0, 4).map((path) => shown(path, 60)), ...paths.length > 4 ? [l10n.t('and {0} more', paths.length - 4)] : []].join(', ');
  return {
    message: l10n.t('Write the checkpoint of {0}?', name),
    detail: detailOf([
      ...changed.length === 0 ? [] : [l10n.t('Changed while you were reading: {0}.', changed.join('; '))],
      ...written.length === 0 ? [] : [l10n.t('Will be written: {0}.', sentenceList(written))],
      ...!writes || writes.committed.length === 0 ? [] : [plural(writes.committed.length, 'Will be committed: {0} file ({1}).', 'Will be committed: {0} files ({1}).', files(writes.committed))],
      ...!writes || writes.noted.length === 0 ? [] : [plural(writes.noted.length, 'Will be noted as not committed: {0} file ({1}).', 'Will be noted as not committed: {0} files ({1}).', files(writes.noted))],
      reply.complete ? l10n.t('The checkpoint is complete then:') : l10n.t('The checkpoint is not complete then:'),
      ...[...parts].sort((a, b) => order(a) - order(b)).map(partLine),
      ...(reply.plan?.items ?? []).flatMap(({ errors, notices }) => [...errors, ...notices].map(({ message }) => shown(message, 200))),
      ...reply.plan ? warningLines(reply.plan) : [],
      writes && writes.committed.length > 0 ? l10n.t('The window is not touched. Undo takes the files back; the commit stays.') : l10n.t('The window is not touched. Undo takes the files back.'),
    ]),
    apply: l10n.t('Write Checkpoint'), harmlessFirst: false,
  };
}

const order = ({ verdict }: CheckpointPart): number => ['missing', 'unknown', 'ok'].indexOf(verdict);

export function checkpointOutcome(reply: CheckpointReply, name: string): Outcome {
  const error = reply.plan?.items.flatMap(({ errors }) => errors)[0];
  if (error) return { sentence: l10n.t('The checkpoint of {0} was not written: {1}', name, shown(error.message, 300)), failed: true, undoable: reply.writes?.entry !== null && reply.writes !== null };
  const open = reply.parts.filter(({ verdict, accepted }) => verdict !== 'ok' && !accepted);
  if (reply.complete || open.length === 0) return { sentence: l10n.t('The checkpoint of {0} is written and complete.', name), failed: false, undoable: true };
  return { sentence: l10n.t('The checkpoint of {0} is written, but not complete: {1}.', name, sentenceList(open.map(({ part }) => partName(part)))), failed: true, undoable: true };
}

/** What a session or work item is called in these dialogs. */
export function subjectName(ref: string): string {
  return shown(shortRef(ref), 80);
}
