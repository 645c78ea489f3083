import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { ensureBrowser, ensureEditor, root } from '../../../scripts/editor/install.mjs';
import { installVsix, launchBrowser, makeProfile, startServer, type Profile, type Server } from '../../../scripts/editor/server.mjs';

const screenshots = path.join(root, 'out', 'screenshots');
/** For all that waits on the program and the editor together; a machine at work is slow. */
const patience = 60_000;

export interface Options {
  /** User settings. */
  settings?: Record<string, unknown>;
  /** Leave workspace trust on: a new workspace is then restricted. */
  trust?: boolean;
  /** Extra options of the server, and variables. */
  extra?: string[];
  env?: Record<string, string>;
  /** A folder of the extension to link instead of installing the package named by LK_VSIX. */
  link?: string;
}

/** A VS Code server with the extension installed, and a browser; each `window` is a page on a folder. */
export class Editor {
  private constructor(readonly home: string, private readonly profile: Profile, private readonly server: Server, private readonly browser: Browser) {}

  static async start({ settings = {}, trust = false, extra = [], env = {}, link = process.env['LK_EXTENSION'] }: Options = {}): Promise<Editor> {
    const editor = ensureEditor(process.env['LK_EDITOR'] === 'floor' ? 'floor' : 'current');
    const profile = makeProfile(settings);
    // Neither the home directory nor the tmux server of the person who runs the tests is ever looked at.
    const home = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lh-'));
    const terminals = path.join(home, 'tmux');
    mkdirSync(terminals);
    const vsix = process.env['LK_VSIX'];
    if (link !== undefined) symlinkSync(link, path.join(profile.extensions, 'loopkeeper.loopkeeper-0.1.0'));
    else if (vsix !== undefined) installVsix(editor, profile, vsix);
    else throw new Error('name the packaged extension in LK_VSIX, or a folder with it in LK_EXTENSION');
    const server = await startServer(editor, profile, { trust, extra, env: { HOME: home, TMUX_TMPDIR: terminals, NODE_OPTIONS: '', ...env } });
    return new Editor(home, profile, server, await launchBrowser(ensureBrowser()));
  }

  /** The installed extension's own folder. */
  get extensionFolder(): string {
    return path.join(this.profile.extensions, 'loopkeeper.loopkeeper-0.1.0');
  }

  /** A window on a folder, on a workspace file (`*.code-workspace`), or on nothing. `language` is the display language that extensions are told; the workbench itself stays English. */
  async window(folder: string | undefined, { language }: { language?: string } = {}): Promise<Window> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    if (language !== undefined) await page.addInitScript(`globalThis._VSCODE_NLS_LANGUAGE = ${JSON.stringify(language)}`);
    await page.goto(folder === undefined ? `${this.server.url}/?ew=true` : `${this.server.url}/?${folder.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(folder)}`);
    await page.locator('.monaco-workbench').waitFor();
    return new Window(page);
  }

  /** The variable by which the programs of this editor find their tmux server, and no other. */
  get terminals(): { TMUX_TMPDIR: string } {
    return { TMUX_TMPDIR: path.join(this.home, 'tmux') };
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    spawnSync('tmux', ['kill-server'], { env: { ...process.env, ...this.terminals }, stdio: 'ignore' });
    this.profile.remove();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** One window, by what a person sees in it: names and roles, as a screen reader would find them. */
export class Window {
  constructor(readonly page: Page) {}

  /** Opens the Loopkeeper container. */
  async open(): Promise<void> {
    const tab = this.page.getByRole('tab', { name: /^Loopkeeper/ });
    await tab.waitFor();
    if (await tab.getAttribute('aria-selected') !== 'true') await tab.click();
  }

  tree(name: string): Locator {
    return this.page.getByRole('tree', { name });
  }

  /** The row whose spoken name starts with this. */
  row(name: string | RegExp, view = 'Work Items'): Locator {
    return this.tree(view).getByRole('treeitem', { name: typeof name === 'string' ? new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![0-9])`) : name });
  }

  /** Labels and descriptions of the rows in view, from the top. */
  async rows(view = 'Work Items'): Promise<string[]> {
    const rows = this.tree(view).getByRole('treeitem');
    await rows.first().waitFor();
    // No named function inside: the page knows nothing of the compiler's helpers.
    return rows.locator('.monaco-icon-label-container').evaluateAll((elements) => elements.map((element) =>
      ['.label-name', '.label-description'].map((part) => element.querySelector(part)?.textContent?.trim() ?? '').filter((text) => text !== '').join(' | ')));
  }

  /** Waits until the rows read so. */
  async rowsAre(expected: string[], view = 'Work Items'): Promise<void> {
    await this.until(async () => assert.deepEqual(await this.rows(view), expected));
  }

  async until(check: () => Promise<void>, milliseconds = 30_000): Promise<void> {
    const end = Date.now() + milliseconds;
    for (;;) {
      try {
        await check();
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
        await this.page.waitForTimeout(100);
      }
    }
  }

  /** Opens a row's context menu. The workbench takes no click for a moment after a menu has been drawn or gone. */
  private async contextMenu(row: Locator): Promise<Locator> {
    const items = this.page.locator('.monaco-menu').getByRole('menuitem');
    for (let attempt = 1; ; attempt += 1) {
      await row.click({ button: 'right' });
      try {
        await items.first().waitFor({ timeout: attempt < 4 ? 5_000 : patience });
        break;
      } catch (error) {
        if (attempt === 4) throw error;
      }
    }
    await this.page.waitForTimeout(300);
    return items;
  }

  /** Chooses from a row's context menu. */
  async choose(row: Locator, label: string, before?: () => Promise<unknown>): Promise<void> {
    await this.contextMenu(row);
    const item = this.page.locator('.monaco-menu').getByRole('menuitem').filter({ has: this.page.getByText(label, { exact: true }) });
    await item.hover();
    await before?.();
    await item.click();
    await item.waitFor({ state: 'detached' });
  }

  /** The labels of a row's context menu. */
  async menuOf(row: Locator): Promise<string[]> {
    const items = await this.contextMenu(row);
    const labels = (await items.locator('.action-label').allInnerTexts()).filter((label) => label !== '');
    await this.page.keyboard.press('Escape');
    await items.first().waitFor({ state: 'detached' });
    await this.page.waitForTimeout(300);
    return labels;
  }

  dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  async dialogText(): Promise<string> {
    await this.dialog().waitFor();
    await this.page.waitForTimeout(200);
    return (await this.dialog().locator('.dialog-message-container').innerText()).trim();
  }

  async answer(button: string): Promise<void> {
    await this.dialog().getByRole('button', { name: button, exact: true }).click();
    await this.dialog().waitFor({ state: 'detached' });
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** Runs a command by its title from the palette. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor();
    await input.fill(`>${title}`);
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    await row.waitFor();
    await this.page.waitForTimeout(100);
    await row.click();
  }

  /** True when the palette offers the command. */
  async offers(title: string): Promise<boolean> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.waitForTimeout(700);
    const found = await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).count() > 0;
    await this.page.keyboard.press('Escape');
    return found;
  }

  pick(text: string | RegExp): Locator {
    return this.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  }

  /** The text of the editor in front, from its drawn lines. */
  async documentText(): Promise<string> {
    const lines = this.page.locator('.editor-instance .view-lines').first();
    await lines.waitFor();
    await this.page.waitForTimeout(300);
    return (await lines.innerText()).replaceAll('\u00a0', ' ');
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(screenshots, { recursive: true });
    await this.page.screenshot({ path: path.join(screenshots, `${process.env['LK_EDITOR'] ?? 'current'}-${name}.png`) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
