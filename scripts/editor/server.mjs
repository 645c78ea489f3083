// A VS Code server on 127.0.0.1 with a profile of its own in a scratch folder, and a headless browser for it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Settings that keep a window quiet and the same each time. */
const quietSettings = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.reduceMotion': 'on',
  'window.commandCenter': false,
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
};

/** A scratch profile. Its path is short, because VS Code puts unix sockets below it (108 characters at most). */
export function makeProfile(settings = {}) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'lk-'));
  const profile = { directory, userData: path.join(directory, 'u'), extensions: path.join(directory, 'x'), temporary: path.join(directory, 't') };
  mkdirSync(path.join(profile.userData, 'User'), { recursive: true });
  mkdirSync(profile.extensions);
  mkdirSync(profile.temporary);
  writeFileSync(path.join(directory, 'c.yaml'), '');
  writeFileSync(path.join(profile.userData, 'User/settings.json'), JSON.stringify({ ...quietSettings, ...settings }, null, 2));
  return { ...profile, args: ['--config', path.join(directory, 'c.yaml'), '--user-data-dir', profile.userData, '--extensions-dir', profile.extensions], remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }) };
}

/** A server started in a terminal of another VS Code would talk to that one; and no gallery: then nothing is asked off this machine. */
function environmentOf(profile, more = {}) {
  const env = { ...process.env, TMPDIR: profile.temporary, EXTENSIONS_GALLERY: '{}', XDG_DATA_HOME: profile.temporary, XDG_CONFIG_HOME: profile.temporary };
  for (const key of Object.keys(env)) if (key.startsWith('VSCODE_') || key === 'XDG_RUNTIME_DIR' || key === 'PORT') Reflect.deleteProperty(env, key);
  return { ...env, ...more };
}

export function installVsix(editor, profile, vsix) {
  const done = spawnSync(editor.node, [editor.entry, ...profile.args, '--install-extension', vsix], { env: environmentOf(profile), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`installing ${vsix} failed:\n${done.stdout}${done.stderr}`);
}

/** The newer VS Code heeds test options in the address only with its smoke-test driver on, and then shows no notifications. */
export function driverOptions(editor) {
  return readFileSync(path.join(path.dirname(editor.entry), 'cli.js'), 'utf8').includes('vscode-option') ? ['--vscode-option', 'enable-smoke-test-driver'] : [];
}

/** Starts the server and waits until it listens. `trust: true` lets the editor ask whether the workspace is trusted. */
export async function startServer(editor, profile, { extra = [], env = {}, trust = false, port = 0 } = {}) {
  const started = Date.now();
  const args = [editor.entry, ...profile.args, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check',
    '--disable-getting-started-override', ...(trust ? [] : ['--disable-workspace-trust']), ...extra];
  const child = spawn(editor.node, args, { env: environmentOf(profile, env), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let log = '';
  let stopping = false;
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => {
    if (!stopping) console.error(`code-server ended by itself (${signal ?? code}):\n${log.split('\n').slice(-15).join('\n')}`);
    resolve(code);
  }));
  const stop = async () => {
    stopping = true;
    const kill = (signal) => { try { process.kill(-child.pid, signal); } catch { /* gone */ } };
    kill('SIGTERM');
    const late = setTimeout(() => kill('SIGKILL'), 5_000);
    await exited;
    clearTimeout(late);
    kill('SIGKILL');
  };
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => { reject(new Error(`code-server said nothing within 60 s\n${log}`)); void stop(); }, 60_000);
    const listen = (data) => {
      log += data;
      const match = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(log);
      if (!match) return;
      clearTimeout(late);
      resolve(match[1]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', reject);
    void exited.then((code) => reject(new Error(`code-server ended with ${code}\n${log}`)));
  });
  return { url, port: new URL(url).port, milliseconds: Date.now() - started, log: () => log, stop, exited };
}

export async function launchBrowser(executablePath) {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** An absolute path as the server's window names it. */
export function remoteAddress(port, file) {
  return `vscode-remote://127.0.0.1:${port}${path.resolve(file)}`;
}
