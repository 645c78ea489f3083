import * as vscode from 'vscode';
import { CoreError } from './coreClient';
import { Owner } from './lifecycle';
import type { Place } from './places';
import type { Root } from './roots';

/** What the program said about one root (or other place to look), or why it said nothing. */
export type Loaded<T, P extends Place = Root> = { root: P; value: T } | { root: P; error: CoreError };

/** Where to ask: the loops (`Roots`), or other places. */
export interface Places<P extends Place> {
  get(): Promise<readonly P[]>;
  readonly onDidChange: vscode.Event<void>;
}

/**
 * One kind of reply for every root of the window, shared by the views that show it. `get()` runs the program only when the last answer is
 * stale, and once however many ask (single flight). `invalidate()` makes it stale and tells the views.
 */
export class Source<T, P extends Place = Root> extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;
  private readonly arrived = this.own(new vscode.EventEmitter<readonly Loaded<T, P>[]>());
  /** A fresh answer has come. */
  readonly onDidLoad = this.arrived.event;
  private flight: Promise<Loaded<T, P>[]> | undefined;
  private fresh = false;
  private last: Loaded<T, P>[] = [];

  constructor(private readonly roots: Places<P>, private readonly load: (root: P) => Promise<T>) {
    super();
    this.own(roots.onDidChange(() => { this.invalidate(); }));
  }

  /** The last answers, perhaps stale, without asking. */
  get current(): readonly Loaded<T, P>[] {
    return this.last;
  }

  /**
   * The answers for all roots, in their order, asked for after the last `invalidate()` before this call; what becomes stale while it waits is
   * told by `onDidChange`. A program that fails is an answer with `error`; this never rejects.
   */
  async get(): Promise<readonly Loaded<T, P>[]> {
    if (this.flight && !this.fresh) await this.flight;
    if (this.flight) await this.flight;
    else if (!this.fresh && !this.isDisposed) await this.start();
    return this.last;
  }

  /** The next `get()` asks again. */
  invalidate(): void {
    this.fresh = false;
    if (!this.isDisposed) this.changed.fire();
  }

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

  private async ask(): Promise<Loaded<T, P>[]> {
    const roots = await this.roots.get();
    return Promise.all(roots.map(async (root): Promise<Loaded<T, P>> => {
      try {
        return { root, value: await this.load(root) };
      } catch (error) {
        return { root, error: error instanceof CoreError ? error : new CoreError('bad-reply', String(error), '') };
      }
    }));
  }
}
