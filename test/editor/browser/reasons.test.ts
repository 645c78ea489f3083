import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeSample, type Sample } from '../../../scripts/sample.mjs';
import { Editor, type Window } from '../support/workbench';

/** What a person sees when there is nothing to see, each reason with its next step. */
describe('nothing to show, and why', () => {
  let editor: Editor;
  let sample: Sample;
  let scratch: string;
  let window: Window | undefined;
  const welcome = (text: string) => window?.page.locator('.welcome-view-content', { hasText: text }).first();
  const folder = (name: string, inside: string[] = []): string => {
    const directory = path.join(scratch, name);
    for (const one of ['', ...inside]) mkdirSync(path.join(directory, one), { recursive: true });
    return directory;
  };

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    sample = makeSample(scratch, { checkouts: false });
    editor = await Editor.start();
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await window?.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-').slice(0, 50)}`);
    await window?.close();
  });

  it('a folder where no loop was: says where it looked, and finds the loop whose folder is chosen', async () => {
    window = await editor.window(folder('empty'));
    await window.open();
    await welcome('No loop has left anything in the folders of this window')?.waitFor();
    await window.screenshot('20-nothing');
    assert.equal(await window.tree('Work Items').getByRole('treeitem').count(), 0);
    await window.page.getByRole('button', { name: 'Choose Loop Folder…' }).first().click();
    const input = window.page.locator('.quick-input-widget input.input');
    await input.waitFor();
    // By its rows, up and down again: the editor's own dialog loses what is typed while it looks at a folder.
    for (const [name, next] of [['..', 'empty'], ['loops', 'state']] as const) {
      await window.page.waitForTimeout(1_000);
      await window.pick(name).first().click();
      await window.pick(next).first().waitFor();
    }
    await window.until(async () => {
      await window?.page.locator('.quick-input-widget').getByRole('button', { name: 'Choose Loop Folder' }).click();
      await input.waitFor({ state: 'hidden', timeout: 2_000 });
    });
    await window.row('octo/repo#15').waitFor();
  });

  it('a folder that a loop works on: says that its state is elsewhere', async () => {
    window = await editor.window(folder('worked-on', ['.the-loop']));
    await window.open();
    await welcome('A loop works on this folder, but its state is not here.')?.waitFor();
    await window.screenshot('21-elsewhere');
  });

  it('no folder: offers to open one', async () => {
    window = await editor.window(undefined);
    await window.open();
    await welcome('No folder is open')?.waitFor();
    await window.screenshot('22-no-folder');
  });

  it('an unreadable configuration: says so in a row', async () => {
    const broken = folder('broken', ['.the-loop']);
    writeFileSync(path.join(broken, '.the-loop', 'cli-config.yaml'), 'state: [\n');
    window = await editor.window(broken);
    await window.open();
    const row = window.tree('Work Items').getByRole('treeitem').first();
    await row.waitFor();
    assert.match(await row.getAttribute('aria-label') ?? '', /^Problem: .*cli-config\.yaml/);
    await window.screenshot('23-config');
  });

  it('the program missing: says so, and works again when it is back', async () => {
    const program = path.join(editor.extensionFolder, 'dist', 'cli.js');
    renameSync(program, `${program}.away`);
    try {
      window = await editor.window(sample.folder);
      await window.open();
      await welcome('Loopkeeper\'s own program did not answer')?.waitFor();
      await window.screenshot('24-program-missing');
    } finally {
      renameSync(`${program}.away`, program);
    }
    await window.page.getByRole('button', { name: 'Try Again' }).click();
    await window.row('octo/repo#15').waitFor();
  });
});

describe('restricted mode', () => {
  let editor: Editor;
  let sample: Sample;
  let scratch: string;
  let window: Window;

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    sample = makeSample(scratch);
    editor = await Editor.start({ trust: true });
    window = await editor.window(sample.folder);
    await window.open();
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  it('shows what the files say, asks git nothing, and changes nothing', async () => {
    await window.page.getByText('Restricted Mode').first().waitFor();
    await window.row('octo/repo#15').waitFor();
    await window.row('octo/repo#15').locator('.monaco-tl-twistie').click();
    await window.until(async () => assert.ok((await window.rows()).some((text) => /^Checkout \| changes unknown/.test(text)), (await window.rows()).join('\n')));
    await window.screenshot('25-restricted');
  });

  it('offers nothing that changes anything', async () => {
    assert.equal(await window.offers('Loopkeeper: Reset Work Items…'), false);
    assert.equal(await window.offers('Loopkeeper: Undo…'), false);
    assert.equal(await window.offers('Loopkeeper: Run Doctor'), true);
    await window.row('octo/repo#15').click({ button: 'right' });
    const reset = window.page.locator('.monaco-menu .action-item', { hasText: 'Reset…' });
    await reset.waitFor();
    assert.match(await reset.getAttribute('class') ?? '', /disabled/);
    await window.page.keyboard.press('Escape');
  });
});
