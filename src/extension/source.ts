import * as vscode from 'vscode';
import { CoreError } from './coreClient';
import { Owner } from './lifecycle';
import type { Root, Roots } from './roots';

/** What the program said about one root, or why it said nothing. */
export type Loaded<T> = { root: Root; value: T } | { root: Root; error: CoreError };

/**
 * One kind of reply for every root of the window, shared by the views that show it. `get()` runs the program only when the last answer is
 * stale, and once however many ask (single flight). `invalidate()` makes it stale and tells the views.
 */
export class Source<T> extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;
  private readonly arrived = this.own(new vscode.EventEmitter<readonly Loaded<T>[]>());
  /** A fresh answer has come. */
  readonly onDidLoad = this.arrived.event;
  private flight: Promise<Loaded<T>[]> | undefined;
  private fresh = false;
  private last: Loaded<T>[] = [];

  constructor(private readonly roots: Roots, private readonly load: (root: Root) => Promise<T>) {
    super();
    this.own(roots.onDidChange(() => { this.invalidate(); }));
  }

  /** The last answers, perhaps stale, without asking. */
  get current(): readonly Loaded<T>[] {
    return this.last;
  }

  /** The answers for all roots, in their order. A program that fails is an answer with `error`; this never rejects. */
  async get(): Promise<readonly Loaded<T>[]> {
    while (!this.isDisposed) {
      if (this.flight) await this.flight;
      else if (this.fresh) break;
      else await this.start();
    }
    return this.last;
  }

  /** The next `get()` asks again. */
  invalidate(): void {
    this.fresh = false;
    if (!this.isDisposed) this.changed.fire();
  }

  /** Asks once; what becomes stale meanwhile is asked again by whoever waits. */
  private async start(): Promise<void> {
    this.fresh = true;
    this.flight = this.ask();
    try {
      this.last = await this.flight;
    } finally {
      this.flight = undefined;
    }
    this.arrived.fire(this.last);
  }

  private async ask(): Promise<Loaded<T>[]> {
    const roots = await this.roots.get();
    return Promise.all(roots.map(async (root): Promise<Loaded<T>> => {
      try {
        return { root, value: await this.load(root) };
      } catch (error) {
        return { root, error: error instanceof CoreError ? error : new CoreError('bad-reply', String(error), '') };
      }
    }));
  }
}
