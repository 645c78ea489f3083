import * as vscode from 'vscode';
import type { Command } from './command';

/** The file that holds the row (Open Record), or for a checkout its folder, shown in the system's file manager or the explorer. */
export const openRecord: Command = async (_, { rows }) => {
  for (const { subject } of rows) {
    if (subject.path !== undefined) {
      const at = subject.line === undefined ? {} : { selection: new vscode.Range(subject.line - 1, 0, subject.line - 1, 0) };
      await vscode.window.showTextDocument(vscode.Uri.file(subject.path), { preview: rows.length === 1, ...at });
    }
    else if (subject.directory !== undefined) await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(subject.directory), { forceNewWindow: true });
  }
};

/** The item's page, by its recorded address; only web addresses are opened. */
export const openTicket: Command = async (_, { rows }) => {
  for (const { subject } of rows) {
    if (subject.url !== undefined && /^https?:\/\//.test(subject.url)) await vscode.env.openExternal(vscode.Uri.parse(subject.url, true));
  }
};

/** The directory that the agent works in, in a window of its own. */
export const openCheckout: Command = async (_, { rows }) => {
  const directory = rows[0]?.subject.directory;
  if (directory !== undefined) await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(directory), { forceNewWindow: true });
};
