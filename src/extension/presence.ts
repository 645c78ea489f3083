import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import type { Place } from './places';
import type { Loaded, Source } from './source';

/**
 * Keeps a context key that says whether a source has something to show, so that its view appears with it. It asks again whenever the source has
 * become stale, because a view that is not there cannot.
 */
export class Presence<T, P extends Place> extends Owner {
  private shown: boolean | undefined;

  /** `isSomething` also sees answers that are errors: a problem is something to show only where there is something. */
  constructor(source: Source<T, P>, private readonly key: string, private readonly isSomething: (loaded: Loaded<T, P>) => boolean) {
    super();
    this.own(source.onDidChange(() => { void source.get(); }));
    this.own(source.onDidLoad((loaded) => { this.update(loaded); }));
  }

  private update(loaded: readonly Loaded<T, P>[]): void {
    const show = loaded.some(this.isSomething);
    if (this.isDisposed || show === this.shown) return;
    this.shown = show;
    void vscode.commands.executeCommand('setContext', this.key, show);
  }
}
