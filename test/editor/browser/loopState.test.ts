import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeSample, type Sample } from '../../../scripts/sample.mjs';
import { addOtherLoops } from '../../../scripts/sampleLoops.mjs';
import { Editor, type Window } from '../support/workbench';

/** The sample of `npm start`, with the state of a CI loop in a repository that another machine pushes to. */
describe('loop state in a window', () => {
  let editor: Editor;
  let window: Window;
  let sample: Sample;
  let scratch: string;
  const file = (folder = sample.folder): string => path.join(folder, '.loop', 'state-ci-sweeper.json');
  const targets = (): Record<string, { consecutive_failures: number }> => (JSON.parse(readFileSync(file(), 'utf8')) as { targets: Record<string, { consecutive_failures: number }> }).targets;
  const git = (folder: string, ...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com', '-c', 'commit.gpgsign=false', '-c', 'protocol.file.allow=always', ...args], { cwd: folder, stdio: 'pipe', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' } });
  };

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    sample = makeSample(scratch, { checkouts: false });
    addOtherLoops(scratch, sample);
    const origin = path.join(scratch, 'origin.git');
    git(scratch, 'clone', '--quiet', '--bare', sample.folder, origin);
    git(sample.folder, 'remote', 'add', 'origin', origin);
    git(sample.folder, 'fetch', '--quiet', 'origin');
    git(sample.folder, 'branch', '--quiet', '--set-upstream-to=origin/main');
    git(scratch, 'clone', '--quiet', origin, path.join(scratch, 'other'));
    editor = await Editor.start();
    window = await editor.window(sample.folder);
    await window.open();
    await window.tree('Loop State').waitFor();
    for (const view of ['Work Items', 'Sessions', 'Retests', 'Workflow Runs', 'Context Policy']) {
      const header = window.page.getByRole('button', { name: `${view} Section` });
      if (await header.count() > 0 && await header.getAttribute('aria-expanded') === 'true') await header.click();
    }
    await window.rows('Loop State');
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await window.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-').slice(0, 50)}`);
  });
  const fate = async (name: string): Promise<string> => (await window.rows('Loop State')).find((text) => text.startsWith(`${name} |`)) ?? '';

  it('says of each target when it goes or why it is kept', async () => {
    await window.until(async () => {
      assert.match(await fate('main'), /blocked since/);
      assert.match(await fate('PR 460'), /goes in 1[23] days/);
      assert.match(await fate('PR 471'), /kept: pending PR 472/);
      assert.match(await fate('PR 452'), /^PR 452 \| blocked since/);
    });
    await window.screenshot('loop-state');
  });

  it('prunes after a preview and a question with counts, and Undo brings it back', async () => {
    const before = readFileSync(file(), 'utf8');
    await window.command('Loopkeeper: Prune Loop State…');
    const text = await window.dialogText();
    assert.match(text, /^Prune the loop state of loops\?/);
    assert.match(text, /Goes: 3 entries older than 30 days/);
    assert.match(text, /Cools down: 1 watched branch/);
    await window.screenshot('loop-state-prune');
    await window.answer('Show Dry Run');
    assert.match(await window.documentText(), /pull_request:452 goes: older than 30 days/);
    assert.equal(readFileSync(file(), 'utf8'), before);
    await window.page.getByRole('button', { name: 'Apply This Plan…' }).click();
    await window.dialogText();
    await window.answer('Prune');
    const said = window.notification(/Pruned: 3 entries removed and 1 watched branch cooled down/);
    await said.waitFor();
    assert.ok(!('pull_request:452' in targets()) && 'pull_request:471' in targets());
    assert.equal(targets()['integration:release']?.consecutive_failures, 0);
    await window.until(async () => assert.equal(await fate('PR 452'), ''));
    await said.getByRole('button', { name: 'Undo' }).click();
    await window.answer('Undo');
    await window.notification(/Undone/).waitFor();
    assert.equal(readFileSync(file(), 'utf8'), before);
    await window.until(async () => assert.match(await fate('PR 452'), /blocked since/));
    await window.command('View: Close All Editors');
    await window.command('Notifications: Clear All Notifications');
  });

  it('unblocks a target from its row: its count, and nothing else', async () => {
    const before = readFileSync(file(), 'utf8');
    await window.choose(window.row(/^.*\bmain\b.*blocked/i, 'Loop State').first(), 'Unblock');
    assert.match(await window.dialogText(), /main/);
    await window.answer('Unblock');
    await window.until(async () => assert.ok(!(await fate('main')).includes('blocked')));
    const changed = before.split('\n').flatMap((line, index) => line === readFileSync(file(), 'utf8').split('\n')[index] ? [] : [line.trim()]);
    assert.deepEqual(changed, ['"consecutive_failures": 3,']);
    writeFileSync(file(), before);
    await window.until(async () => assert.match(await fate('main'), /blocked/));
  });

  it('shows what a pull brings', async () => {
    const other = path.join(scratch, 'other');
    writeFileSync(file(other), readFileSync(file(other), 'utf8').replace('pull_request:460', 'pull_request:461'));
    git(other, 'commit', '--quiet', '-am', 'Another machine');
    git(other, 'push', '--quiet', 'origin', 'main');
    git(sample.folder, 'pull', '--quiet', '--ff-only', 'origin', 'main');
    await window.until(async () => {
      assert.match(await fate('PR 461'), /goes in/);
      assert.equal(await fate('PR 460'), '');
    });
  });
});
