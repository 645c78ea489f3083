import * as vscode from 'vscode';
import type { ItemView } from '../../protocol/sessions';
import type { Place } from '../places';
import type { Services } from '../services';
import { setting } from '../settings';
import { shown, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import { harnessName } from '../text/words';
import { byNeed } from '../views/attention';
import { itemLabel } from '../views/workItemRows';
import type { Command } from './command';

/** Only names that a loop makes; anything else in a record is not handed to tmux. */
const terminalName = /^loop-[A-Za-z0-9_-]+$/;

interface Attachable { place: Place; ref: string; terminal: string; label: string; description: string }

/** Opens the session's tmux terminal in a terminal of the editor. From the palette, asks which. */
export const attach: Command = async (services, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.terminal !== undefined && subject.ref !== undefined) {
    await attachTo(services, { place: subject.place, ref: subject.ref, terminal: subject.terminal, label: rows[0]?.label ?? subject.ref, description: '' });
    return;
  }
  const candidates = await attachables(services);
  if (candidates.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('No session has a terminal to attach to.'));
    return;
  }
  const picked = await vscode.window.showQuickPick(candidates.map((one) => ({ ...one, label: withoutIcons(one.label) })), { placeHolder: l10n.t('Attach to which session?'), matchOnDescription: true });
  if (picked) await attachTo(services, picked);
};

async function attachables({ list }: Services): Promise<Attachable[]> {
  const found: Attachable[] = [];
  for (const loaded of await list.get()) {
    if (!('value' in loaded)) continue;
    for (const item of [...loaded.value.items].sort(byNeed)) found.push(...terminalsOf(item, loaded.root));
  }
  return found;
}

function terminalsOf(item: ItemView, place: Place): Attachable[] {
  const { session } = item;
  if (!session) return [];
  const label = itemLabel(item, true);
  const own = session.terminal && session.status !== 'closed' ? [{ place, ref: item.ref, terminal: session.terminal, label, description: harnessName(session.harness) }] : [];
  const pulls = session.pullRequests.filter(({ terminal, status }) => terminal && status !== 'closed');
  return [...own, ...pulls.map((pull) => ({ place, ref: item.ref, terminal: pull.terminal, label: itemLabel(pull, true), description: l10n.t('pull request of {0}', label) }))];
}

async function attachTo({ details }: Services, { place, ref, terminal, label }: Attachable): Promise<void> {
  if (!terminalName.test(terminal)) {
    await vscode.window.showErrorMessage(l10n.t('The record names the terminal "{0}", which is no name that a loop gives. It is not opened.', shown(terminal)));
    return;
  }
  const known = (await details.get(place, ref))?.terminals.find((one) => one.terminal === terminal);
  if (known?.state === 'absent') {
    await vscode.window.showWarningMessage(l10n.t('The terminal {0} is not there any more.', terminal));
    return;
  }
  if (known?.state === 'unknown') {
    await vscode.window.showWarningMessage(l10n.t('The terminal {0} cannot be reached from here: there is no tmux, or its server runs elsewhere.', terminal));
    return;
  }
  const opened = vscode.window.terminals.find((one) => one.name === terminal && one.exitStatus === undefined)
    ?? vscode.window.createTerminal({
      name: terminal, message: l10n.t('Attached to {0}. Detach with Ctrl+B, D; closing this tab detaches too.', label), iconPath: new vscode.ThemeIcon('terminal-tmux'),
      shellPath: setting('tmuxPath', 'tmux'), shellArgs: ['attach-session', '-t', `=${terminal}`],
    });
  opened.show();
}
