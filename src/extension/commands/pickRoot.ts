import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { tildePath } from '../places';
import type { Root } from '../roots';
import type { Services } from '../services';
import { visible, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Target } from './command';

/** The loop that a command is about: the row's, the only one, or the one a person picks. Undefined when there is none or nothing was picked. */
export async function pickRoot({ roots }: Services, { rows }: Target): Promise<Root | undefined> {
  const known = await roots.get();
  const named = rows[0]?.subject.place.stateRoot;
  if (named !== undefined) return known.find(({ stateRoot }) => stateRoot === named);
  if (known.length < 2) return known[0];
  const picks = known.map((root) => ({ label: withoutIcons(visible(tildePath(root.stateRoot, homedir()))), root }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Which loop?') }))?.root;
}
