// Runs every test this machine can, installing what they need. usage: node scripts/test.mjs [SUITE …]
// The last line is `N passed, N failed`. What no package can bring is printed as `not available: …`; nothing else is left out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const suites = ['unit', 'property', 'cases', 'cli', 'harness', 'fault', 'editor'];
const wanted = process.argv.slice(2);
const unknown = wanted.find((suite) => !suites.includes(suite));
if (unknown) { console.error(`no suite ${unknown}; there are: ${suites.join(' ')}`); process.exit(2); }
const chosen = suites.filter((suite) => wanted.length === 0 || wanted.includes(suite));

/** Runs a program to its end, its output going where ours goes. Gives its code. */
function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });
  if (error) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}

function need(what, code) {
  if (code === 0) return;
  console.error(`could not ${what}`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}

const has = (program) => spawnSync(program, ['-V'], { stdio: 'ignore' }).error === undefined;

if (!existsSync('node_modules/.package-lock.json') || statSync('package-lock.json').mtimeMs > statSync('node_modules/.package-lock.json').mtimeMs) {
  need('install the dependencies', run('npm', ['ci', '--no-audit', '--no-fund']));
}
// Real terminals and, for a state on another file system, mounts are part of what is tested.
if (!has('tmux') && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  run('apt-get', ['update', '-qq']);
  need('install tmux', run('apt-get', ['install', '-y', '-qq', 'tmux']));
}
need('build', run(process.execPath, ['scripts/build.mjs']));

const total = { passed: 0, failed: 0 };
const scratch = mkdtempSync(path.join(os.tmpdir(), 'lk-test-'));

/** Adds what a suite counted; one that counted nothing, or ended badly without a failed test, is a failure itself. */
function add(suite, code, counts) {
  const passed = counts.reduce((sum, [, count]) => sum + Number(count), 0);
  const failed = counts.reduce((sum, [, , count]) => sum + Number(count), 0);
  total.passed += passed;
  total.failed += failed + ((code !== 0 && failed === 0) || passed + failed === 0 ? 1 : 0);
  console.log(`${suite}: ${passed} passed, ${failed} failed${code === 0 ? '' : ` (ended with ${code})`}\n`);
}

const countsIn = (text) => [...text.matchAll(/^(\d+) passed, (\d+) failed$/gm)];

for (const suite of chosen) {
  console.log(`== ${suite}`);
  const counts = path.join(scratch, suite);
  const env = { LK_COUNTS: counts };
  const code = suite === 'editor'
    ? run(process.execPath, ['scripts/editor/test.mjs'], env)
    : run(process.execPath, ['--import', 'tsx', 'node_modules/mocha/bin/mocha.js', '--reporter', 'test/support/reporter.cjs', `test/${suite}/**/*.test.ts`], env);
  add(suite, code, existsSync(counts) ? countsIn(readFileSync(counts, 'utf8')) : []);
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
