import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeSample, type Sample } from '../../../scripts/sample.mjs';
import { Editor, type Window } from '../support/workbench';

/** A short visit to the views that appear when there is something: what is said where, and that a row changes at once. */
describe('retests and workflow runs in a window', () => {
  let editor: Editor;
  let window: Window;
  let sample: Sample;
  let scratch: string;
  const transcript = (): string => path.join(sample.stateRoot, 'loopkeeper', 'retest', 'S-1.jsonl');

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    sample = makeSample(scratch, { checkouts: false });
    const events = [
      ['session_started', { finding: 'F-12' }], ['state_change', { to: 'idle' }], ['target_set', { endpoints: ['http://lab:3000/login'] }], ['plan_updated', { steps: ['Replay the login bypass'] }],
      ['verdict', { status: 'fixed', rationale: 'login rejects the payload' }], ['state_change', { to: 'concluded' }],
    ] as const;
    mkdirSync(path.dirname(transcript()), { recursive: true });
    writeFileSync(transcript(), events.map(([kind, payload], index) => JSON.stringify({ seq: index + 1, ts: '2026-08-04T14:02:00Z', kind, actor: 'agent', payload }) + '\n').join(''));
    const flow = path.join(sample.folder, 'flows', 'review');
    mkdirSync(flow, { recursive: true });
    for (const state of ['START', 'REVIEW', 'AFTER', 'LOOP']) writeFileSync(path.join(flow, `${state}.md`), '<result>done</result>\n');
    const state = path.join(sample.folder, '.raymond', 'state');
    mkdirSync(state, { recursive: true });
    writeFileSync(path.join(state, 'nightly.json'), JSON.stringify({
      workflow_id: 'nightly', scope_dir: flow, total_cost_usd: 1.24, budget_usd: 0, started_at: '2026-11-30T18:01:30Z',
      agents: [{ id: 'main', current_state: 'REVIEW.md', session_id: '0f1c5e7a', stack: ['START.md', 'LOOP.md', 'AFTER.md'].map((to) => ({ session: null, state: to, scope_dir: flow, cwd: sample.folder })), cwd: sample.folder, scope_dir: flow, ask_entered_at: '0001-01-01T00:00:00Z' }],
    }, null, 2) + '\n');
    editor = await Editor.start();
    window = await editor.window(sample.folder);
    await window.open();
    // The views share one column; those that are not looked at are closed.
    await window.tree('Work Items').waitFor();
    for (const view of ['Work Items', 'Sessions', 'Context Policy']) {
      const header = window.page.getByRole('button', { name: `${view} Section` });
      if (await header.count() > 0 && await header.getAttribute('aria-expanded') === 'true') await header.click();
    }
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await window.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-').slice(0, 50)}`);
  });

  it('says where a run is, how deep, and what it returns to, the top first', async () => {
    await window.rowsAre(['review | stack 3 · $1.24 · running or stopped: unknown', 'main at REVIEW | 3 frames · session 0f1c5e7a'], 'Workflow Runs');
    await window.row('Agent main at REVIEW', 'Workflow Runs').locator('.monaco-tl-twistie').click();
    await window.until(async () => assert.deepEqual((await window.rows('Workflow Runs')).slice(2).map((text) => text.split(' | ')[0]), ['returns to AFTER.md', 'returns to LOOP.md', 'returns to START.md']));
    await window.screenshot('retests-runs');
    assert.deepEqual(await window.menuOf(window.row('Workflow run review', 'Workflow Runs')), ['Open State File', 'Open Workflow', 'Show Diagram', 'Lint Workflow', 'Copy Reference', 'Copy as Command Line', 'Reset Agent to State…']);
  });

  it('shows a verdict, withdraws it after the question, and the row changes at once', async () => {
    await window.until(async () => assert.deepEqual((await window.rows('Retests')).map((text) => text.replace(/Aug 4(, 2026)?/, 'DAY')), ['F-12 | fixed (agent) · DAY', 'S-1 | concluded · fixed (agent) · DAY']));
    const before = readFileSync(transcript(), 'utf8');
    const session = window.row('Retest session S-1', 'Retests');
    await window.choose(session, 'Reopen…');
    const input = window.page.locator('.quick-input-widget input.input');
    await input.fill('the basket was never tried');
    await input.press('Enter');
    assert.match(await window.dialogText(), /^Reopen the retest of F-12 and withdraw its verdict\?\s+Withdrawn: "fixed" \(agent, .+\), "login rejects the payload"\./);
    await window.screenshot('retests-reopen');
    await window.answer('Reopen');
    await window.until(async () => assert.deepEqual((await window.rows('Retests')).map((text) => text.split(' · ').slice(0, 2).join(' · ')), ['F-12 | no verdict · 1 session open', 'S-1 | idle · 1 verdict withdrawn']));
    assert.ok(readFileSync(transcript(), 'utf8').startsWith(before));
    await session.locator('.monaco-tl-twistie').click();
    await window.until(async () => assert.match((await window.rows('Retests'))[2] ?? '', /^fixed \| agent · .+ · withdrawn /));
    await window.screenshot('retests-history');
  });
});
