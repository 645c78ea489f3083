import path from 'node:path';
import * as vscode from 'vscode';
import { WorkflowLintReply, type Diagnostic } from '../protocol/workflow';
import { CoreError, type CoreClient, type Log } from './coreClient';
import { Owner } from './lifecycle';
import { isWithin, type Place } from './places';

const severities: Record<Diagnostic['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error, warning: vscode.DiagnosticSeverity.Warning, info: vscode.DiagnosticSeverity.Information,
};

/** What lint says about workflows, in the Problems view, on their files. A workflow that was checked once is checked again when one of its files is saved. */
export class Lint extends Owner {
  private readonly collection = this.own(vscode.languages.createDiagnosticCollection('loopkeeper'));
  /** By workflow: where it is checked from, and what was said of its files and those it calls. */
  private readonly checked = new Map<string, { place: Place; byFile: Map<string, vscode.Diagnostic[]> }>();

  constructor(private readonly client: CoreClient, private readonly log: Log) {
    super();
    this.own(vscode.workspace.onDidSaveTextDocument(({ uri }) => { if (uri.scheme === 'file') void this.saved(uri.fsPath); }));
  }

  /** Checks a workflow (a folder or a YAML file) and shows what there is to say. */
  async check(place: Place, workflow: string): Promise<WorkflowLintReply['counts']> {
    const { reply } = await this.client.run({ place, args: ['workflow', 'lint', workflow], schema: WorkflowLintReply });
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const diagnostic of reply.diagnostics) {
      const file = path.resolve(workflow, diagnostic.file);
      byFile.set(file, [...(byFile.get(file) ?? []), shownDiagnostic(diagnostic)]);
    }
    this.checked.set(workflow, { place, byFile });
    this.publish();
    return reply.counts;
  }

  private async saved(file: string): Promise<void> {
    for (const [workflow, { place, byFile }] of this.checked) {
      if (!isWithin(workflow, file) && !byFile.has(file)) continue;
      try {
        await this.check(place, workflow);
      } catch (error) {
        // The workflow is gone, say; what was said of it is no longer so.
        this.log.error(error instanceof CoreError ? error.message : String(error));
        this.checked.delete(workflow);
        this.publish();
      }
    }
  }

  /** Files that several workflows use have each thing said once. */
  private publish(): void {
    if (this.isDisposed) return;
    const all = new Map<string, Map<string, vscode.Diagnostic>>();
    for (const { byFile } of this.checked.values()) {
      for (const [file, diagnostics] of byFile) {
        const said = all.get(file) ?? new Map<string, vscode.Diagnostic>();
        for (const one of diagnostics) said.set([one.range.start.line, one.range.start.character, one.message].join('\0'), one);
        all.set(file, said);
      }
    }
    this.collection.clear();
    for (const [file, said] of all) this.collection.set(vscode.Uri.file(file), [...said.values()]);
  }
}

function shownDiagnostic({ line, column, endColumn, severity, check, message }: Diagnostic): vscode.Diagnostic {
  const range = new vscode.Range(line - 1, column - 1, line - 1, Math.max(column, endColumn) - 1);
  const diagnostic = new vscode.Diagnostic(range, message, severities[severity]);
  diagnostic.source = 'Loopkeeper';
  diagnostic.code = check;
  return diagnostic;
}
