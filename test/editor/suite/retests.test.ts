import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { AuditReply, ExportReply, RetestShowReply } from '../../../src/protocol/retest';
import { folder, Person, row, stateRoot, until } from './support';
import { Typist } from './typist';

const run = (command: string, ...args: unknown[]): Thenable<unknown> => vscode.commands.executeCommand(`loopkeeper.${command}`, ...args);
const directory = (): string => path.join(stateRoot(), 'loopkeeper', 'retest');
const transcript = (id: string): string => path.join(directory(), `${id}.jsonl`);
const bytes = (id: string): string => readFileSync(transcript(id), 'utf8');

/** The program as a person would run it beside the editor. The host is not held up by it: one that does not answer is ended. */
async function program(...args: string[]): Promise<unknown> {
  const cli = path.join(vscode.extensions.getExtension('loopkeeper.loopkeeper')?.extensionPath ?? '', 'dist', 'cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args, '--json'], { cwd: folder(), env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' } });
  return JSON.parse(stdout);
}
const show = async (id: string): Promise<RetestShowReply> => RetestShowReply.parse(await program('retest', 'show', id));
const historyOf = ({ history }: RetestShowReply): string[] => history.map(({ status, state }) => `${status} ${state}`);

describe('retests in the editor', () => {
  let person: Person;
  let typist: Typist;
  beforeEach(() => {
    person = new Person();
    typist = new Typist();
  });
  afterEach(async () => {
    typist.leave();
    person.leave();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** Starts a session and gives its id. */
  async function start(finding: string): Promise<string> {
    const before = existsSync(directory()) ? readdirSync(directory()) : [];
    typist.inputs = [finding, 'Replay the login bypass', 'Try the guest account', '', 'http://lab:3000/rest/user/login', ''];
    await run('startRetest');
    const id = readdirSync(directory()).filter((name) => name.endsWith('.jsonl') && !before.includes(name))[0]?.replace('.jsonl', '');
    assert.ok(id, 'a transcript has come');
    return id;
  }
  const of = (id: string) => row(id, ['retest'], { path: transcript(id), finding: 'F-12' });
  const conclude = async (id: string, verdict: string, rationale: string): Promise<void> => {
    person.choose = ({ label }) => label === verdict;
    person.answers = ['Conclude'];
    typist.inputs = [rationale];
    await run('concludeRetest', of(id));
  };

  it('start, conclude, reopen, conclude otherwise, adjudicate, reopen, end: the history is right at each step, and the transcript only grows', async function () {
    // Some thirty runs of the program, one after the other.
    this.timeout(300_000);
    const id = await start('F-12');
    assert.equal(person.said.at(-1), `Retest session ${id} of F-12 is started; it is idle, no agent is at work.`);
    const started = await show(id);
    assert.deepEqual(started.goal, ['Replay the login bypass', 'Try the guest account']);
    assert.deepEqual(started.scope, ['http://lab:3000/rest/user/login']);
    let last = bytes(id);
    const grewTo = async (...expected: string[]): Promise<RetestShowReply> => {
      const now = bytes(id);
      assert.ok(now.startsWith(last) && now.length > last.length, 'what was there before is there unchanged');
      last = now;
      const shown = await show(id);
      assert.deepEqual(historyOf(shown), expected);
      assert.equal(AuditReply.parse(await program('retest', 'audit')).ok, true);
      return shown;
    };

    await conclude(id, 'fixed', 'login rejects the payload');
    assert.equal(person.questions.at(-1)?.message, 'Conclude the retest of F-12 as "fixed"?');
    assert.match(person.questions.at(-1)?.detail ?? '', /^Recorded: "fixed", "login rejects the payload"\.\nThe finding then shows "fixed"\./);
    assert.equal(person.said.at(-1), 'The retest of F-12 is concluded: "fixed".');
    await grewTo('fixed current');

    typist.inputs = ['the basket was never tried'];
    person.answers = ['Reopen'];
    await run('reopenRetestHere', of(id));
    const question = person.questions.at(-1);
    assert.equal(question?.message, 'Reopen the retest of F-12 and withdraw its verdict?');
    assert.deepEqual(question?.buttons, ['Reopen']);
    assert.match(question?.detail ?? '', /^Withdrawn: "fixed" \(operator, .+\), "login rejects the payload"\. It stays in the transcript and history, marked withdrawn\.\nThe finding then shows no verdict\. Goal and scope stay; nothing runs until it is woken\. No Undo: the transcript never shrinks\.$/);
    assert.equal(typist.asked.at(-1)?.prompt, 'Why is the verdict withdrawn? May be left empty.');
    const reopened = await grewTo('fixed withdrawn');
    assert.equal(reopened.verdicts[0]?.withdrawn?.reason, 'the basket was never tried');
    assert.equal(reopened.status, 'idle');

    await conclude(id, 'still open', 'the basket still leaks');
    await grewTo('fixed withdrawn', 'still_open current');

    person.choose = ({ label }) => label === 'fixed';
    person.answers = ['Override'];
    typist.inputs = ['the leak is another finding'];
    await run('adjudicateRetest', of(id));
    assert.deepEqual(person.picks.at(-1)?.map(({ label, description }) => [label, description]), [['still open', 'accept: given by operator'], ['fixed', undefined], ['inconclusive', undefined]]);
    assert.equal(person.questions.at(-1)?.message, 'Override the verdict on F-12 with "fixed"?');
    assert.equal((await grewTo('fixed withdrawn', 'still_open superseded', 'fixed current')).adjudicated, true);

    typist.inputs = [''];
    person.answers = ['Reopen'];
    await run('reopenRetestHere', of(id));
    const again = await grewTo('fixed withdrawn', 'still_open superseded', 'fixed withdrawn');
    assert.equal(again.verdicts.at(-1)?.withdrawn?.reason, null);

    person.answers = ['End Session'];
    await run('endRetest', of(id));
    assert.equal(person.questions.at(-1)?.message, 'End the retest of F-12 without a verdict?');
    assert.equal((await grewTo('fixed withdrawn', 'still_open superseded', 'fixed withdrawn')).status, 'ended');

    // Ended is ended: the program says so, and nothing is appended.
    typist.inputs = [''];
    await run('reopenRetestHere', of(id));
    assert.match(person.said.at(-1) ?? '', new RegExp(`^${id} is ended: only a concluded session can be reopened\\.`));
    assert.equal(bytes(id), last);
  });

  it('changes nothing on Cancel, at the question or before it', async () => {
    const id = await start('F-13');
    const before = bytes(id);
    person.choose = ({ label }) => label === 'fixed';
    typist.inputs = ['why'];
    await run('concludeRetest', of(id));
    assert.equal(person.questions.length, 1);
    typist.inputs = [undefined];
    await run('concludeRetest', of(id));
    assert.equal(person.questions.length, 1);
    typist.inputs = [undefined];
    await run('messageRetest', of(id));
    assert.equal(bytes(id), before);
  });

  it('asks once more when the verdict changed while the question was read', async () => {
    const id = await start('F-14');
    await conclude(id, 'fixed', 'first');
    person.questions.length = 0;
    typist.inputs = [''];
    person.answers = [() => {
      // As another writer would: one line at the end.
      appendFileSync(transcript(id), JSON.stringify({ seq: bytes(id).trimEnd().split('\n').length + 1, ts: '2026-11-30T12:00:00Z', kind: 'verdict_adjudicated', actor: 'operator', payload: { status: 'still_open', rationale: 'second thoughts' } }) + '\n');
      return 'Reopen';
    }];
    await run('reopenRetestHere', of(id));
    assert.equal(person.questions.length, 2);
    assert.match(person.questions[1]?.detail ?? '', /^Changed while you were reading: .+\nWithdrawn: "still open" \(operator, .+\), "second thoughts"\./);
    assert.deepEqual(historyOf(await show(id)), ['fixed superseded', 'still_open current']);
  });

  it('shows the transcript as a read-only document that follows the file', async () => {
    const id = await start('F-15');
    await run('openTranscript', of(id));
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.uri.scheme, 'loopkeeper-transcript');
    assert.match(document?.getText() ?? '', /^1 {2}.+ operator {2}session_started\n {4}finding: F-15\n/);
    await program('retest', 'message', id, 'use the guest\naccount \u202e');
    await until(() => /human_message\n {4}text: use the guest\n {6}account \\u202e\n/.test(document?.getText() ?? ''), 'the document follows');
    assert.notEqual(vscode.workspace.fs.isWritableFileSystem('loopkeeper-transcript'), true);
  });

  it('sends a message, and opens the prompt for an agent where the session was idle', async () => {
    const id = await start('F-16');
    typist.inputs = ['-x is a flag'];
    await run('messageRetest', of(id));
    await until(() => /^Prompt for/.test(path.basename(vscode.window.activeTextEditor?.document.uri.path ?? '')), 'the prompt');
    assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', /-x is a flag/);
    assert.equal((await show(id)).status, 'working');
    assert.match(bytes(id), /"text":"-x is a flag"/);
  });

  it('exports with the withdrawn verdicts, and audits', async () => {
    const id = await start('F-17');
    await conclude(id, 'fixed', 'gone');
    person.answers = ['Reopen'];
    typist.inputs = [''];
    await run('reopenRetest', of(id));
    const file = path.join(folder(), 'export.json');
    typist.saveAs = file;
    await run('exportRetest', of(id));
    const exported = ExportReply.parse(JSON.parse(readFileSync(file, 'utf8')));
    assert.deepEqual(exported.verdicts.map(({ status, state }) => [status, state]), [['fixed', 'withdrawn']]);
    assert.equal(exported.transcript.length, bytes(id).trimEnd().split('\n').length);
    await run('auditRetests');
    assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', /^The audit is clean/);
  });

  it('offers in the palette only the sessions that the command is for', async () => {
    const open = await start('F-18');
    const id = await start('F-19');
    await conclude(id, 'inconclusive', 'the lab was down');
    await until(async () => {
      person.picks.length = 0;
      person.choose = () => false;
      await run('reopenRetest');
      return person.picks[0]?.some(({ description }) => description === id) ?? false;
    }, 'the list has the new verdict');
    const pick = person.picks[0]?.find(({ description }) => description === id);
    assert.deepEqual([pick?.label, pick?.detail], ['F-19', 'inconclusive (operator): the lab was down']);
    assert.ok(!person.picks[0]?.some(({ description }) => description === open));
  });
});
