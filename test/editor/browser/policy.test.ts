import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { Editor, type Window } from '../support/workbench';

const policy = (enabled: string): string => `version: "0.5.0"\n\n# The window of an agent.\ncontextManagement:\n  enabled: ${enabled}   # for all of us\n  taskBoundary: compact\n`;

/** The status bar in windows of one folder and of several: two policies that disagree, none, and one that is wrong. */
describe('the context policy in the status bar', () => {
  let editor: Editor;
  let window: Window | undefined;
  let scratch: string;
  const file = (name: string): string => path.join(scratch, name, '.the-loop', 'harness-config.yaml');
  const read = (name: string): string => readFileSync(file(name), 'utf8');

  /** A window of these folders, and its item in the status bar. */
  async function open(...names: string[]): Promise<{ shown: Window; item: Locator }> {
    const workspace = path.join(scratch, `${names.join('-')}.code-workspace`);
    writeFileSync(workspace, JSON.stringify({ folders: names.map((name) => ({ path: name })) }));
    const shown = await editor.window(names.length === 1 ? path.join(scratch, names[0] ?? '') : workspace);
    window = shown;
    await shown.open();
    await shown.page.locator('.welcome-view-content').first().waitFor();
    return { shown, item: shown.page.locator('.statusbar-item').getByRole('button', { name: /^Context policy/ }) };
  }
  const says = async (shown: Window, item: Locator, spoken: string, text: string): Promise<void> => {
    await shown.until(async () => assert.equal(await item.getAttribute('aria-label'), spoken));
    assert.equal((await item.innerText()).trim(), text);
  };

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    for (const name of ['website', 'api', 'plain', 'wrong']) mkdirSync(path.dirname(file(name)), { recursive: true });
    editor = await Editor.start();
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  beforeEach(() => {
    writeFileSync(file('website'), policy('true'));
    writeFileSync(file('api'), policy('false'));
    writeFileSync(file('wrong'), policy('sometimes'));
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await window?.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-').slice(0, 50)}`);
    await window?.close();
    window = undefined;
  });

  it('one policy: a click changes one line, and Undo brings it back', async () => {
    const { shown, item } = await open('website');
    await says(shown, item, 'Context policy: on', 'Context On');
    await item.click();
    const said = shown.notification('Context policy off in website (harness-config.yaml changed).');
    await said.waitFor();
    await says(shown, item, 'Context policy: off', 'Context Off');
    assert.equal(read('website'), policy('false'));
    await shown.screenshot('policy-off');
    await said.getByRole('button', { name: 'Undo' }).click();
    if (await shown.dialog().isVisible() || await shown.dialog().waitFor({ timeout: 10_000 }).then(() => true, () => false)) await shown.answer('Undo');
    await says(shown, item, 'Context policy: on', 'Context On');
    assert.equal(read('website'), policy('true'));
  });

  it('two that disagree: it says so, and a click asks which', async () => {
    const { shown, item } = await open('website', 'api');
    await says(shown, item, 'Context policy: on in some folders, off in others', 'Context Mixed');
    await item.click();
    await shown.pick('Turn Off in website').waitFor();
    await shown.screenshot('policy-mixed');
    assert.deepEqual([read('website'), read('api')], [policy('true'), policy('false')]);
    await shown.pick('Turn On in api').click();
    await shown.notification('Context policy on in api (harness-config.yaml changed).').waitFor();
    assert.deepEqual([read('website'), read('api')], [policy('true'), policy('true')]);
    await says(shown, item, 'Context policy: on', 'Context On');
  });

  it('none: it is hidden, and a file is made only after a question', async () => {
    const { shown, item } = await open('plain');
    await shown.page.waitForTimeout(3_000);
    assert.equal(await item.count(), 0);
    await shown.command('Loopkeeper: Toggle Context Policy');
    await shown.pick('Create a Policy File in plain…').click();
    await shown.pick('off').click();
    assert.match(await shown.dialogText(), /harness-config\.yaml/);
    assert.throws(() => read('plain'), { code: 'ENOENT' });
    await shown.answer('Cancel');
    assert.throws(() => read('plain'), { code: 'ENOENT' });
  });

  it('one that is wrong beside one that is right: it is an error, and its line is opened from the menu', async () => {
    const { shown, item } = await open('website', 'wrong');
    await shown.until(async () => assert.match(await item.getAttribute('aria-label') ?? '', /^Context policy: invalid, .*sometimes/));
    await item.click();
    await shown.pick('Turn Off in website').waitFor();
    await shown.pick('Open harness-config.yaml:5 of wrong').click();
    await shown.until(async () => assert.match(await shown.documentText(), /enabled: sometimes/));
    assert.equal(read('wrong'), policy('sometimes'));
  });
});
