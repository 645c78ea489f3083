import * as vscode from 'vscode';
import { CoreError } from '../coreClient';
import type { Services } from '../services';
import { shown, unlinked } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Row } from '../views/row';

/** What a command was run on. */
export interface Target {
  /** The rows: the clicked one with the whole selection when it belongs to it, that of a tooltip's link, or the view's selection for a key. Empty from the palette. */
  rows: readonly Row[];
  /** The document whose title bar it was run from. */
  document?: vscode.Uri;
}

/** One command: a file under commands/, one line in commands/table.ts, its title and menus in package.json. Its errors are shown by the table. */
export type Command = (services: Services, target: Target) => Promise<void> | void;

/** Makes the arguments that the editor gives (row and selection, a link's row id, a key's `{view}`, a document) one shape. */
export function targetOf(services: Services, args: readonly unknown[]): Target {
  const [first, second] = args;
  if (first instanceof vscode.Uri) return { rows: [], document: first };
  if (typeof first === 'string') {
    for (const view of services.views.values()) {
      const row = view.find(first);
      if (row) return { rows: [row] };
    }
    return { rows: [] };
  }
  if (isRow(first)) {
    const selected = Array.isArray(second) ? second.filter(isRow) : [];
    return { rows: selected.includes(first) ? selected : [first] };
  }
  const viewId = isObject(first) && typeof first['view'] === 'string' ? first['view'] : undefined;
  return { rows: viewId === undefined ? [] : services.views.get(viewId)?.tree.selection ?? [] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isRow(value: unknown): value is Row {
  return isObject(value) && typeof value['id'] === 'string' && isObject(value['subject']);
}

/** Shows why a command failed: the program's own words and hint, or that it cannot run. A cancel is no failure. */
export async function showFailure(services: Services, error: unknown): Promise<void> {
  if (error instanceof CoreError && error.kind === 'cancelled') return;
  services.output.error(error instanceof Error ? error.stack ?? error.message : String(error));
  const showOutput = l10n.t('Show Output');
  const chosen = await vscode.window.showErrorMessage(failureText(error), showOutput);
  if (chosen === showOutput) services.output.show();
}

function failureText(error: unknown): string {
  // The first line tells what happened; the rest, if any, is in the output.
  const message = unlinked(shown((error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '', 300));
  if (!(error instanceof CoreError)) return l10n.t('Loopkeeper failed: {0}', message);
  if (error.kind === 'cannot-run' || error.kind === 'bad-reply') return l10n.t('Loopkeeper\'s program did not answer: {0}', message);
  return error.hint ? `${message} ${unlinked(shown(error.hint, 300))}` : message;
}
