import path from 'node:path';
import * as vscode from 'vscode';
import type { ListReply } from '../protocol/sessions';
import { Owner } from './lifecycle';
import type { Roots } from './roots';
import { affects, setting } from './settings';
import type { Source } from './source';

/** Files that come together are one change. */
const settleMilliseconds = 250;
/** Statuses are asked at most this often, also while the views are hidden. */
const statusMilliseconds = 5_000;

interface Refreshable { invalidate(): void }

/**
 * Looks at the state again when its files change: watches the directories of each root's records (flat, so that nothing large is walked),
 * makes the sources stale and asks the status. With `refresh.pollSeconds` it also looks at intervals, while a view is visible.
 */
export class Refresher extends Owner {
  private watchers = new Map<string, vscode.Disposable>();
  private settle: NodeJS.Timeout | undefined;
  private statusTimer: NodeJS.Timeout | undefined;
  private poll: NodeJS.Timeout | undefined;
  private lastLook = 0;
  private readonly asked = this.own(new vscode.EventEmitter<void>());
  /** Everything is looked at again: the person asked for it, or a command has changed something. */
  readonly onDidAsk = this.asked.event;

  constructor(private readonly roots: Roots, private readonly list: Source<ListReply>, private readonly sources: readonly Refreshable[], private readonly isAnyVisible: () => boolean) {
    super();
    this.own(roots.onDidLook(() => { this.watch(); }));
    this.own(list.onDidLoad(() => { this.watch(); }));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => { if (affects(event, 'refresh.pollSeconds')) this.schedulePoll(); }));
    this.schedulePoll();
  }

  /** Everything again, now: the person asked for it, or a command has changed something. */
  async refresh(): Promise<void> {
    this.lastLook = Date.now();
    clearTimeout(this.statusTimer);
    this.statusTimer = undefined;
    for (const source of this.sources) source.invalidate();
    // What is seen comes first: several programs at once are each slower.
    if (this.isAnyVisible()) await this.list.get();
    this.asked.fire();
    await this.roots.find();
  }

  override dispose(): void {
    clearTimeout(this.settle);
    clearTimeout(this.statusTimer);
    clearInterval(this.poll);
    for (const watcher of this.watchers.values()) watcher.dispose();
    this.watchers.clear();
    super.dispose();
  }

  /** A view was shown or hidden: intervals run only while one is seen. */
  schedulePoll(): void {
    clearInterval(this.poll);
    const seconds = setting('refresh.pollSeconds', 0);
    this.poll = seconds > 0 && this.isAnyVisible() ? setInterval(() => { void this.refresh(); }, Math.max(seconds, 5) * 1000) : undefined;
  }

  private watch(): void {
    if (this.isDisposed) return;
    const wanted = new Set<string>();
    for (const root of this.roots.current) {
      wanted.add(path.join(root.stateRoot, 'portable')).add(path.join(root.stateRoot, 'local'));
      if (root.status.config !== null) wanted.add(root.status.config);
    }
    for (const loaded of this.list.current) {
      if (!('value' in loaded)) continue;
      for (const item of loaded.value.items) for (const file of item.paths) wanted.add(path.dirname(file));
    }
    for (const [target, watcher] of this.watchers) {
      if (wanted.has(target)) continue;
      watcher.dispose();
      this.watchers.delete(target);
    }
    for (const target of wanted) if (!this.watchers.has(target)) this.watchers.set(target, this.watchOne(target));
  }

  private watchOne(target: string): vscode.Disposable {
    const isFile = /\.ya?ml$/.test(target);
    const base = vscode.Uri.file(isFile ? path.dirname(target) : target);
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(base, isFile ? path.basename(target) : '*.json'));
    const changed = (): void => { this.changed(); };
    watcher.onDidChange(changed);
    watcher.onDidCreate(changed);
    watcher.onDidDelete(changed);
    return watcher;
  }

  private changed(): void {
    if (this.isDisposed) return;
    clearTimeout(this.settle);
    this.settle = setTimeout(() => { for (const source of this.sources) source.invalidate(); }, settleMilliseconds);
    if (this.statusTimer) return;
    const wait = Math.max(settleMilliseconds, this.lastLook + statusMilliseconds - Date.now());
    this.statusTimer = setTimeout(() => {
      this.statusTimer = undefined;
      this.lastLook = Date.now();
      void this.roots.find();
    }, wait);
  }
}
