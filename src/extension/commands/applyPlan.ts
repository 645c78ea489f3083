import * as vscode from 'vscode';
import type { Command } from './command';

/** Applies the dry run of a document, after the question. */
export const applyPlan: Command = async ({ documents }, { document }) => {
  await documents.applicableOf(document ?? vscode.window.activeTextEditor?.document.uri)?.apply();
};
