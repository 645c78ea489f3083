import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Row } from '../../../src/extension/views/row';
import { contents, folder, Person, until } from './support';

const run = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(`loopkeeper.${command}`, ...args);
const directory = (): string => path.join(folder(), '.loop');
const stateFile = (): string => path.join(directory(), 'state-ci-sweeper.json');
const git = (...args: string[]): string => execFileSync('git', ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com', '-c', 'commit.gpgsign=false', ...args], { cwd: folder(), encoding: 'utf8' });

/** A row as the Loop State view would hand it to a command. */
function targetRow(key: string): Row {
  return { id: key, label: key, icon: 'x', words: ['target'], spoken: key, subject: { place: { cwd: folder(), stateRoot: '' }, path: stateFile(), loop: 'ci-sweeper', key } };
}

describe('loop state in the editor', () => {
  let person: Person;
  before(async () => {
    const extension = vscode.extensions.getExtension('loopkeeper.loopkeeper');
    assert.ok(extension);
    await extension.activate();
    cpSync(path.join(extension.extensionPath, 'test/support/loop-state'), directory(), { recursive: true });
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'Sample');
    git('config', 'user.email', 'sample@example.com');
    git('add', '.loop');
    git('commit', '--quiet', '-m', 'State');
    await run('refresh');
  });
  after(async () => {
    for (const name of ['.loop', '.git']) rmSync(path.join(folder(), name), { recursive: true, force: true });
    await run('refresh');
  });
  beforeEach(() => { person = new Person(); });
  afterEach(async () => {
    person.leave();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('prunes after a question with counts, and Undo puts every byte back', async () => {
    const before = contents(directory());
    person.answers = ['Prune', 'Undo'];
    person.clicks = ['Undo'];
    await run('pruneLoopState');
    await until(() => person.said.length > 1, 'both notifications');
    assert.equal(person.questions[0]?.message, 'Prune the loop state of loops?');
    assert.deepEqual(person.questions[0]?.buttons, ['Prune', 'Prune and Commit', 'Show Dry Run']);
    assert.match(person.questions[0]?.detail ?? '', /^Goes: \d+ entries older than 30 days \(.*state-ci-sweeper\.json.*\)\.$/m);
    assert.match(person.questions[0]?.detail ?? '', /^Cools down: \d watched branches.*their cursors stay\.$/m);
    assert.match(person.said[0] ?? '', /^Pruned: \d+ entries removed and \d watched branches cooled down\. Undo puts all of it back\.$/);
    assert.match(person.said[1] ?? '', /^Undone: /);
    assert.deepEqual(contents(directory()), before);
  });

  it('shows every entry in a dry run that changes nothing', async () => {
    const before = contents(directory());
    person.answers = ['Show Dry Run'];
    await run('pruneLoopState');
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.match(text, /^Dry run: prune the loop state of loops\nNothing has been changed\./);
    assert.match(text, /^ {2}pull_request:452 goes: older than 30 days$/m);
    assert.match(text, /loop-state prune --expect/);
    assert.deepEqual(contents(directory()), before);
  });

  it('commits the state files, and only them, when asked to', async () => {
    const head = git('rev-parse', 'HEAD').trim();
    person.answers = ['Prune and Commit'];
    await run('pruneLoopState');
    await until(() => person.said.length > 0, 'the notification');
    assert.match(person.said[0] ?? '', /the commit stays\.$/);
    assert.equal(git('rev-parse', 'HEAD~1').trim(), head);
    assert.ok(git('show', '--name-only', '--format=', 'HEAD').trim().split('\n').every((file) => file.startsWith('.loop/')));
    assert.equal(git('status', '--porcelain', '.loop'), '');
    git('reset', '--quiet', '--hard', head);
    await run('refresh');
  });

  it('unblocks one target: its count, and nothing else', async () => {
    const before = readFileSync(stateFile(), 'utf8');
    person.answers = ['Unblock'];
    await run('unblock', targetRow('pull_request:452'));
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(person.questions[0]?.message, 'Unblock PR 452 of ci-sweeper?');
    assert.match(person.questions[0]?.detail ?? '', /it failed 3 times in a row\.$/m);
    const [was, is] = [before, readFileSync(stateFile(), 'utf8')].map((text) => text.split('\n'));
    const changed = (was ?? []).flatMap((line, index) => line === is?.[index] ? [] : [[line.trim(), is?.[index]?.trim()]]);
    assert.deepEqual(changed, [['"consecutive_failures": 3,', '"consecutive_failures": 0,']]);
    // Undo… lists it among what was done.
    person.choose = ({ label }) => /^Unblock in /.test(label);
    person.answers = ['Undo'];
    await run('undo');
    await until(() => person.said.length > 1, 'the second notification');
    assert.equal(readFileSync(stateFile(), 'utf8'), before);
  });

  it('opens the file at the entry', async () => {
    await run('openFile', { ...targetRow('pull_request:452'), subject: { ...targetRow('x').subject, line: 11 } });
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, stateFile());
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, 10);
  });
});
