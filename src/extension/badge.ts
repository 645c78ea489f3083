import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import type { Roots } from './roots';
import { affects, setting } from './settings';
import { plural } from './text/l10n';

/** The number of entries that need a person, on the Work Items view; kept up while the view is hidden too. */
export class Badge extends Owner {
  constructor(private readonly tree: vscode.TreeView<unknown>, private readonly roots: Roots) {
    super();
    this.own(roots.onDidLook(() => { this.update(); }));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => { if (affects(event, 'badge')) this.update(); }));
  }

  private update(): void {
    const value = setting('badge', true) ? this.roots.current.reduce((sum, { status }) => sum + new Set(status.attention.map(({ ref }) => ref)).size, 0) : 0;
    this.tree.badge = value === 0 ? undefined : { value, tooltip: plural(value, '{0} entry needs you', '{0} entries need you') };
  }
}
