// `npm start`: opens VS Code with the extension on sample state. Needs Node and git only; everything else it sets up itself.
// usage: npm start [-- --no-open] [-- --port N]
// A local VS Code (`code`) is used when there is one; otherwise, and with --no-open, a VS Code server whose address is printed. Ctrl-C ends it
// and removes what was made.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({ options: { 'no-open': { type: 'boolean', default: false }, port: { type: 'string', default: '0' } } });

function step(text, command, args) {
  console.log(text);
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  if (done.status === 0) return;
  console.error(`${[command, ...args].join(' ')} failed${done.error ? `: ${done.error.message}` : ''}.`);
  process.exit(1);
}

/** Where `code` is, when a desktop VS Code is installed. */
function localCode() {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(directory, process.platform === 'win32' ? 'code.cmd' : 'code');
    if (directory && existsSync(file)) return file;
  }
  return undefined;
}

if (!existsSync(path.join(root, 'node_modules', 'esbuild'))) step('Installing what it is built with…', 'npm', ['ci', '--no-audit', '--no-fund']);
step('Building…', process.execPath, ['scripts/build.mjs']);

const scratch = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lk-start-'));
const environment = { TMUX_TMPDIR: path.join(scratch, 'tmux') };
mkdirSync(environment.TMUX_TMPDIR);
const { makeSample, startAgents } = await import('./sample.mjs');
const { addOtherLoops } = await import('./sampleLoops.mjs');
const sample = makeSample(scratch);
addOtherLoops(scratch, sample);
startAgents(sample, environment);

let stopEditor = async () => {};
let ending = false;
async function end(code) {
  if (ending) return;
  ending = true;
  await stopEditor();
  spawnSync('tmux', ['kill-server'], { env: { ...process.env, ...environment } });
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));

const code = options['no-open'] ? undefined : localCode();
if (code) {
  console.log(`Opening VS Code on the sample in ${sample.folder}. Close its window or press Ctrl-C to end.`);
  const profile = path.join(scratch, 'user');
  mkdirSync(path.join(profile, 'User'), { recursive: true });
  writeFileSync(path.join(profile, 'User', 'settings.json'), JSON.stringify({ 'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off' }));
  const args = ['--new-window', '--wait', '--disable-workspace-trust', `--extensionDevelopmentPath=${root}`, `--user-data-dir=${profile}`, `--extensions-dir=${path.join(scratch, 'ext')}`, sample.folder];
  const child = spawn(code, args, { env: { ...process.env, ...environment }, stdio: 'inherit', shell: process.platform === 'win32' });
  stopEditor = async () => { child.kill(); };
  child.on('exit', () => void end(0));
} else {
  const { ensureEditor, NotAvailable } = await import('./editor/install.mjs');
  const { makeProfile, startServer } = await import('./editor/server.mjs');
  try {
    console.log('Looking for a VS Code server (the first time it is installed into .tools, which takes a minute)…');
    const editor = ensureEditor();
    const profile = makeProfile();
    symlinkSync(root, path.join(profile.extensions, 'loopkeeper.loopkeeper-0.1.0'), 'dir');
    const server = await startServer(editor, profile, { env: environment, port: Number(options.port) });
    stopEditor = async () => { await server.stop(); profile.remove(); };
    console.log(`\nVS Code is at  ${server.url}/?folder=${encodeURIComponent(sample.folder)}\n\nLoopkeeper's icon is in the activity bar. The sample is in ${sample.folder}; Ctrl-C ends everything and removes it.`);
    void server.exited.then(() => end(1));
  } catch (error) {
    console.error(error instanceof NotAvailable ? `There is no local VS Code (\`code\` on the PATH), and a VS Code server is not available: ${error.message}` : error);
    await end(1);
  }
}
