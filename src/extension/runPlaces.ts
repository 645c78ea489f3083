import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import type { Place } from './places';

/** The `.raymond` directory for a folder: searched upward, not above a folder that has `.git`; as the program does. */
export function raymondAbove(folder: string, exists: (file: string) => boolean): string | undefined {
  for (let directory = folder; ; directory = path.dirname(directory)) {
    const candidate = path.join(directory, '.raymond');
    if (exists(candidate)) return candidate;
    if (exists(path.join(directory, '.git')) || directory === path.dirname(directory)) return undefined;
  }
}

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
