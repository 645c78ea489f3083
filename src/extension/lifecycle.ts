interface DisposableLike { dispose(): unknown }

/** Owns what must be disposed of with it; the one disposal path of the extension. */
export class Owner implements DisposableLike {
  private readonly owned: DisposableLike[] = [];
  protected isDisposed = false;

  /** Takes a disposable; when this owner is gone already, it is disposed of at once. */
  protected own<T extends DisposableLike>(disposable: T): T {
    if (this.isDisposed) disposable.dispose();
    else this.owned.push(disposable);
    return disposable;
  }

  dispose(): void {
    this.isDisposed = true;
    for (const disposable of this.owned.splice(0).reverse()) disposable.dispose();
  }
}
