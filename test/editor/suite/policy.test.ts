import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { contents, folder, Person, row, stateRoot, until } from './support';

const run = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(`loopkeeper.${command}`, ...args);
const file = (): string => path.join(folder(), '.the-loop', 'harness-config.yaml');
const home = (): string => process.env['HOME'] ?? assert.fail('the host has a home directory of its own');
const transcripts = (): string => path.join(home(), '.claude');

/** Lines that differ between two texts of as many lines. */
function changed(before: string, after: string): [string, string | undefined][] {
  const [was, is] = [before.split('\n'), after.split('\n')];
  assert.equal(was.length, is.length);
  return was.flatMap((line, index): [string, string | undefined][] => line === is[index] ? [] : [[line, is[index]]]);
}

describe('the context policy in the editor', () => {
  let person: Person;
  let sample: string;
  before(async () => {
    const extension = vscode.extensions.getExtension('loopkeeper.loopkeeper');
    assert.ok(extension);
    await extension.activate();
    sample = readFileSync(path.join(extension.extensionPath, 'test/support/specs/harness-config.yaml'), 'utf8');
  });
  beforeEach(() => {
    person = new Person();
    writeFileSync(file(), sample);
  });
  afterEach(async () => {
    person.leave();
    rmSync(file(), { force: true });
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('toggled changes one line, and Undo brings it back', async () => {
    person.clicks = ['Undo'];
    person.answers = [() => {
      assert.deepEqual(changed(sample, readFileSync(file(), 'utf8')).map(([was, is]) => [was.trim().replace(/ +#.*/, ''), is?.trim().replace(/ +#.*/, '')]), [['enabled: true', 'enabled: false']]);
      return 'Undo';
    }];
    await run('toggleContextPolicy');
    await until(() => person.said.length > 1, 'both notifications');
    assert.match(person.said[0] ?? '', /^Context policy off in loops \(harness-config\.yaml changed\)\./);
    assert.equal(person.questions.length, 1, 'a toggle asks nothing; only Undo does');
    assert.equal(readFileSync(file(), 'utf8'), sample);
  });

  it('has its values changed one by one', async () => {
    const choices = ['Task boundary', 'clear'];
    person.choose = ({ label }) => label === choices[0] && choices.shift() !== undefined;
    await run('changeContextPolicy');
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(person.said[0], 'Task boundary is clear in loops (harness-config.yaml changed).');
    assert.equal(changed(sample, readFileSync(file(), 'utf8')).length, 1);
    assert.match(person.picks[0]?.find(({ label }) => label === 'Phase boundary')?.detail ?? '', /^harness-config\.yaml:\d+$/);
  });

  it('without a file opens a menu, and makes a file only after a question', async () => {
    rmSync(file());
    const choices = ['Create a Policy File in loops…', 'off', 'Create a Policy File in loops…', 'off'];
    person.choose = ({ label }) => label === choices[0] && choices.shift() !== undefined;
    await run('toggleContextPolicy');
    assert.equal(person.questions[0]?.message, 'Create a policy file in loops?');
    assert.equal(existsSync(file()), false, 'Cancel makes nothing');
    person.answers = ['Create File', 'Undo'];
    person.clicks = ['Undo'];
    await run('toggleContextPolicy');
    await until(() => person.said.length > 1, 'both notifications');
    assert.match(person.said[0] ?? '', /^Context policy off in loops \(.*harness-config\.yaml created\)\./);
    assert.equal(existsSync(file()), false, 'Undo removes it');
  });

  it('that is wrong is opened at its line, and left alone', async () => {
    const line = sample.split('\n').findIndex((text) => /^ +midTask:/.test(text));
    assert.ok(line > 0);
    const broken = sample.replace(/^( +midTask:) *\w+/m, '$1 clear');
    assert.notEqual(broken, sample);
    writeFileSync(file(), broken);
    await run('toggleContextPolicy');
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, file());
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, line);
    assert.equal(readFileSync(file(), 'utf8'), broken);
  });
});

describe('checkpoints in the editor', () => {
  let person: Person;
  let asked: string[];
  let answers: string[];
  const { showInputBox } = vscode.window;
  before(() => {
    const project = path.join(transcripts(), 'projects', folder().replace(/[^A-Za-z0-9]/g, '-'));
    mkdirSync(project, { recursive: true });
    mkdirSync(path.join(transcripts(), 'sessions'), { recursive: true });
    const usage = { input_tokens: 2_000, cache_read_input_tokens: 140_000, cache_creation_input_tokens: 0, output_tokens: 0 };
    const common = { cwd: folder(), sessionId: 'plain-1', isSidechain: false, timestamp: new Date().toISOString() };
    writeFileSync(path.join(project, 'plain-1.jsonl'), [
      { type: 'user', message: { role: 'user', content: 'Find the leak' }, ...common, uuid: 'u1' },
      { type: 'assistant', message: { role: 'assistant', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'Looking.' }], usage }, ...common, uuid: 'a1' },
      { type: 'custom-title', customTitle: 'Find the leak', sessionId: 'plain-1' },
    ].map((record) => JSON.stringify(record)).join('\n') + '\n');
    writeFileSync(path.join(transcripts(), 'sessions', `${String(process.pid)}.json`), JSON.stringify({ pid: process.pid, sessionId: 'plain-1', cwd: folder(), status: 'idle' }));
  });
  beforeEach(() => {
    person = new Person();
    asked = [];
    answers = [];
    Object.assign(vscode.window, { showInputBox: (options: vscode.InputBoxOptions) => { asked.push(options.prompt ?? ''); return Promise.resolve(answers.shift()); } });
  });
  afterEach(() => {
    Object.assign(vscode.window, { showInputBox });
    person.leave();
  });
  after(() => { rmSync(transcripts(), { recursive: true, force: true }); });

  it('offer the live sessions with how full their windows are, and write a hand-over of a plain one', async () => {
    await run('refresh');
    person.choose = ({ label }) => label === 'Find the leak' || label === 'work in progress';
    person.answers = ['Write Checkpoint'];
    answers = ['found the leak in the pool', 'close the sockets in pool.ts'];
    await run('checkpoint');
    assert.match(person.picks[0]?.find(({ label }) => label === 'Find the leak')?.description ?? '', /^71 % of ~?200k · idle/);
    await until(() => person.said.length > 0, 'the notification');
    assert.deepEqual(asked.slice(0, 2), ['What was done?', 'What is the next step?']);
    assert.equal(person.questions[0]?.message, 'Write the checkpoint of Find the leak?');
    assert.match(person.questions[0]?.detail ?? '', /^Will be written: log entry, next "close the sockets in pool\.ts"\.$/m);
    assert.match(person.said[0] ?? '', /^The checkpoint of Find the leak is written/);
    // No repository is here: what is uncommitted is unknown, and accepted by the person.
    assert.match(person.questions[0]?.detail ?? '', /^Unknown, accepted: work in progress: /m);
    // Written twice it adds nothing.
    const written = contents(path.join(stateRoot(), 'loopkeeper', 'handover'));
    person.said.length = 0;
    answers = ['found the leak in the pool', 'close the sockets in pool.ts'];
    await run('checkpoint', row('plain-1', ['session', 'plain'], { session: 'plain-1' }));
    assert.equal(person.said[0], 'All of that is on disk already; nothing is written.');
    assert.deepEqual(contents(path.join(stateRoot(), 'loopkeeper', 'handover')), written);
  });

  it('ask nothing more when an input is cancelled', async () => {
    answers = [];
    await run('checkpoint', row('github:octo/repo#31'));
    assert.equal(asked.length <= 1, true);
    assert.deepEqual(person.questions, []);
  });
});
