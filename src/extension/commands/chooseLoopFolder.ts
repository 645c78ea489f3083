import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { l10n } from '../text/l10n';
import type { Command } from './command';

/** Asks for the folder that a loop's daemon runs in and remembers it in the folder's or window's settings; nothing else is written. */
export const chooseLoopFolder: Command = async () => {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick({ placeHolder: l10n.t('For which folder?') }) : folders[0];
  if (folders.length > 0 && !folder) return;
  const chosen = await vscode.window.showOpenDialog({
    canSelectFiles: false, canSelectFolders: true, defaultUri: folder?.uri ?? vscode.Uri.file(homedir()),
    title: l10n.t('Choose the Folder that the Loop Runs In'), openLabel: l10n.t('Choose Loop Folder'),
  });
  const path = chosen?.[0]?.fsPath;
  if (path === undefined) return;
  const target = folder ? (folders.length > 1 ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace) : vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration('loopkeeper', folder?.uri).update('loopFolder', path, target);
};
