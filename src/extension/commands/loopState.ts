import * as vscode from 'vscode';
import { LoopStateChangeReply, type LoopStateListReply } from '../../protocol/loopState';
import { pruneDialog, pruneLines, pruneOutcome, prunesSomething, unblockDialog, unblockOutcome, type LoopStateScope } from '../dialogs/loopStateDialogs';
import type { FolderPlace } from '../folders';
import type { Services } from '../services';
import { shown, visible, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import { targetName } from '../text/loopStateWords';
import type { Command, Target } from './command';
import { askAndApply, type PlannedVerb } from './planFlow';

interface Known { root: FolderPlace; value: LoopStateListReply }

/** Prunes the loop state of a folder, or of one loop of it, after a dry run and a question. */
export const pruneLoopState: Command = async (services, target) => {
  const known = await pickFolder(services, target);
  if (!known) return;
  const loop = target.rows[0]?.subject.loop;
  const scope: LoopStateScope = { name: known.root.name, knowledge: known.value.knowledge, ...loop === undefined ? {} : { loop } };
  const what = visible(loop ?? known.root.name);
  await askAndApply(services, {
    ...common(known),
    args: ['loop-state', 'prune', ...loop === undefined ? [] : ['--loop', loop]],
    dialog: (reply, changed) => pruneDialog(reply, scope, changed),
    nothing: (reply) => prunesSomething(reply) ? undefined : l10n.t('Nothing in the loop state of {0} is due; nothing goes.', what),
    outcome: pruneOutcome, document: pruneLines,
    alternative: { title: l10n.t('Prune and Commit'), args: ['--commit'] },
    documentTitle: l10n.t('Dry Run of Prune, {0}', what), heading: l10n.t('Dry run: prune the loop state of {0}', what), progress: l10n.t('Pruning {0}', what),
  });
};

/** Closes the breaker of a row's target. */
export const unblock: Command = async (services, target) => {
  const subject = target.rows[0]?.subject;
  const known = await pickFolder(services, target);
  const loop = known?.value.loops.find((one) => one.loop === subject?.loop);
  const found = loop?.targets.find(({ key }) => key === subject?.key);
  if (!known || !loop || !found) return;
  const scope: LoopStateScope = { name: known.root.name, loop: loop.loop, knowledge: known.value.knowledge };
  const what = targetName(found.key);
  await askAndApply(services, {
    ...common(known),
    args: ['loop-state', 'unblock', '--loop', loop.loop, '--', found.key],
    dialog: (reply, changed) => unblockDialog(reply, found, scope, changed, new Date()),
    nothing: (reply) => reply.items.every(({ steps, errors }) => steps.length === 0 && errors.length === 0) ? l10n.t('{0} is not blocked.', what) : undefined,
    outcome: (reply) => unblockOutcome(reply, found.key),
    alternative: { title: l10n.t('Unblock and Commit'), args: ['--commit'] },
    documentTitle: l10n.t('Dry Run of Unblock, {0}', what), heading: l10n.t('Dry run: unblock {0}', what), progress: l10n.t('Unblocking {0}', what),
  });
};

function common({ root, value }: Known): Pick<PlannedVerb<LoopStateChangeReply>, 'place' | 'schema' | 'follow'> {
  return {
    place: root, schema: LoopStateChangeReply,
    follow: {
      title: l10n.t('Open File'),
      run: async (reply) => {
        const ref = reply.items.find(({ steps }) => steps.length > 0)?.ref ?? reply.items[0]?.ref;
        const file = [...value.loops, ...value.ledgers, ...value.runLog ? [value.runLog] : []].find((one) => one.ref === ref)?.path;
        if (file !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(file));
      },
    },
  };
}

/** The row's folder, the only one with loop state, or the one a person picks. */
async function pickFolder({ loopState }: Services, { rows }: Target): Promise<Known | undefined> {
  const loaded = await loopState.get();
  const named = rows[0]?.subject.place.cwd;
  const known = loaded.flatMap((one) => 'value' in one && (named === undefined || one.root.cwd === named) ? [one] : []);
  if (known.length < 2) {
    const [only] = known;
    const failed = loaded.find((one) => 'error' in one);
    if (!only && failed && 'error' in failed) throw failed.error;
    return only;
  }
  const picks = known.map((one) => ({ label: withoutIcons(visible(one.root.name)), description: withoutIcons(shown(one.root.folder)), one }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Prune the loop state of which folder?') }))?.one;
}
