// Builds and packs the extension: loopkeeper-VERSION.vsix. Without the network.  usage: node scripts/package.mjs [--out FILE] [--no-build]
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVSIX, listFiles } from '@vscode/vsce';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({ options: { out: { type: 'string' }, 'no-build': { type: 'boolean', default: false } } });
const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const out = path.resolve(values.out ?? path.join(root, `${name}-${version}.vsix`));

if (!values['no-build'] && spawnSync(process.execPath, [path.join(root, 'scripts/build.mjs')], { stdio: 'inherit' }).status !== 0) process.exit(1);
const files = await listFiles({ cwd: root, dependencies: false });
for (const needed of ['dist/cli.js', 'dist/extension.js', 'package.json', 'package.nls.json']) {
  if (!files.includes(needed)) throw new Error(`${needed} is not in the package`);
}
await createVSIX({ cwd: root, packagePath: out, dependencies: false, allowMissingRepository: true, skipLicense: true, rewriteRelativeLinks: false });
console.log(`${path.relative(process.cwd(), out)}: ${files.length} files, ${Math.round(statSync(out).size / 1024)} KB`);
