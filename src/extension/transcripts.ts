import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Owner } from './lifecycle';
import { l10n } from './text/l10n';
import { transcriptText } from './text/transcriptText';

const scheme = 'loopkeeper-transcript';
/** Of a longer transcript the end is shown; an editor takes no larger text well. */
const limitBytes = 16 * 1024 * 1024;

/** Transcripts as read-only documents that follow their files. Only files that were opened from a row are read. */
export class Transcripts extends Owner implements vscode.TextDocumentContentProvider {
  private readonly changed = this.own(new vscode.EventEmitter<vscode.Uri>());
  readonly onDidChange = this.changed.event;
  /** By the document's address: its file, and the last line it had. */
  private readonly files = new Map<string, string>();
  private readonly ends = new Map<string, number>();

  constructor() {
    super();
    this.own(vscode.workspace.registerTextDocumentContentProvider(scheme, this));
    this.own(vscode.workspace.onDidCloseTextDocument(({ uri }) => { 
      this.files.delete(uri.toString());
      this.ends.delete(uri.toString());
    }));
    this.own(vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document.uri.scheme === scheme && contentChanges.length > 0) this.followEnd(document);
    }));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const file = this.files.get(uri.toString());
    if (file === undefined) return '';
    const read = readEnd(file);
    return read === undefined ? l10n.t('The transcript is not there any more.') : transcriptText(read.text, read.leftOut).text;
  }

  /** Shows a transcript, at the event with this number when it is given, else at its end. */
  async show(file: string, seq?: number): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${path.basename(file, '.jsonl')}.transcript`, query: path.dirname(file) });
    this.files.set(uri.toString(), file);
    const document = await vscode.workspace.openTextDocument(uri);
    this.ends.set(uri.toString(), document.lineCount - 1);
    const read = readEnd(file);
    const line = seq === undefined || read === undefined ? undefined : transcriptText(read.text, read.leftOut).lines.get(seq);
    const at = new vscode.Position(Math.min(line ?? document.lineCount - 1, document.lineCount - 1), 0);
    const editor = await vscode.window.showTextDocument(document, { preview: true, selection: new vscode.Range(at, at) });
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** The files may have changed: what is shown of them is read anew. */
  reread(): void {
    for (const address of this.files.keys()) this.changed.fire(vscode.Uri.parse(address));
  }

  /** Who looks at the end goes on looking at the end. */
  private followEnd(document: vscode.TextDocument): void {
    const address = document.uri.toString();
    const before = this.ends.get(address) ?? Infinity;
    const end = new vscode.Position(document.lineCount - 1, 0);
    this.ends.set(address, end.line);
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document || !editor.selection.isEmpty || editor.selection.active.line < before) continue;
      editor.selection = new vscode.Selection(end, end);
      editor.revealRange(new vscode.Range(end, end));
    }
  }
}

/** The end of a file, whole where it is not too long; undefined when it cannot be read. */
function readEnd(file: string): { text: string; leftOut: boolean } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, limitBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return { text: bytes.toString('utf8', 0, length), leftOut: size > limitBytes };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
