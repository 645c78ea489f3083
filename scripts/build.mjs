// Builds dist/cli.js and dist/extension.js with its pieces.  usage: node scripts/build.mjs [cli|extension] [--watch] [--dev]
// --dev: not minified, with source maps; --watch: the same, and again on every change.
import { build, context, transform } from 'esbuild';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const watch = process.argv.includes('--watch');
const dev = watch || process.argv.includes('--dev');
const only = process.argv.slice(2).find((argument) => !argument.startsWith('-'));
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minify: !dev,
  sourcemap: dev ? 'linked' : false,
  legalComments: 'none',
  logLevel: 'warning',
  define: { LOOPKEEPER_VERSION: JSON.stringify(version) },
};
/** jsonc-parser's `main` is a UMD file that bundlers cannot follow; its `module` is plain. */
const targets = [
  { ...common, entryPoints: ['src/cli/main.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' }, mainFields: ['module', 'main'] },
  { ...common, entryPoints: ['src/extension/extension.ts'], outfile: 'dist/extension.js', external: ['vscode'], mainFields: ['module', 'main'] },
].filter(({ outfile }) => only === undefined || outfile === `dist/${only}.js`);

/**
 * The extension in pieces: extension.js and extension-chunk-*.js wake it up, extension-table-*.js is loaded with the first command. esbuild
 * splits only ES modules, so each piece is made CommonJS, which the oldest VS Code wants, afterwards.
 */
async function buildExtension({ outfile, ...options }) {
  const { outputFiles } = await build({ ...options, outdir: path.dirname(outfile), format: 'esm', splitting: true, chunkNames: 'extension-[name]-[hash]', minify: false, write: false });
  const pieces = await Promise.all(outputFiles.map(async ({ path: file, text }) => {
    const { code } = await transform(text, { format: 'cjs', platform: 'node', target: common.target, minify: true, legalComments: 'none', supported: { 'dynamic-import': false } });
    return { file, code };
  }));
  const folder = path.join(root, path.dirname(outfile));
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (/^extension-.*\.js$/.test(name) && !pieces.some(({ file }) => path.basename(file) === name)) rmSync(path.join(folder, name));
  for (const { file, code } of pieces) writeFileSync(file, code);
}

if (!dev) for (const { outfile } of targets) rmSync(path.join(root, `${outfile}.map`), { force: true });
if (watch) {
  for (const target of targets) await (await context(target)).watch();
  console.log('watching');
} else {
  await Promise.all(targets.map((target) => target.outfile === 'dist/extension.js' && !dev ? buildExtension(target) : build(target)));
}
if (existsSync(path.join(root, 'dist/cli.js'))) chmodSync(path.join(root, 'dist/cli.js'), 0o755);
