import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeSample, type Sample } from '../../../scripts/sample.mjs';
import { makePseudoExtension, pseudo, rawEnglish } from '../support/pseudo';
import { Editor, type Window } from '../support/workbench';

/** What the sample's files and the program say, and names that are the same in every language. */
const foreign = [
  /(ghe\.corp\.example\/)?octo\/repo(\.js)?#\d+/, /loop-github-octo-repo-\d+/, /github-octo-repo-\d+(\.json)?/, 'Prune loop state', 'Retry failed uploads', 'pdlc-work-item-loop',
  'Claude Code', 'octocat', 'root', 'start', 'Loopkeeper', 'Undo', /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/, /\b(AM|PM)\b/, /~?\/[\w./~-]+/,
];

describe('in another language', () => {
  let editor: Editor;
  let window: Window;
  let sample: Sample;
  let scratch: string;
  const found: string[] = [];
  /** Remembers what is left of a text; each test says where it was seen. */
  const check = (where: string, text: string | null, more: (string | RegExp)[] = []): void => {
    assert.ok(text, where);
    for (const word of rawEnglish(text, [...more, ...foreign])) found.push(`${where}: ${word} in: ${text}`);
  };
  const none = (): void => { assert.deepEqual(found.splice(0), []); };

  before(async () => {
    scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lw-'));
    sample = makeSample(scratch);
    editor = await Editor.start({ link: makePseudoExtension(path.join(scratch, 'extension')) });
    window = await editor.window(sample.folder, { language: 'qps-ploc' });
    await window.open();
    await window.tree(pseudo('Work Items')).getByRole('treeitem').first().waitFor();
  });
  after(async () => {
    await editor.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await window.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-').slice(0, 50)}`);
  });

  it('every row says its state in it, to the eye and to the ear', async () => {
    const tree = pseudo('Work Items');
    await window.row(/^octo\/repo#15/, tree).locator('.monaco-tl-twistie').click();
    await window.until(async () => assert.ok((await window.rows(tree)).some((text) => text.includes(pseudo('uncommitted')))));
    for (const text of await window.rows(tree)) check('row', text);
    for (const text of await window.rows(pseudo('Sessions'))) check('session', text);
    // The program's own sentences follow "Needs you:"; they are shown as they are.
    for (const label of await window.tree(tree).getByRole('treeitem').evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label') ?? ''))) {
      check('spoken', label, [new RegExp(`(?<=${pseudo('Needs you:')}).*`)]);
    }
    await window.screenshot('30-pseudo');
    none();
  });

  it('menus and commands', async () => {
    for (const text of await window.menuOf(window.row(/^octo\/repo#15/, pseudo('Work Items')))) check('menu', text);
    none();
  });

  it('the questions, the dry run and the notification', async () => {
    const tree = pseudo('Work Items');
    await window.choose(window.row(/^octo\/repo#15/, tree), pseudo('Reset…'));
    check('question', await window.dialogText(), [new RegExp(`(?<=${pseudo('Warning:')}).*`)]);
    for (const text of await window.dialog().getByRole('button').allInnerTexts()) if (text !== 'Cancel' && text.trim() !== '') check('button', text);
    await window.answer(pseudo('Show Dry Run'));
    const document = await window.documentText();
    // Steps and reasons are the program's.
    const own = document.split('\n').filter((line) => !/^\s+\d+\. |^ {4}\S|^ {6}\S|^ {2}cd /.test(line)).join('\n');
    check('dry run', own, [new RegExp(`(?<=${pseudo('Warning:')}).*`), /[0-9a-f]{16,}/]);
    await window.command('View: Close All Editors');

    await window.choose(window.row(/^octo\/repo#30/, tree), pseudo('Reset…'));
    check('question', await window.dialogText());
    await window.answer(pseudo('Reset'));
    const toast = window.page.locator('.notification-toast', { hasText: 'octo/repo#30' });
    await toast.waitFor();
    check('notification', await toast.locator('.notification-list-item-message').innerText());
    for (const text of await toast.locator('.monaco-button').allInnerTexts()) if (text !== 'Cancel') check('notification button', text);
    none();
  });

  it('the lists and the walkthrough', async () => {
    const rows = window.page.locator('.quick-input-list .monaco-list-row');
    const input = window.page.locator('.quick-input-widget input.input');
    // What needs a person is told in the program's own sentences.
    const sentences = [/start by \w+ is recorded, but no session works on it\./, /Its terminal \S+ is gone\./, /\S+ cannot be read as a \w+ record: it is no JSON\./];
    for (const [title, listed] of [['Reset Work Items…', /octo\/repo#15/], ['Undo…', /octo\/repo#30/]] as const) {
      await window.command(pseudo(title));
      // The palette's own list, where the editor names each command in English too, is there for a moment longer.
      await window.until(async () => assert.ok(!(await input.inputValue()).startsWith('>')));
      await rows.filter({ hasText: listed }).first().waitFor();
      check('placeholder', await input.getAttribute('placeholder'));
      for (const text of await rows.locator('.label-name, .label-description').allInnerTexts()) if (text && !text.startsWith('Loopkeeper: ')) check(title, text, sentences);
      await window.page.keyboard.press('Escape');
    }
    none();
  });
});
