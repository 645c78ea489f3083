import * as vscode from 'vscode';
import { AuditReply, ExportReply, RetestChangeReply, RetestShowReply, type VerdictStatus } from '../../protocol/retest';
import type { Dialog } from '../dialogs/dialog';
import { adjudicateDialog, concludeDialog, endDialog, reopenDialog, retestOutcome, type RetestQuestion } from '../dialogs/retestDialogs';
import type { Place } from '../places';
import { auditText } from '../planPreview/auditText';
import type { Services } from '../services';
import { shown, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import { actorWord, isLiveRetest, verdictWord } from '../text/retestWords';
import type { Command, Target } from './command';
import { pickRoot } from './pickRoot';
import { applyAtOnce, askAndApply, type PlannedVerb } from './planFlow';

interface Session { place: Place; id: string }
type Verb = PlannedVerb<RetestChangeReply>;

/** Asks for finding, goal and scope, prefilled from the row's latest session, and begins an idle session. */
export const startRetest: Command = async (services, target) => {
  const root = await pickRoot(services, target);
  if (!root) return;
  const known = target.rows[0]?.subject.finding;
  const last = known === undefined ? undefined : await latestOf(services, root, known);
  const finding = await askText(l10n.t('Start Retest Session'), l10n.t('The finding to test again, for example F-12'), known ?? '', true);
  if (finding === undefined) return;
  const takeOver = last !== undefined && finding === known ? last : undefined;
  const goal = await askList(l10n.t('Goal of the retest of {0}', shown(finding, 60)), l10n.t('A step of the plan'), takeOver?.goal ?? []);
  if (!goal) return;
  const scope = await askList(l10n.t('Scope of the retest of {0}', shown(finding, 60)), l10n.t('An endpoint that may be tested'), takeOver?.scope ?? []);
  if (!scope) return;
  await applyAtOnce(services, verbOf({ place: root, id: finding }, ['start', `--finding=${finding}`, ...goal.map((step) => `--goal=${step}`), ...scope.map((endpoint) => `--scope=${endpoint}`)], l10n.t('Starting the retest of {0}', shown(finding, 60))));
};

/** Asks for verdict and rationale, then the question. */
export const concludeRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, isLive, l10n.t('Conclude which retest session?'));
  if (!session) return;
  const picked = await pickVerdict(l10n.t('What does the retest show?'), []);
  if (!picked) return;
  const rationale = await askText(l10n.t('Conclude as {0}', verdictWord(picked)), l10n.t('Why? It stands beside the verdict.'), '', true);
  if (rationale === undefined) return;
  await ask(services, session, ['conclude', ...verdictArguments(picked, rationale)], (question) => concludeDialog(question, picked, rationale), l10n.t('Concluding {0}', session.id));
};

/** Accepts the current verdict as the person's own, or overrides it. */
export const adjudicateRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, isConcluded, l10n.t('Accept or override the verdict of which retest session?'));
  if (!session) return;
  const { currentVerdict } = await show(services, session);
  if (!currentVerdict) {
    await vscode.window.showInformationMessage(l10n.t('This session has no verdict to accept or override.'));
    return;
  }
  const picked = await pickVerdict(l10n.t('Accept the verdict, or override it with another?'), [currentVerdict.status], l10n.t('accept: given by {0}', actorWord(currentVerdict.actor)));
  if (!picked) return;
  const accepts = picked === currentVerdict.status;
  const rationale = await askText(accepts ? l10n.t('Accept {0}', verdictWord(picked)) : l10n.t('Override with {0}', verdictWord(picked)), l10n.t('Why? It stands beside the verdict.'), accepts ? currentVerdict.rationale : '', true);
  if (rationale === undefined) return;
  await ask(services, session, ['adjudicate', ...verdictArguments(picked, rationale)], (question) => adjudicateDialog(question, picked, rationale), l10n.t('Recording the verdict of {0}', session.id));
};

/** Asks for a reason, which may be left out, then the question; the verdict is withdrawn and stays in the history. */
export const reopenRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, isConcluded, l10n.t('Reopen which retest session?'));
  if (!session) return;
  const reason = await askText(l10n.t('Reopen {0}', session.id), l10n.t('Why is the verdict withdrawn? May be left empty.'), '', false);
  if (reason === undefined) return;
  await ask(services, session, ['reopen', ...reason === '' ? [] : [`--reason=${reason}`]], reopenDialog, l10n.t('Reopening {0}', session.id));
};

export const endRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, isLive, l10n.t('End which retest session?'));
  if (session) await ask(services, session, ['end'], endDialog, l10n.t('Ending {0}', session.id));
};

/** Records a message; of one that wakes an idle session, the prompt to start an agent with is opened. */
export const messageRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, isLive, l10n.t('Send a message to which retest session?'));
  if (!session) return;
  const text = await askText(l10n.t('Message to {0}', session.id), l10n.t('What to tell the agent'), '', true);
  if (text === undefined) return;
  await applyAtOnce(services, {
    ...verbOf(session, ['message', session.id, '--', text], l10n.t('Sending the message to {0}', session.id)),
    applied: async ({ prompt }) => { if (prompt !== undefined) await services.documents.show(l10n.t('Prompt for {0}', session.id), prompt); },
  });
};

/** Transcript and projection, withdrawn verdicts in it, as one JSON document where the person wants it. */
export const exportRetest: Command = async (services, target) => {
  const session = await sessionOf(services, target, () => true, l10n.t('Export which retest session?'));
  if (!session) return;
  const { reply } = await services.client.run({ place: session.place, args: ['retest', 'export', session.id], schema: ExportReply });
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    title: l10n.t('Export Retest Session'), filters: { JSON: ['json'] },
    ...folder ? { defaultUri: vscode.Uri.joinPath(folder, `${session.id}.json`) } : {},
  });
  if (!file) return;
  await vscode.workspace.fs.writeFile(file, Buffer.from(JSON.stringify(reply, null, 2) + '\n'));
  await vscode.window.showTextDocument(file, { preview: true });
};

/** Computes every session anew and shows where what is stored differs. */
export const auditRetests: Command = async (services, target) => {
  const root = await pickRoot(services, target);
  if (!root) return;
  const { reply } = await services.client.run({ place: root, args: ['retest', 'audit'], schema: AuditReply });
  await services.documents.show(l10n.t('Retest Audit'), auditText(reply));
};

type Wanted = (row: { status: RetestShowReply['status'] }) => boolean;
const isLive: Wanted = ({ status }) => isLiveRetest(status);
const isConcluded: Wanted = ({ status }) => status === 'concluded';

/** The row's session, or one of those that the command is for. */
async function sessionOf({ retests }: Services, { rows }: Target, wanted: Wanted, placeHolder: string): Promise<Session | undefined> {
  const subject = rows[0]?.subject;
  if (subject) return subject.ref === undefined ? undefined : { place: subject.place, id: subject.ref };
  const picks = (await retests.get()).flatMap((loaded) => 'value' in loaded ? loaded.value.sessions.filter((row) => row.unreadable === undefined && wanted(row)).map((row) => ({
    label: withoutIcons(shown(row.finding ?? row.session, 100)), description: withoutIcons(shown(row.session, 60)), place: loaded.root, id: row.session,
    ...(row.currentVerdict ? { detail: withoutIcons(l10n.t('{0} ({1}): {2}', verdictWord(row.currentVerdict.status), actorWord(row.currentVerdict.actor), shown(row.currentVerdict.rationale))) } : {}),
  })) : []);
  if (picks.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('There is no retest session for which this can be done.'));
    return undefined;
  }
  return vscode.window.showQuickPick(picks, { placeHolder, matchOnDescription: true, matchOnDetail: true });
}

async function show({ client }: Services, { place, id }: Session): Promise<RetestShowReply> {
  return (await client.run({ place, args: ['retest', 'show', id], schema: RetestShowReply })).reply;
}

/** What the latest session of a finding was to do. */
async function latestOf(services: Services, place: Place, finding: string): Promise<RetestShowReply | undefined> {
  const loaded = (await services.retests.get()).find(({ root }) => root.stateRoot === place.stateRoot);
  const sessions = loaded && 'value' in loaded ? loaded.value.sessions.filter((row) => row.finding === finding && row.unreadable === undefined) : [];
  const [latest] = [...sessions].sort((a, b) => ((a.startedAt ?? '') < (b.startedAt ?? '') ? 1 : -1));
  return latest && show(services, { place, id: latest.session });
}

/** Every retest verb is a plan; what it is asked about is shown in its dialog whole. */
function verbOf(session: Session, args: readonly string[], progress: string): Verb {
  return {
    place: session.place, args: ['retest', ...args], schema: RetestChangeReply, nothing: () => undefined, outcome: retestOutcome,
    dialog: () => { throw new Error('a retest verb without a question'); },
    documentTitle: progress, heading: progress, progress,
  };
}

async function ask(services: Services, session: Session, [name = '', ...options]: readonly string[], dialog: (question: RetestQuestion) => Dialog, progress: string): Promise<void> {
  await askAndApply(services, {
    ...verbOf(session, [name, session.id, ...options], progress),
    dialog: async (plan, changed) => dialog({ plan, session: await show(services, session), changed, now: new Date() }),
  });
}

const verdictArguments = (status: VerdictStatus, rationale: string): string[] => [`--status=${status}`, `--rationale=${rationale}`];

async function pickVerdict(placeHolder: string, first: readonly VerdictStatus[], description?: string): Promise<VerdictStatus | undefined> {
  const all: VerdictStatus[] = ['fixed', 'still_open', 'inconclusive'];
  const picks = [...first, ...all.filter((status) => !first.includes(status))].map((status) => ({
    label: verdictWord(status), status, ...(first.includes(status) && description !== undefined ? { description } : {}),
  }));
  return (await vscode.window.showQuickPick(picks, { placeHolder }))?.status;
}

/** One line of text; undefined when the person turns away, empty only where that is allowed. */
async function askText(title: string, prompt: string, value: string, needed: boolean): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title, prompt, value, ignoreFocusOut: true, validateInput: (typed) => needed && typed.trim() === '' ? l10n.t('This has to say something.') : undefined,
  });
  return text?.trim();
}

/** Lines of text, one after the other until an empty one; at least one. */
async function askList(title: string, what: string, given: readonly string[]): Promise<string[] | undefined> {
  const entries: string[] = [];
  for (;;) {
    const number = entries.length + 1;
    const prompt = number === 1 ? l10n.t('{0}; more can follow', what) : l10n.t('{0}; leave it empty when these are all', what);
    const text = await askText(l10n.t('{0} ({1})', title, number), prompt, given[entries.length] ?? '', number === 1);
    if (text === undefined) return undefined;
    if (text === '') return entries;
    entries.push(text);
  }
}
