import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { slowness } from '../support/slowness';
import { folder, report, row, stateRoot, until } from './support';

const extension = (): vscode.Extension<unknown> => {
  const found = vscode.extensions.getExtension('loopkeeper.loopkeeper');
  assert.ok(found, 'the extension is installed');
  return found;
};

describe('the extension in its host', () => {
  before(async () => { await extension().activate(); });

  it('wakes by itself where a loop has left something', () => {
    assert.equal(extension().isActive, true);
  });

  it('is awake within 50 ms and small', () => {
    const [measured] = performance.getEntriesByName('loopkeeper.activate');
    assert.ok(measured, 'activate() measures itself');
    const dist = path.join(extension().extensionPath, 'dist');
    const size = (...files: string[]): number => Math.ceil(files.reduce((sum, file) => sum + statSync(path.join(dist, file)).size, 0) / 1024);
    // What waking up loads; what commands do comes with the first of them.
    const sizes = { 'extension.js': size('extension.js', ...readdirSync(dist).filter((name) => /^extension-chunk-.*\.js$/.test(name))), 'cli.js': size('cli.js') };
    report(`activate() ${measured.duration.toFixed(1)} ms, extension.js ${String(sizes['extension.js'])} KB, cli.js ${String(sizes['cli.js'])} KB`);
    const slow = slowness();
    assert.ok(measured.duration <= 50 * slow, `activate() took ${measured.duration.toFixed(1)} ms on a machine ${slow.toFixed(1)} times slower than the budget's`);
    assert.ok(sizes['extension.js'] <= 150, JSON.stringify(sizes));
  });

  it('registers every command that it contributes', async () => {
    const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
    const registered = new Set(await vscode.commands.getCommands(true));
    for (const { command } of contributes.commands) assert.ok(registered.has(command), command);
  });

  it('creates nothing by looking', async () => {
    await vscode.commands.executeCommand('loopkeeper.refresh');
    assert.equal(existsSync(path.join(stateRoot(), 'loopkeeper')), false);
  });

  it('copies references and a command line that works in a shell', async () => {
    const rows = [row('github:octo/repo#15', ['item'], { arguments: ['sessions', 'show', 'github:octo/repo#15'] }), row('github:octo/repo#31', ['item'])];
    await vscode.commands.executeCommand('loopkeeper.copyReference', rows[0], rows);
    assert.equal(await vscode.env.clipboard.readText(), 'github:octo/repo#15\ngithub:octo/repo#31');
    await vscode.commands.executeCommand('loopkeeper.copyCommandLine', rows[0], [rows[0]]);
    const line = await vscode.env.clipboard.readText();
    const { execFileSync } = await import('node:child_process');
    assert.match(execFileSync('sh', ['-c', line], { encoding: 'utf8' }), /github:octo\/repo#15/);
  });

  it('opens a row\'s record', async () => {
    const file = path.join(stateRoot(), 'local', 'github-octo-repo-15.json');
    await vscode.commands.executeCommand('loopkeeper.openRecord', row('github:octo/repo#15', ['item'], { path: file }));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, file);
  });

  it('opens the event log at its last line', async () => {
    await vscode.commands.executeCommand('loopkeeper.openEventLog');
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.fsPath, path.join(stateRoot(), 'logs', 'events.jsonl'));
    const lines = readFileSync(editor?.document.uri.fsPath ?? '', 'utf8').trimEnd().split('\n').length;
    assert.equal(editor?.selection.active.line, lines - 1);
  });

  it('shows the doctor\'s findings as a read-only document', async () => {
    await vscode.commands.executeCommand('loopkeeper.runDoctor');
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.uri.scheme, 'loopkeeper');
    assert.match(document?.getText() ?? '', /finding.* need|Nothing needs/);
    assert.match(document?.getText() ?? '', new RegExp(`Values in force[^]*${path.join(folder(), 'state')}`));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('looks where loopFolder says, and back', async () => {
    const configuration = vscode.workspace.getConfiguration('loopkeeper', vscode.workspace.workspaceFolders?.[0]?.uri);
    const logOf = async (): Promise<string | undefined> => {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand('loopkeeper.openEventLog');
      return vscode.window.activeTextEditor?.document.uri.fsPath;
    };
    await configuration.update('loopFolder', './state', vscode.ConfigurationTarget.Workspace);
    try {
      await until(async () => await logOf() === undefined, 'the empty folder has no loop');
    } finally {
      await configuration.update('loopFolder', undefined, vscode.ConfigurationTarget.Workspace);
    }
    await until(async () => await logOf() === path.join(stateRoot(), 'logs', 'events.jsonl'), 'the loop is found again');
  });
});
