import { isAlias, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { Failure, messageOf } from '../disk/failure';

// The part of the-loop's cli-config.yaml that Loopkeeper goes by. Unknown keys are the-loop's business; a key without a value counts as absent.
const text = z.nullish(z.string());
const flag = z.nullish(z.boolean());
const Shape = z.nullish(z.looseObject({
  state: z.nullish(z.looseObject({ root: text })),
  eventLog: z.nullish(z.looseObject({ enabled: flag, path: text })),
  webhooks: z.nullish(z.looseObject({ ghWebhook: z.nullish(z.looseObject({ pidfile: text })) })),
  routing: z.nullish(z.looseObject({
    registryDir: text,
    spawnOnUnmatched: text,
    control: z.nullish(z.looseObject({ requireStartCommand: flag })),
    workspace: z.nullish(z.looseObject({ root: text, strategy: text, defaultHost: text, keepCheckoutOnClose: flag, gitBinary: text })),
    tmux: z.nullish(z.looseObject({ keepSessionOnClose: flag, killHarnessOnClose: flag, harnessKillGraceSeconds: z.nullish(z.number().check(z.nonnegative())) })),
  })),
}));

/** Keys that the-loop has dropped and refuses to run with, and what came instead. */
const removed: [key: string, instead: string][] = [
  ...['routing.control', 'routing.reactions', 'routing.announce'].map((block): [string, string] => [`${block}.ghBinary`, 'integrations.github.cli.binary']),
  ['polling.stateFile', 'state.root'],
  ['webhooks.ghWebhook.routing', 'routing, at the top level'],
  ['integrations.slack', 'channels'],
];
const oldest = [0, 5, 0];

export interface ParsedConfig {
  /** The value at a dotted key, or undefined when it is absent or has no value. */
  value(key: string): unknown;
  /** The line of the last value at a dotted key, counted from 1; 1 when it has none of its own. */
  line(key: string): number;
  /** Keys that are written twice; the last one counts. */
  duplicates: string[];
}

function at(value: unknown, key: string): unknown {
  let here: unknown = value;
  for (const part of key.split('.')) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here ?? undefined;
}

function olderThan(version: string, than: number[]): boolean {
  const parts = version.split('.').map((part) => Number(part.replace(/[^0-9]/g, '') || '0'));
  for (const [i, wanted] of than.entries()) {
    const have = parts[i] ?? 0;
    if (have !== wanted) return have < wanted;
  }
  return false;
}

/**
 * Parses the text of a cli-config.yaml (YAML 1.1, as its owner reads it).
 * Failures, all exit code 2: `config-unreadable` (no YAML, or a value of the wrong type, with its line), `config-too-old`.
 * A value is never replaced by its default in silence: that could move the state root.
 */
export function parseCliConfig(file: string, source: string): ParsedConfig {
  const lines = new LineCounter();
  const unreadable = (line: number, why: string, hint: string) => new Failure('config-unreadable', `${file}:${String(line)}: ${why}.`, hint, 2, { file, line });
  let document: ReturnType<typeof parseDocument>;
  let value: unknown;
  try {
    document = parseDocument(source, { version: '1.1', uniqueKeys: false, lineCounter: lines, logLevel: 'error' });
    const [error] = document.errors;
    if (error) throw unreadable(error.linePos?.[0].line ?? 1, `the configuration is no YAML: ${(error.message.split('\n')[0] ?? '').replace(/ at line.*$|[.:]$/, '')}`, 'Correct that line, then try again.');
    value = document.toJS();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw unreadable(1, `the configuration cannot be read: ${messageOf(error)}`, 'Correct the file, then try again.');
  }

  const duplicates: string[] = [];
  const line = (key: string): number => {
    let node: unknown = document.contents;
    let offset = 0;
    const walked: string[] = [];
    for (const part of key.split('.')) {
      if (isAlias(node)) node = node.resolve(document);
      if (!isMap(node)) break;
      const pairs = node.items.filter((pair) => isScalar(pair.key) && String(pair.key.value) === part);
      const pair = pairs.at(-1);
      if (!pair) break;
      walked.push(part);
      if (pairs.length > 1 && !duplicates.includes(walked.join('.'))) duplicates.push(walked.join('.'));
      if (isScalar(pair.key) && pair.key.range) offset = pair.key.range[0];
      node = pair.value;
    }
    return lines.linePos(offset).line || 1;
  };

  for (const [key, instead] of removed) {
    if (at(value, key) === undefined) continue;
    throw new Failure('config-too-old', `${file}:${String(line(key))}: ${key} is no longer a setting of the-loop; ${instead} took its place.`,
      'Run /the-loop:upgrade-the-loop, or move the value by hand.', 2, { file, line: line(key) });
  }
  const version = at(value, 'version');
  if (version !== undefined && olderThan(String(version), oldest)) {
    throw new Failure('config-too-old', `${file}:${String(line('version'))}: the configuration is of version ${String(version)}; ${oldest.join('.')} is the oldest that can be read.`,
      'Run /the-loop:upgrade-the-loop.', 2, { file, line: line('version') });
  }
  const checked = Shape.safeParse(value ?? undefined);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const key = issue?.path.join('.') ?? '';
    const expected = issue?.code === 'invalid_type' ? issue.expected : 'number';
    const wanted = { string: 'a text', boolean: 'true or false', number: 'a number of seconds, 0 or more', object: 'a block of settings' }[String(expected)] ?? 'another value';
    throw unreadable(line(key), `${key === '' ? 'the configuration' : key} must be ${wanted}`, expected === 'string' ? 'Write the value in quotes, then try again.' : 'Correct that line, then try again.');
  }
  return { value: (key) => at(value, key), line, duplicates };
}
