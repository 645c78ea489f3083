// The mocha suite inside the extension host of a real VS Code, against the built program on temporary state.
// usage: node scripts/editor/run-exthost.mjs [--floor | --desktop] [--grep TEXT] [--verbose]
// --floor: the oldest VS Code that package.json names; --desktop: the `code` on the PATH, through @vscode/test-electron.
// The last line is `N passed, N failed`; it goes to the file named by LK_COUNTS too.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeSample } from '../sample.mjs';
import { ensureBrowser, ensureEditor, NotAvailable, root } from './install.mjs';
import { driverOptions, launchBrowser, makeProfile, remoteAddress, startServer } from './server.mjs';

const { values: options } = parseArgs({ options: {
  floor: { type: 'boolean', default: false }, desktop: { type: 'boolean', default: false }, grep: { type: 'string' }, verbose: { type: 'boolean', default: false },
} });
const limitSeconds = 600;

async function buildSuite() {
  const folder = path.join(root, 'test/editor/suite');
  rmSync(path.join(root, 'out/suite'), { recursive: true, force: true });
  await build({
    absWorkingDir: root, entryPoints: readdirSync(folder).filter((name) => name.endsWith('.ts')).map((name) => path.join(folder, name)), outdir: 'out/suite',
    bundle: true, platform: 'node', target: 'node20', format: 'cjs', external: ['vscode', 'mocha'], sourcemap: 'inline', logLevel: 'warning',
  });
  return path.join(root, 'out/suite/index');
}

/** In a window of VS Code in headless Chromium. */
async function inServer(suite, sample, env) {
  const editor = ensureEditor(options.floor ? 'floor' : 'current');
  const browserPath = ensureBrowser();
  // The editor's own git shares the host, and a repository that a test removes under it makes it fail there, in that test's name.
  const profile = makeProfile({ 'git.enabled': false });
  let server;
  let browser;
  try {
    // The older version does not hand variables on to the host, so they are in the server's own environment too.
    server = await startServer(editor, profile, { extra: driverOptions(editor), env });
    browser = await launchBrowser(browserPath);
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'] })).newPage();
    const finished = new Promise((resolve, reject) => {
      page.on('crash', () => reject(new Error('the page crashed')));
      setTimeout(() => reject(new Error(`no result within ${limitSeconds} s`)), limitSeconds * 1000).unref();
      // These have to be there before the page is opened.
      void page.exposeFunction('codeAutomationExit', (code) => resolve(code));
      void page.exposeFunction('codeAutomationLog', (type, args) => { if (options.verbose) console.log(`[${type}]`, ...args); });
    });
    finished.catch(() => {});
    const payload = [
      ['extensionDevelopmentPath', remoteAddress(server.port, root)], ['extensionTestsPath', remoteAddress(server.port, suite)], ['enableProposedApi', ''],
      ['extensionEnvironment', JSON.stringify(env)],
    ];
    await page.goto(`${server.url}/?folder=${encodeURIComponent(sample.folder)}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    return await finished;
  } finally {
    await browser?.close();
    await server?.stop();
    profile.remove();
  }
}

/** The program behind `code` on the PATH: the command is a script beside it. */
function desktopProgram() {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    const command = path.join(directory, 'code');
    if (!directory || !existsSync(command)) continue;
    const folder = path.dirname(path.dirname(realpathSync(command)));
    for (const file of [path.join(folder, 'code'), path.join(folder, 'Code.exe'), path.join(folder, '..', '..', 'MacOS', 'Electron')]) if (existsSync(file)) return file;
  }
  throw new NotAvailable('desktop VS Code');
}

async function inDesktop(suite, sample, env) {
  const vscodeExecutablePath = desktopProgram();
  const { runTests } = await import('@vscode/test-electron');
  return runTests({ vscodeExecutablePath, extensionDevelopmentPath: root, extensionTestsPath: suite, launchArgs: [sample.folder, '--disable-workspace-trust'], extensionTestsEnv: env });
}

const scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'ls-'));
const out = path.join(scratch, 'suite.out');
const terminals = path.join(scratch, 'tmux');
mkdirSync(terminals);
writeFileSync(out, '');
let counts = '0 passed, 1 failed';
try {
  // Neither the home directory nor the tmux server of whoever runs this is looked at.
  const env = { HOME: path.join(scratch, 'home'), TMUX_TMPDIR: terminals, LK_SUITE_OUT: out, ...(options.grep ? { LK_GREP: options.grep } : {}) };
  mkdirSync(env.HOME);
  if (options.desktop) desktopProgram();
  const suite = await buildSuite();
  const sample = makeSample(scratch);
  const code = await (options.desktop ? inDesktop : inServer)(suite, sample, env);
  // Success is also reported when the host died: only the suite's own last line counts.
  const line = /^(\d+) passed, (\d+) failed$/m.exec(readFileSync(out, 'utf8'));
  if (line && (code === 0 || !/ 0 failed$/.test(line[0]))) counts = line[0];
  else if (line) console.error(`the suite passed, but VS Code ended with ${String(code)}`);
  else console.error('the suite wrote no last line: the extension host died, or no test ran');
} catch (error) {
  if (error instanceof NotAvailable) {
    console.log(`not available: ${error.message}`);
    counts = undefined;
  } else console.error(error);
}
process.stdout.write(readFileSync(out, 'utf8').replace(/^\d+ passed, \d+ failed\n/m, ''));
spawnSync('tmux', ['kill-server'], { env: { ...process.env, TMUX_TMPDIR: terminals }, stdio: 'ignore' });
rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
if (counts !== undefined) {
  console.log(counts);
  if (process.env.LK_COUNTS) appendFileSync(process.env.LK_COUNTS, `${counts}\n`);
}
process.exitCode = counts === undefined || / 0 failed$/.test(counts) ? 0 : 1;
