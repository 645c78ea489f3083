import path from 'node:path';
import { isMap, isScalar } from 'yaml';
import type { Node, Pair } from 'yaml';
import { Failure, messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { assertInside, isInside } from '../disk/reader';
import { effectivePair, findPair, lineOf, parseYaml, resolveNode } from '../disk/yamlText';
import type { YamlText } from '../disk/yamlText';

/** The four settings of `contextManagement`, in the order in which they are shown and written. */
export const policyKeys = ['enabled', 'phaseBoundary', 'taskBoundary', 'midTask'] as const;
export type PolicyKey = (typeof policyKeys)[number];
export type PolicyValue = boolean | 'clear' | 'compact' | 'off';

export const section = 'contextManagement';

/** What is legal for each setting and what holds without it. Clearing in mid-task does not exist (seed 003, R1.4 and R5.1). */
export const policySettings: Record<PolicyKey, { values: readonly PolicyValue[]; preset: PolicyValue }> = {
  enabled: { values: [true, false], preset: true },
  phaseBoundary: { values: ['clear', 'compact', 'off'], preset: 'clear' },
  taskBoundary: { values: ['clear', 'compact', 'off'], preset: 'compact' },
  midTask: { values: ['compact', 'off'], preset: 'compact' },
};

/** A problem in a file that keeps the policy unknown. */
export interface PolicyProblem { file: string; line: number; message: string }

/** A value as a file gives it, with the line it stands on. */
export interface GivenValue { value: PolicyValue; file: string; line: number }

/** What one `contextManagement` section says: only the keys that stand there. */
export type GivenPolicy = Partial<Record<PolicyKey, GivenValue>>;

export const maxConfigBytes = 4 * 1024 * 1024;

/** The names under which the-loop keeps its harness configuration; the second is from before its renaming. */
const names = ['harness-config.yaml', 'config.yaml'];

/**
 * Where the policy of `folder` is: the folder itself, else the nearest one above it up to the top of its repository; outside of a
 * repository the folder alone. Gives the folder that holds `.the-loop` and the file; without any file the top of the repository, else `folder`.
 */
export function findHarnessConfig(reader: Reader, folder: string): { folder: string; file: string | undefined } {
  const above: string[] = [];
  let top: string | undefined;
  for (let at = folder; top === undefined; at = path.dirname(at)) {
    above.push(at);
    if (reader.kind(path.join(at, '.git')) !== 'absent') top = at;
    else if (path.dirname(at) === at) break;
  }
  for (const at of top === undefined ? [folder] : above) {
    const file = harnessConfigIn(reader, at);
    if (file !== undefined) return { folder: at, file };
  }
  return { folder: top ?? folder, file: undefined };
}

/** The policy file right in `folder`, or undefined. */
export function harnessConfigIn(reader: Reader, folder: string): string | undefined {
  return names.map((name) => path.join(folder, '.the-loop', name)).find((file) => reader.kind(file) !== 'absent');
}

/** The path that `context set --create` writes. */
export function newHarnessConfig(folder: string): string {
  return path.join(folder, '.the-loop', 'harness-config.yaml');
}

/**
 * Reads a text file that is going to be edited: UTF-8 without loss, so that every byte that is not touched stays.
 * Failures: `not-utf8`, and those of `Reader.bytes`.
 */
export function readForEdit(reader: Reader, file: string): string | undefined {
  const bytes = reader.bytes(file, maxConfigBytes);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure('not-utf8', `${file} is not UTF-8 text.`, 'Convert it to UTF-8, then try again.', 2, { file });
  }
}

/** A parsed configuration file, or the problem that keeps it from being one. */
export type HarnessConfig = { yaml: YamlText; problem?: undefined } | { yaml?: undefined; problem: PolicyProblem };

/** Parses the policy file at `file`. What is wrong with it comes back as a problem with its line, never as an error. */
export function readHarnessConfig(reader: Reader, file: string): HarnessConfig {
  try {
    const text = readForEdit(reader, file);
    return { yaml: parseYaml(text ?? '', file) };
  } catch (error) {
    return { problem: problemOf(error, file) };
  }
}

/** The problem behind a failure: with the line that the failure names, else the first. */
export function problemOf(error: unknown, file: string): PolicyProblem {
  const details = error instanceof Failure ? error.details as { line?: number } | undefined : undefined;
  return { file, line: details?.line ?? 1, message: messageOf(error).replace(`${file}:${String(details?.line)}: `, '') };
}

/**
 * Reads the `contextManagement` map below `at` (empty for the file's top, `['overrides']` for front matter).
 * A missing section gives nothing. An unknown key or a value that is not legal is a problem.
 */
export function readPolicySection(yaml: YamlText, at: readonly string[]): { given: GivenPolicy; problems: PolicyProblem[] } {
  const problems: PolicyProblem[] = [];
  const problem = (node: unknown, message: string) => { problems.push({ file: yaml.file, line: lineOf(yaml, node), message }); };
  const given: GivenPolicy = {};
  try {
    const map = sectionMap(yaml, [...at, section], problem);
    if (!map) return { given, problems };
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? pair.key.value : undefined;
      if (typeof key === 'symbol' || key === '<<') continue; // a merged map: read through effectivePair below
      if (!policyKeys.some((known) => known === key)) {
        problem(pair.key, `${section} has no setting ${String(key)}. It has: ${policyKeys.join(', ')}.`);
      }
    }
    for (const key of policyKeys) {
      const pair = effectivePair(yaml, map, key);
      if (!pair) continue;
      const value = legalValue(yaml, key, pair);
      if (value === undefined) problem(placeOf(pair), `${key} is ${shown(yaml, pair)}. Legal: ${policySettings[key].values.map(String).join(', ')}.`);
      else given[key] = { value, file: yaml.file, line: lineOf(yaml, placeOf(pair)) };
    }
  } catch (error) {
    problems.push(problemOf(error, yaml.file));
  }
  return { given, problems };
}

/** A scalar setting of the-loop at `keys` (for example `workflow.specDir`), or undefined when it is absent or no string. */
export function stringSetting(yaml: YamlText | undefined, keys: readonly string[]): string | undefined {
  let value: unknown = yaml?.value;
  for (const key of keys) value = value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The folder of the specs in `checkout` (`workflow.specDir`, default docs/specs). Failure: `unsafe-path` when it leads out of the checkout. */
export function specDirectory(config: YamlText | undefined, checkout: string): string {
  const configured = stringSetting(config, ['workflow', 'specDir']);
  const directory = path.resolve(checkout, configured === undefined || configured.trim() === '' ? 'docs/specs' : configured);
  if (!isInside(checkout, directory)) {
    throw new Failure('unsafe-path', `workflow.specDir (${String(configured)}) leads out of ${checkout}.`, 'Set it to a folder inside the repository.', 2);
  }
  assertInside(checkout, path.join(directory, 'x'));
  return directory;
}

/** Reads a setting as a person types it. Failures: `usage` for an unknown key or a value that is not legal. */
export function parseSetting(key: string, value: string): { key: PolicyKey; value: PolicyValue } {
  const known = policyKeys.find((each) => each === key);
  if (!known) throw new Failure('usage', `There is no setting ${key}.`, `Settings: ${policyKeys.join(', ')}.`, 2);
  const legal = policySettings[known].values;
  const typed = legal.find((each) => String(each) === value || (typeof each === 'boolean' && value === (each ? 'on' : 'off')));
  if (typed === undefined) {
    const why = known === 'midTask' && value === 'clear' ? ' A window is never cleared in the middle of a task.' : '';
    throw new Failure('usage', `${known} cannot be ${value}.${why}`, `Legal values: ${legal.map(String).join(', ')}.`, 2);
  }
  return { key: known, value: typed };
}

/** A new policy file: the version this shape belongs to and the whole section, `off` in quotes. */
export function newPolicyText(values: Record<PolicyKey, PolicyValue>): string {
  const lines = policyKeys.map((key) => `  ${key}: ${values[key] === 'off' ? '"off"' : String(values[key])}`);
  return `version: "0.2.0"\n\n${section}:\n${lines.join('\n')}\n`;
}

function sectionMap(yaml: YamlText, keys: readonly string[], problem: (node: unknown, message: string) => void) {
  let node: Node | undefined = resolveNode(yaml, yaml.document.contents);
  const isEmpty = (each: Node | undefined) => each === undefined || (isScalar(each) && each.value === null);
  if (isEmpty(node)) return undefined;
  for (const [index, key] of keys.entries()) {
    if (!isMap(node)) {
      problem(node, `${index === 0 ? 'the file' : keys[index - 1] ?? ''} is no mapping.`);
      return undefined;
    }
    const pair = index === 0 ? findPair(yaml, node, key) : effectivePair(yaml, node, key);
    node = resolveNode(yaml, pair?.value);
    if (isEmpty(node)) return undefined;
  }
  if (isMap(node)) return node;
  problem(node, `${keys.at(-1) ?? ''} is no mapping.`);
  return undefined;
}

function placeOf(pair: Pair): unknown {
  const node = pair.value as Node | null;
  return node?.range && node.range[0] !== node.range[1] ? node : pair.key;
}

function legalValue(yaml: YamlText, key: PolicyKey, pair: Pair): PolicyValue | undefined {
  const node = resolveNode(yaml, pair.value);
  if (!isScalar(node)) return undefined;
  // `y` and `n` are booleans to the parser but strings to the-loop's.
  const value: unknown = typeof node.value === 'boolean' && node.source?.length === 1 ? node.source : node.value;
  const legal = policySettings[key].values;
  if (key !== 'enabled' && value === false) return 'off'; // `off` without quotes is false in YAML 1.1
  return legal.find((each) => each === value);
}

function shown(yaml: YamlText, pair: Pair): string {
  const node = resolveNode(yaml, pair.value);
  if (!isScalar(node)) return 'no single value';
  return node.value === null ? 'empty' : (node.source ?? String(node.value)).slice(0, 60);
}
