import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import { placesToLook, type Place } from './places';
import { affects, setting } from './settings';
import type { Places } from './source';

/** A folder of the window, as a place to ask about: its own files, and not a loop's state. */
export interface FolderPlace extends Place {
  /** The folder. */
  folder: string;
  /** Its name in the window. */
  name: string;
}

/** The folders of the window that `placeOf` takes, in their order. Fires when folders, trust or the settings that say where to look change. */
export class Folders extends Owner implements Places<FolderPlace> {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;

  constructor(private readonly placeOf: (folder: vscode.WorkspaceFolder) => FolderPlace | undefined) {
    super();
    const fire = (): void => { this.changed.fire(); };
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(fire));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(fire));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => { if (affects(event, 'loopFolder', 'cliConfig', 'gitPath')) fire(); }));
  }

  get current(): FolderPlace[] {
    return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').flatMap((folder) => this.placeOf(folder) ?? []);
  }

  get(): Promise<FolderPlace[]> {
    return Promise.resolve(this.current);
  }
}

/** A folder with the loop's configuration that is in force for it: for what is said of its agents. */
export function loopPlace(folder: vscode.WorkspaceFolder, home: string): FolderPlace {
  const { fsPath } = folder.uri;
  const [place] = placesToLook([{ path: fsPath, loopFolder: setting('loopFolder', '', folder.uri), cliConfig: setting('cliConfig', '', folder.uri) }], home);
  return { cwd: fsPath, stateRoot: '', ...place, folder: fsPath, name: folder.name };
}

/** A folder that has loop state; undefined where there is none. */
export function loopStatePlace({ uri, name }: vscode.WorkspaceFolder): FolderPlace | undefined {
  return existsSync(path.join(uri.fsPath, '.loop')) ? { cwd: uri.fsPath, stateRoot: '', folder: uri.fsPath, name } : undefined;
}

/** Files that come together are one change. */
const settleMilliseconds = 250;

/** Calls back when files change that match a pattern in a directory itself (flat, so that nothing large is walked). The directory may not be there yet. */
export class FileWatch extends Owner {
  private readonly watchers = new Map<string, vscode.Disposable>();
  private settle: NodeJS.Timeout | undefined;

  constructor(private readonly onChange: () => void) {
    super();
  }

  /** Watches these and no others: a directory and a pattern for the names in it. */
  watch(targets: readonly (readonly [directory: string, pattern: string])[]): void {
    if (this.isDisposed) return;
    const wanted = new Map(targets.map((target) => [target.join('\0'), target]));
    for (const [key, watcher] of this.watchers) {
      if (wanted.has(key)) continue;
      watcher.dispose();
      this.watchers.delete(key);
    }
    for (const [key, [directory, pattern]] of wanted) {
      if (this.watchers.has(key)) continue;
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(directory), pattern));
      const changed = (): void => {
        clearTimeout(this.settle);
        this.settle = setTimeout(() => { if (!this.isDisposed) this.onChange(); }, settleMilliseconds);
      };
      watcher.onDidChange(changed);
      watcher.onDidCreate(changed);
      watcher.onDidDelete(changed);
      this.watchers.set(key, watcher);
    }
  }

  override dispose(): void {
    clearTimeout(this.settle);
    for (const watcher of this.watchers.values()) watcher.dispose();
    this.watchers.clear();
    super.dispose();
  }
}
