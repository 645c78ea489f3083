// A browser drives the workbench of a real VS Code with the packaged extension installed.
// usage: node scripts/editor/run-browser.mjs [--floor] [--vsix FILE] [--grep TEXT] [TEST-FILE …]
// Screenshots go to out/screenshots. The last line is `N passed, N failed`; it goes to the file named by LK_COUNTS too.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBrowser, ensureEditor, NotAvailable, root } from './install.mjs';

const { values: options, positionals: files } = parseArgs({ allowPositionals: true, options: {
  floor: { type: 'boolean', default: false }, vsix: { type: 'string' }, grep: { type: 'string' },
} });
const scratch = mkdtempSync(path.join(os.tmpdir(), 'lb-'));
const counts = path.join(scratch, 'counts');
let line = '0 passed, 1 failed';
try {
  ensureEditor(options.floor ? 'floor' : 'current');
  ensureBrowser();
  const vsix = path.resolve(options.vsix ?? path.join(scratch, 'loopkeeper.vsix'));
  if (!options.vsix && spawnSync(process.execPath, ['scripts/package.mjs', '--out', vsix], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) throw new Error('packaging failed');
  const tests = files.length > 0 ? files : ['test/editor/browser/*.test.ts'];
  spawnSync(process.execPath, ['--import', 'tsx', 'node_modules/mocha/bin/mocha.js', '--reporter', 'test/support/reporter.cjs', '--timeout', '180000', ...(options.grep ? ['--grep', options.grep] : []), ...tests], {
    cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, LK_VSIX: vsix, LK_EDITOR: options.floor ? 'floor' : 'current', LK_COUNTS: counts },
  });
  if (existsSync(counts)) line = readFileSync(counts, 'utf8').trim();
} catch (error) {
  console.error(error instanceof NotAvailable ? `not available: ${error.message}` : error);
}
rmSync(scratch, { recursive: true, force: true });
console.log(line);
if (process.env.LK_COUNTS) appendFileSync(process.env.LK_COUNTS, `${line}\n`);
process.exitCode = / 0 failed$/.test(line) ? 0 : 1;
