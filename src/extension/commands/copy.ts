import * as vscode from 'vscode';
import type { Command } from './command';

/** `github:octo/repo#15`, one line each. */
export const copyReference: Command = async (_, { rows }) => {
  const references = rows.flatMap(({ subject }) => subject.ref ?? []);
  if (references.length > 0) await vscode.env.clipboard.writeText(references.join('\n'));
};

/** The command that tells more about the row, as a line for a terminal. */
export const copyCommandLine: Command = async ({ client }, { rows }) => {
  const lines = rows.flatMap(({ subject }) => subject.arguments ? [client.pasteable(subject.place, subject.arguments)] : []);
  if (lines.length > 0) await vscode.env.clipboard.writeText(lines.join('\n'));
};
