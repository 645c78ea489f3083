import { appendFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';

/** Called by VS Code inside its extension host; a rejection is the failed run. The counts go to a file, because a host that dies counts as a success. */
export function run(): Promise<void> {
  const out = process.env['LK_SUITE_OUT'];
  // What the host prints on its console arrives as unformatted pieces among the workbench's own lines.
  if (out !== undefined) Mocha.reporters.Base.consoleLog = (...values: unknown[]): void => { appendFileSync(out, format(...values) + '\n'); };
  const mocha = new Mocha({ ui: 'bdd', color: false, timeout: 60_000, ...(process.env['LK_GREP'] ? { grep: process.env['LK_GREP'] } : {}) });
  for (const name of readdirSync(__dirname).sort()) if (name.endsWith('.test.js')) mocha.addFile(path.join(__dirname, name));
  return new Promise((resolve, reject) => {
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      if (out !== undefined) appendFileSync(out, `${String(passes)} passed, ${String(failures + pending)} failed\n`);
      if (failures + pending > 0) reject(new Error(`${String(failures)} tests failed`));
      else if (passes === 0) reject(new Error('no test ran'));
      else resolve();
    });
  });
}
