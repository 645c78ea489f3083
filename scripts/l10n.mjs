// The texts of the extension, gathered from `l10n.t('…')` and `plural(n, 'one', 'many')` in src/extension into l10n/bundle.l10n.json, which
// translators start from.  usage: node scripts/l10n.mjs [--check]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bundle = path.join(root, 'l10n', 'bundle.l10n.json');

/** The texts of one source file, and the calls whose text is not a literal (which no translator would ever see). */
function textsOf(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const texts = [];
  const faults = [];
  const take = (node) => {
    if (node && ts.isStringLiteralLike(node)) texts.push(node.text);
    else faults.push(`${path.relative(root, file)}:${source.getLineAndCharacterOfPosition(node?.pos ?? 0).line + 1}: not a literal text`);
  };
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      if (node.expression.getText() === 'l10n.t') take(node.arguments[0]);
      if (node.expression.getText() === 'plural') { take(node.arguments[1]); take(node.arguments[2]); }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { texts, faults };
}

/** All texts, in order, each once. */
export function gather() {
  const files = readdirSync(path.join(root, 'src/extension'), { recursive: true }).map(String).filter((name) => name.endsWith('.ts')).sort();
  const found = files.map((name) => textsOf(path.join(root, 'src/extension', name)));
  const texts = [...new Set(found.flatMap((one) => one.texts))].sort();
  return { bundle: JSON.stringify(Object.fromEntries(texts.map((text) => [text, text])), null, 2) + '\n', faults: found.flatMap((one) => one.faults) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const gathered = gather();
  for (const fault of gathered.faults) console.error(fault);
  if (process.argv.includes('--check')) {
    if (readFileSync(bundle, 'utf8') !== gathered.bundle) gathered.faults.push('stale');
    console.log(gathered.faults.length === 0 ? 'l10n/bundle.l10n.json is up to date' : 'run `node scripts/l10n.mjs`');
  } else {
    mkdirSync(path.dirname(bundle), { recursive: true });
    writeFileSync(bundle, gathered.bundle);
  }
  process.exitCode = gathered.faults.length === 0 ? 0 : 1;
}
