// Every test of the extension: in the host and in the browser, with today's VS Code, with the oldest one, and with a desktop one where it can be had.
// The last line is `N passed, N failed`; each run's counts go to the file named by LK_COUNTS.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './install.mjs';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'le-'));
const vsix = path.join(scratch, 'loopkeeper.vsix');
let failed = false;

function run(title, script, ...args) {
  console.log(`-- ${title}`);
  const { status } = spawnSync(process.execPath, [path.join('scripts', script), ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) failed = true;
  return status === 0;
}

if (run('package', 'package.mjs', '--out', vsix)) {
  run('in the extension host', 'editor/run-exthost.mjs');
  run('in the extension host of the oldest VS Code', 'editor/run-exthost.mjs', '--floor');
  run('in the extension host of a desktop VS Code', 'editor/run-exthost.mjs', '--desktop');
  run('in a window', 'editor/run-browser.mjs', '--vsix', vsix);
  run('in a window of the oldest VS Code', 'editor/run-browser.mjs', '--vsix', vsix, '--floor', 'test/editor/browser/rows.test.ts');
}
rmSync(scratch, { recursive: true, force: true });
process.exitCode = failed ? 1 : 0;
