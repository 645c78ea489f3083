import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { contents, Person, portable, record, row, stateRoot, until } from './support';

const run = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(`loopkeeper.${command}`, ...args);
const events = (): string => readFileSync(path.join(stateRoot(), 'logs', 'events.jsonl'), 'utf8');
const resets = (): { work_item: string; removed: string[] }[] => events().trimEnd().split('\n').map((line) => JSON.parse(line) as { event: string; work_item: string; removed: string[] }).filter(({ event }) => event === 'session.reset');

describe('reset in the editor', () => {
  let person: Person;
  beforeEach(() => { person = new Person(); });
  afterEach(async () => {
    person.leave();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('asks, resets exactly that, says so once, and takes it back byte for byte', async () => {
    const before = contents(stateRoot());
    const log = events();
    person.answers = ['Reset', 'Undo'];
    person.clicks = ['Undo'];
    await run('reset', row('github:octo/repo#21'));
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(person.questions[0]?.message, 'Reset octo/repo#21?');
    assert.deepEqual(person.questions[0]?.buttons, ['Reset', 'Show Dry Run']);
    assert.match(person.questions[0]?.detail ?? '', /^Forgets: control \(start by root, .*\), poll \(1 comment seen\)\./m);
    assert.equal(person.said[0], 'Reset octo/repo#21; Undo brings all of it back.');
    // The click on Undo asks, and undoes.
    await until(() => person.said.length > 1, 'the second notification');
    assert.equal(person.questions[1]?.message, 'Undo "Reset octo/repo#21"?');
    assert.equal(person.said[1], 'Undone: octo/repo#21 is remembered as before.');
    assert.deepEqual(contents(stateRoot()), before);
    assert.ok(events().startsWith(log), 'the log only grew');
    assert.deepEqual(resets().at(-1)?.removed, ['control', 'poll']);
  });

  it('changes nothing on Cancel', async () => {
    const before = contents(stateRoot());
    await run('reset', row('github:octo/repo#21'));
    assert.equal(person.questions.length, 1);
    assert.deepEqual(contents(stateRoot()), before);
  });

  it('asks again with what changed when the plan is stale, and then resets nothing on Cancel', async () => {
    const text = readFileSync(portable(21), 'utf8');
    person.answers = [() => {
      writeFileSync(portable(21), JSON.stringify({ ...JSON.parse(text) as object, poll: null }));
      return 'Reset';
    }];
    try {
      await run('reset', row('github:octo/repo#21'));
      assert.equal(person.questions.length, 2);
      assert.doesNotMatch(person.questions[0]?.detail ?? '', /Changed while/);
      assert.match(person.questions[1]?.detail ?? '', /^Changed while you were reading: octo\/repo#21: no longer poll\./);
      assert.equal(existsSync(portable(21)), true);
      assert.deepEqual(person.said, []);
    } finally {
      writeFileSync(portable(21), text);
    }
  });

  it('resets those that are checked in the palette\'s list', async () => {
    const before = contents(stateRoot());
    person.choose = ({ label }) => /#(21|30|99)$/.test(label);
    person.answers = ['Reset 3 Items'];
    await run('resetItems');
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(person.questions[0]?.message, 'Reset 3 work items?');
    assert.equal(person.said[0], 'Reset 3 work items; Undo brings all of it back.');
    for (const file of [portable(21), record(30), record(99), portable(99)]) assert.equal(existsSync(file), false, file);
    const { picks } = person;
    assert.ok(picks[0]?.some(({ label, description }) => label === 'octo/repo#15 Prune loop state' && description === 'live'), JSON.stringify(picks[0]));
    // Undo… lists what was done, the latest first.
    person.choose = ({ label }) => label === 'Reset 3 work items';
    person.answers = ['Undo'];
    await run('undo');
    await until(() => person.said.length > 1, 'the second notification');
    assert.deepEqual(contents(stateRoot()), before);
  });

  it('shows a dry run that changes nothing, and applies it from its title bar', async () => {
    const before = contents(stateRoot());
    await run('showDryRun', row('github:octo/repo#99'));
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    const { document } = editor;
    assert.equal(document.uri.scheme, 'loopkeeper');
    assert.match(document.getText(), /^Dry run: reset octo\/repo#99\nNothing has been changed\./);
    assert.match(document.getText(), /delete local\/github-octo-repo-99\.json/);
    assert.deepEqual(contents(stateRoot()), before);
    person.answers = ['Reset'];
    await run('applyPlan', document.uri);
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(existsSync(record(99)), false);
    await until(() => /^Dry run: reset octo\/repo#99\nThis plan was applied/.test(document.getText()), 'the document says so');
    // A second time there is nothing to apply.
    person.questions.length = 0;
    await run('applyPlan', document.uri);
    assert.equal(person.questions.length, 0);
    person.choose = ({ label }) => label === 'Reset octo/repo#99';
    person.answers = ['Undo'];
    await run('undo');
    await until(() => person.said.length > 1, 'the second notification');
    assert.deepEqual(contents(stateRoot()), before);
  });

  it('of all items has the harmless button first and says what is left out', async () => {
    await run('resetAll');
    const [question] = person.questions;
    assert.match(question?.message ?? '', /^Reset all \d+ work items this machine remembers\?$/);
    assert.deepEqual(question?.buttons.map((title) => title.replace(/\d+/, 'N')), ['Show Dry Run', 'Reset All N Items']);
    assert.match(question?.detail ?? '', /^State: .*state\./);
    assert.match(question?.detail ?? '', /Not reset: 2 unreadable records, 1 item with phase choices only\./);
    assert.ok((question?.detail.split('\n').length ?? 99) <= 12);
  });

  it('tells what a live item loses: its checkout with the uncommitted work, and what stays', async () => {
    await run('reset', row('github:octo/repo#15'));
    const detail = person.questions[0]?.detail ?? '';
    assert.match(detail, /^Removes the checkout …\/github-octo-repo-15: 5 uncommitted files, kept in the trash\. 1 unpushed commit stays on its branch\.$/m);
    assert.match(detail, /^Stays: repository, ticket, event log, phase choices/m);
  });

  it('says so when nothing is remembered of it', async () => {
    await run('reset', row('github:octo/repo#12345'));
    assert.deepEqual(person.questions, []);
    assert.equal(person.said[0], 'Nothing is remembered of octo/repo#12345; there is nothing to reset.');
  });

  it('sees what another program writes', async () => {
    const text = readFileSync(record(31), 'utf8');
    const label = async (): Promise<string | undefined> => {
      person.picks.length = 0;
      await run('resetItems');
      return person.picks[0]?.find((pick) => pick.label.includes('#31'))?.description;
    };
    assert.equal(await label(), 'paused');
    writeFileSync(record(31), text.replace('"paused"', '"closed"'));
    try {
      await until(async () => await label() !== 'paused', 'the change is seen');
    } finally {
      writeFileSync(record(31), text);
    }
    await until(async () => await label() === 'paused', 'the change back is seen');
  });

  it('shows a hostile title as text', async () => {
    const file = path.join(JSON.parse(readFileSync(record(31), 'utf8')).cwd as string, 'docs/specs/issue-31/requirements.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `# **x** \u202e $(zap) [y](command:z) ${'t'.repeat(5000)}\n`);
    try {
      await run('refresh');
      person.picks.length = 0;
      await run('resetItems');
      const label = person.picks[0]?.find((pick) => pick.label.includes('#31'))?.label ?? '';
      assert.match(label, /^octo\/repo#31 \*\*x\*\* \\u202e \\\$\(zap\) \[y\]\(command:z\) t+…$/);
      assert.ok(label.length < 150);
    } finally {
      writeFileSync(file, text);
    }
  });

  it('attaches only to a terminal that a loop names', async () => {
    await run('attachHere', row('github:octo/repo#15', ['session'], { terminal: 'x; touch /tmp/y' }));
    assert.match(person.said[0] ?? '', /is no name that a loop gives/);
    assert.equal(vscode.window.terminals.some(({ name }) => name.includes('touch')), false);
  });
});
