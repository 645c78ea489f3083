// `npm run try -- ARGUMENTS`: the command line on the sample state, set up from nothing. The sample is made once, in out/sample, so that one
// command sees what the one before did; `npm run try -- --fresh` makes it anew.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const home = path.join(root, 'out', 'sample');

function need(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}

const args = process.argv.slice(2);
if (!existsSync(path.join(root, 'node_modules', 'esbuild'))) need('npm', ['ci', '--no-audit', '--no-fund']);
if (!existsSync(path.join(root, 'dist', 'cli.js'))) need(process.execPath, ['scripts/build.mjs']);
if (args[0] === '--fresh') { rmSync(home, { recursive: true, force: true }); args.shift(); }
if (!existsSync(home)) {
  mkdirSync(home, { recursive: true });
  const { makeSample } = await import('./sample.mjs');
  const { addOtherLoops } = await import('./sampleLoops.mjs');
  addOtherLoops(home, makeSample(home));
  console.error(`The sample is in ${path.join(home, 'loops')}; --fresh makes it anew.`);
}
if (args.length > 0) process.exit(spawnSync(process.execPath, [path.join(root, 'dist', 'cli.js'), ...args], { cwd: path.join(home, 'loops'), stdio: 'inherit', env: { ...process.env, HOME: home } }).status ?? 1);
