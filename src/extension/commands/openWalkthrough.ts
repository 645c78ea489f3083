import * as vscode from 'vscode';
import type { Command } from './command';

export const openWalkthrough: Command = async ({ extension }) => {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extension.id}#start`, false);
};
