import { existsSync, realpathSync } from 'node:fs';
import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import { raymondAbove, type Place } from './places';

/** Where workflow runs of this window are: one place for each `.raymond`, which is its `stateRoot`. Looking is cheap and creates nothing. */
export class RunPlaces extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;

  constructor() {
    super();
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(() => { this.changed.fire(); }));
  }

  get(): Promise<readonly Place[]> {
    const places = new Map<string, Place>();
    for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
      const raymond = uri.scheme === 'file' ? raymondAbove(uri.fsPath, existsSync) : undefined;
      if (raymond === undefined) continue;
      const real = realpathSync(raymond);
      if (!places.has(real)) places.set(real, { cwd: uri.fsPath, stateRoot: raymond });
    }
    return Promise.resolve([...places.values()]);
  }
}
