import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { EventsReply } from '../../protocol/sessions';
import type { Place } from '../places';
import type { Services } from '../services';
import { l10n } from '../text/l10n';
import type { Command } from './command';
import { pickRoot } from './pickRoot';

/** The loop's event log, at its last line. */
export const openEventLog: Command = async (services, target) => {
  const root = await pickRoot(services, target);
  if (root) await showEventLog(services, root);
};

export async function showEventLog({ client }: Services, place: Place): Promise<void> {
  const { reply } = await client.run({ place, args: ['events', '--limit', '1'], schema: EventsReply });
  await showLog(reply.log);
}

/** A log by its path, at its last line. */
export async function showLog(log: string): Promise<void> {
  if (!existsSync(log)) {
    await vscode.window.showInformationMessage(l10n.t('No event has been logged yet. The log will be {0}.', log));
    return;
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(log));
  const last = document.lineAt(Math.max(0, document.lineCount - (document.lineAt(document.lineCount - 1).isEmptyOrWhitespace ? 2 : 1))).range;
  const editor = await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(last.start, last.start) });
  editor.revealRange(last, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
