import * as vscode from 'vscode';
import { contextKeys } from '../contextKeys';
import { Owner } from '../lifecycle';

/** What a dry run's document can be applied with; `apply` asks first. */
export interface Applicable { apply: () => Promise<void> }

const scheme = 'loopkeeper';

/** Read-only documents of the extension's own: dry runs, reports. A dry run has Apply This Plan… in its title bar until it was applied. */
export class Documents extends Owner implements vscode.TextDocumentContentProvider {
  private readonly changed = this.own(new vscode.EventEmitter<vscode.Uri>());
  readonly onDidChange = this.changed.event;
  private readonly texts = new Map<string, string>();
  private readonly applicable = new Map<string, Applicable>();
  private count = 0;

  constructor() {
    super();
    this.own(vscode.workspace.registerTextDocumentContentProvider(scheme, this));
    this.own(vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme !== scheme) return;
      this.texts.delete(uri.toString());
      if (this.applicable.delete(uri.toString())) this.publish();
    }));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** Opens a document. `title` is its tab's name. */
  async show(title: string, text: string, applicable?: Applicable): Promise<vscode.Uri> {
    this.count += 1;
    const uri = vscode.Uri.from({ scheme, path: `/${String(this.count)}/${title.replaceAll('/', '\u2215')}` });
    this.texts.set(uri.toString(), text);
    if (applicable) {
      this.applicable.set(uri.toString(), applicable);
      this.publish();
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });
    return uri;
  }

  /** How to apply the document's plan; undefined when there is none, or it was applied. */
  applicableOf(uri: vscode.Uri | undefined): Applicable | undefined {
    return uri && this.applicable.get(uri.toString());
  }

  /** The plan was applied: its title bar offers it no longer, and its text is another. */
  applied(uri: vscode.Uri, text: string): void {
    if (this.applicable.delete(uri.toString())) this.publish();
    if (!this.texts.has(uri.toString())) return;
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
  }

  private publish(): void {
    void vscode.commands.executeCommand('setContext', contextKeys.applicablePlans, [...this.applicable.keys()]);
  }
}
