import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { folder, Person, row, until } from './support';
import { Typist } from './typist';

const run = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(`loopkeeper.${command}`, ...args);
const raymond = (): string => path.join(folder(), '.raymond');
const stateFile = (): string => path.join(raymond(), 'state', 'nightly.json');
const flow = (name: string): string => path.join(folder(), 'flows', name);

interface RunState { agents: { current_state: string; session_id: string | null; stack: { state: string }[]; cwd?: string }[] }
const state = (): RunState => JSON.parse(readFileSync(stateFile(), 'utf8')) as RunState;

/** A stopped run as raymond leaves it, its agent three calls deep. */
function putRun(): string {
  for (const [name, files] of Object.entries({
    outer: { 'START.md': 'Begin.\n<call return="WRAP_UP.md">REVIEW.md</call>\n', 'REVIEW.md': '<call-workflow return="AFTER.md">../inner</call-workflow>\n', 'AFTER.md': '<result>seen</result>\n', 'WRAP_UP.md': '<result>done</result>\n' },
    inner: { 'START.md': '<call return="BACK.md">LOOP.md</call>\n', 'LOOP.md': 'Look again.\n<reset>LOOP.md</reset>\nor\n<goto>CHECK.md</goto>\n', 'CHECK.md': '<goto>MISSING.md</goto>\n', 'BACK.md': '<result>back</result>\n' },
  })) {
    mkdirSync(flow(name), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(flow(name), file), text);
  }
  const frame = (session: string | null, to: string, scope: string) => ({ session, state: to, scope_dir: flow(scope), cwd: folder() });
  const text = JSON.stringify({
    workflow_id: 'nightly', scope_dir: flow('outer'), total_cost_usd: 1.24, budget_usd: 10, started_at: '2026-11-30T18:01:30Z',
    agents: [{
      id: 'main', current_state: 'CHECK.md', session_id: '0f1c5e7a-1111-2222-3333-444455556666',
      stack: [frame('s-1', 'WRAP_UP.md', 'outer'), frame(null, 'AFTER.md', 'outer'), frame('s-3', 'BACK.md', 'inner')],
      pending_result: 'round 2', cwd: folder(), scope_dir: flow('inner'), nesting_depth: 1, ask_entered_at: '0001-01-01T00:00:00Z',
    }],
  }, null, 2) + '\n';
  mkdirSync(path.dirname(stateFile()), { recursive: true });
  writeFileSync(stateFile(), text, { mode: 0o600 });
  return text;
}

describe('workflow runs in the editor', () => {
  let person: Person;
  let typist: Typist;
  let before: string;
  beforeEach(async () => {
    before = putRun();
    await run('refresh');
    person = new Person();
    typist = new Typist();
  });
  afterEach(async () => {
    typist.leave();
    person.leave();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(async () => {
    rmSync(raymond(), { recursive: true, force: true });
    rmSync(path.join(folder(), 'flows'), { recursive: true, force: true });
    await run('refresh');
  });
  const agent = () => row('nightly', ['agent', 'resettable', 'workflow'], { agent: 'main', path: stateFile(), scope: flow('inner'), state: 'CHECK.md' });

  it('resets a stopped run to another state, the stack of three kept, and takes it back byte for byte', async () => {
    const stack = state().agents[0]?.stack;
    person.choose = ({ label }) => label === 'LOOP.md';
    person.answers = ['Reset Agent', 'Undo'];
    person.clicks = ['Undo'];
    await run('resetAgent', agent());
    assert.deepEqual(person.picks[0]?.map(({ label, description }) => [label, description]), [['BACK.md', undefined], ['CHECK.md', 'where it is now'], ['LOOP.md', undefined], ['START.md', undefined]]);
    const [question] = person.questions;
    assert.equal(question?.message, 'Reset main of outer to LOOP.md?');
    assert.deepEqual(question?.buttons, ['Reset Agent', 'Show Dry Run']);
    assert.match(question?.detail ?? '', /^It goes from CHECK\.md to LOOP\.md, with a fresh session\.\nThe return stack stays, 3 deep: results return to BACK\.md, AFTER\.md, WRAP_UP\.md, in this order\.\nGoes: its session 0f1c5e7a-1111-2222-3333-444455556666 and the input that waited\.$/m);
    await until(() => person.said.length > 0, 'the notification');
    assert.equal(person.said[0], 'Reset main of outer to LOOP.md, its return stack of 3 kept; Undo brings all of it back.');
    // The click on Undo has asked and undone by the second notification; what was written in between is in the trash and the log.
    await until(() => person.said.length > 1, 'the second notification');
    assert.equal(readFileSync(stateFile(), 'utf8'), before);
    assert.ok(existsSync(path.join(raymond(), 'loopkeeper', 'events.jsonl')));
    assert.match(readFileSync(path.join(raymond(), 'loopkeeper', 'events.jsonl'), 'utf8'), /"event":"workflow\.reset".*"to":"LOOP\.md"/);
    assert.equal(stack?.length, 3);
  });

  it('leaves the stack in the file as it was', async () => {
    const { stack, cwd } = state().agents[0] ?? {};
    person.choose = ({ label }) => label === 'LOOP.md';
    person.answers = ['Reset Agent'];
    await run('resetAgent', agent());
    const after = state().agents[0];
    assert.deepEqual(after?.stack, stack);
    assert.equal(after?.cwd, cwd);
    assert.equal(after?.current_state, 'LOOP.md');
    assert.equal(after?.session_id, null);
  });

  it('changes nothing on Cancel, and shows a dry run', async () => {
    person.choose = ({ label }) => label === 'LOOP.md';
    person.answers = [undefined, 'Show Dry Run'];
    await run('resetAgent', agent());
    await run('resetAgent', agent());
    assert.equal(readFileSync(stateFile(), 'utf8'), before);
    assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', /^Dry run: reset main of outer to LOOP\.md[^]*return stack: 3 deep; the next result goes back to BACK\.md/);
  });

  it('asks for the state\'s file where the workflow is not here', async () => {
    rmSync(flow('inner'), { recursive: true });
    typist.inputs = ['ELSEWHERE.md'];
    await run('resetAgent', agent());
    assert.match(typist.asked[0]?.prompt ?? '', /^The states of .+ cannot be read from here\./);
    assert.equal(person.questions[0]?.message, 'Reset main of outer to ELSEWHERE.md?');
    assert.match(person.questions[0]?.detail ?? '', /^Warning: The workflow .+ is not here, so it was not checked/m);
  });

  it('opens the state file, the state in its workflow, and the diagram', async () => {
    await run('openStateFile', agent());
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, stateFile());
    await run('openWorkflow', agent());
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, path.join(flow('inner'), 'CHECK.md'));
    await run('showDiagram', agent());
    const diagram = vscode.window.activeTextEditor?.document;
    assert.equal(diagram?.uri.scheme, 'loopkeeper');
    assert.equal(path.basename(diagram?.uri.path ?? ''), 'inner.mmd');
    assert.match(diagram?.getText() ?? '', /^flowchart /m);
  });

  it('shows what lint says on the workflow\'s files, and looks again when one is saved', async () => {
    const file = vscode.Uri.file(path.join(flow('inner'), 'CHECK.md'));
    await run('lintWorkflow', agent());
    await until(() => person.said.length > 0, 'the notification');
    assert.match(person.said[0] ?? '', /^The workflow inner: 1 error/);
    const [problem] = vscode.languages.getDiagnostics(file).filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
    assert.equal(problem?.source, 'Loopkeeper');
    assert.match(problem?.message ?? '', /MISSING\.md/);
    assert.equal(problem?.range.start.line, 0);
    const document = await vscode.workspace.openTextDocument(file);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(file, new vscode.Range(0, 0, 1, 0), '<goto>BACK.md</goto>\n');
    await vscode.workspace.applyEdit(edit);
    await document.save();
    await until(() => vscode.languages.getDiagnostics(file).every(({ severity }) => severity !== vscode.DiagnosticSeverity.Error), 'the error is gone');
  });
});
