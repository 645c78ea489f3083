import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { CheckpointReply } from '../../protocol/context';
import type { PlanReply } from '../../protocol/plan';
import { checkpointDialog, checkpointOutcome, partLine, subjectName } from '../dialogs/contextDialogs';
import type { Place } from '../places';
import type { Services } from '../services';
import { shown, unlinked, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import { activityWords, partName, usageWords } from '../text/contextWords';
import { harnessName } from '../text/words';
import type { Command, Target } from './command';
import { askAndApply } from './planFlow';

/** A conversation whose checkpoint is written: of a work item, or of none. */
interface Checkpointed { place: Place; selector: readonly string[]; name: string }

/** The reply with its plan as the document's own, which is what plans are asked about by. */
const WritingReply = z.pipe(CheckpointReply, z.transform((reply) => ({ ...reply.plan ?? noPlan, checkpoint: reply })));
type WritingReply = PlanReply & { checkpoint: CheckpointReply };
const noPlan: PlanReply = { verb: 'context-checkpoint', dryRun: true, plan: '', digest: '', items: [], warnings: [] };

/** Looks at a checkpoint, asks for what is missing and writes it. The window is not touched. */
export const checkpoint: Command = async (services, target) => {
  const subject = await pick(services, target);
  if (!subject) return;
  const { place, selector, name } = subject;
  const { reply } = await services.client.run({ place, args: ['context', 'checkpoint', ...selector], schema: CheckpointReply });
  if (reply.complete && !await wantsAnother(reply, name)) return;
  const args = await inputs(reply, name);
  if (!args) return;
  await askAndApply<WritingReply>(services, {
    place, args: ['context', 'checkpoint', ...selector, ...args], schema: WritingReply,
    dialog: (plan, changed) => checkpointDialog(plan.checkpoint, name, changed),
    nothing: (plan) => plan.items.every(({ steps, errors }) => steps.length === 0 && errors.length === 0) ? l10n.t('All of that is on disk already; nothing is written.') : undefined,
    outcome: (done) => checkpointOutcome(done.checkpoint, name),
    documentTitle: l10n.t('Dry Run of Checkpoint, {0}', name), heading: l10n.t('Dry run: write the checkpoint of {0}', name), progress: l10n.t('Writing the checkpoint of {0}', name),
    document: (plan) => (plan.checkpoint.after ?? plan.checkpoint.parts).map(partLine),
  });
};

async function wantsAnother({ entry }: CheckpointReply, name: string): Promise<boolean> {
  const another = l10n.t('Write Another');
  const open = l10n.t('Open Log');
  const chosen = await vscode.window.showInformationMessage(unlinked(l10n.t('The checkpoint of {0} is complete. Next: "{1}"', name, shown(entry?.next ?? ''))), another, ...entry ? [open] : []);
  if (chosen === open && entry) await vscode.window.showTextDocument(vscode.Uri.file(entry.file), { selection: new vscode.Range(entry.line - 1, 0, entry.line - 1, 0) });
  return chosen === another;
}

/** What a person is asked for, as options: what was done and the next step, tasks to tick, and what becomes of changed files. Undefined when they cancelled. */
async function inputs(reply: CheckpointReply, name: string): Promise<string[] | undefined> {
  const verdict = (part: string): string | undefined => reply.parts.find((one) => one.part === part)?.verdict;
  const hasEntry = verdict('log') === 'ok';
  const title = l10n.t('Checkpoint of {0}', name);
  const validateInput = (value: string): string | undefined => value.trim() === '' ? l10n.t('Say it in a sentence; a fresh window knows only the files.') : undefined;
  // What was to come next is, most often, what was done.
  const did = await vscode.window.showInputBox({ title, prompt: l10n.t('What was done?'), value: (hasEntry ? reply.entry?.did : reply.entry?.next) ?? '', validateInput, ignoreFocusOut: true });
  if (did === undefined) return undefined;
  const next = await vscode.window.showInputBox({ title, prompt: l10n.t('What is the next step?'), value: hasEntry ? reply.entry?.next ?? '' : '', validateInput, ignoreFocusOut: true });
  if (next === undefined) return undefined;
  const ticked = reply.kind === 'session' || verdict('checkmarks') === 'ok' ? '' : await vscode.window.showInputBox({ title, prompt: l10n.t('Which tasks are finished? Their numbers, with spaces between; empty for none.'), value: '', ignoreFocusOut: true });
  if (ticked === undefined) return undefined;
  const work = verdict('work') === 'missing' ? await workArguments(reply, title) : [];
  if (!work) return undefined;
  const accepted = await acceptedParts(reply, title);
  if (!accepted) return undefined;
  const isSame = hasEntry && did.trim() === reply.entry?.did.trim() && next.trim() === reply.entry.next.trim() && !work.includes('--note-wip');
  return [...isSame ? [] : [`--did=${did.trim()}`, `--next=${next.trim()}`], ...ticked.split(/[\s,]+/).filter((task) => task !== '').map((task) => `--tick=${task}`), ...work, ...accepted];
}

/** The parts that nothing on disk decides and that the person accepts as they are, as options; the log is about to be written. */
async function acceptedParts({ parts }: CheckpointReply, title: string): Promise<string[] | undefined> {
  const unknown = parts.filter(({ part, verdict }) => verdict === 'unknown' && part !== 'log');
  if (unknown.length === 0) return [];
  const picks = unknown.map(({ part, evidence }) => ({ label: partName(part), detail: withoutIcons(shown(evidence, 100)), part }));
  const chosen = await vscode.window.showQuickPick(picks, { title, placeHolder: l10n.t('Nothing on disk decides these. Which do you accept as they are?'), canPickMany: true, ignoreFocusOut: true });
  return chosen?.map(({ part }) => `--accept-unknown=${part}`);
}

async function workArguments(reply: CheckpointReply, title: string): Promise<string[] | undefined> {
  const evidence = withoutIcons(shown(reply.parts.find(({ part }) => part === 'work')?.evidence ?? '', 100));
  const picks = [
    { label: l10n.t('Commit the changed files'), detail: l10n.t('Tracked files and the spec files of the item; the hooks of the repository run.'), args: ['--commit'] },
    { label: l10n.t('Commit, with untracked files'), detail: l10n.t('The dry run lists them.'), args: ['--commit', '--include-untracked'] },
    { label: l10n.t('Note them in the entry'), detail: l10n.t('The files stay uncommitted.'), args: ['--note-wip'] },
    { label: l10n.t('Leave them out'), detail: l10n.t('The checkpoint stays incomplete.'), args: [] },
  ];
  return (await vscode.window.showQuickPick(picks, { title, placeHolder: evidence }))?.args;
}

/** The row's conversation, or the live one that a person picks. */
async function pick(services: Services, { rows }: Target): Promise<Checkpointed | undefined> {
  const row = rows[0];
  if (row) {
    const { place, session, ref } = row.subject;
    if (session !== undefined) return { place, selector: ['--session', session], name: row.label };
    return ref === undefined ? undefined : { place, selector: ['--work-item', ref], name: subjectName(ref) };
  }
  const picks = await candidates(services);
  if (picks.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('No session lives here whose checkpoint could be written.'));
    return undefined;
  }
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Write the checkpoint of which session?'), matchOnDescription: true }))?.one;
}

async function candidates({ list, usage }: Services): Promise<{ label: string; description: string; one: Checkpointed }[]> {
  const loaded = await list.get();
  const { sessions, place } = await usage.get();
  const now = new Date();
  const bound = new Set<string>();
  const items = loaded.flatMap((one) => 'value' in one ? one.value.items.map((item) => ({ item, root: one.root })) : []).flatMap(({ item, root }) => {
    const { session } = item;
    if (!session) return [];
    for (const id of [session.sessionId, ...session.pullRequests.map(({ sessionId }) => sessionId)]) bound.add(id);
    if (session.status === 'closed') return [];
    const measured = sessions.find(({ id }) => id === session.sessionId);
    const name = subjectName(item.ref);
    return [{ label: withoutIcons(item.title === undefined ? name : `${name} ${shown(item.title, 60)}`), description: [harnessName(session.harness), ...measured ? [usageWords(measured)] : []].join(' · '), one: { place: root, selector: ['--work-item', item.ref], name } }];
  });
  const plain = sessions.filter(({ id, ref, running }) => ref === null && running && !bound.has(id)).flatMap((one) => {
    const name = shown(one.title ?? l10n.t('Conversation without a title'), 60);
    return place ? [{ label: withoutIcons(name), description: [usageWords(one), activityWords(one, now)].join(' · '), one: { place, selector: ['--session', one.id], name } }] : [];
  });
  return [...items, ...plain];
}
