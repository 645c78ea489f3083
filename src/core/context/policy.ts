import path from 'node:path';
import {
  findHarnessConfig, newHarnessConfig, newPolicyText, policyKeys, policySettings, problemOf, readForEdit, readHarnessConfig, readPolicySection, section,
} from '../config/harnessConfig';
import type { GivenPolicy, PolicyKey, PolicyProblem, PolicyValue } from '../config/harnessConfig';
import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { parseYaml, setYamlValue } from '../disk/yamlText';
import type { YamlText } from '../disk/yamlText';
import { specFileNames } from './artifacts';
import type { Artifacts } from './artifacts';
import { findFrontMatter, scanMarkdown } from './markdown';

/** A value in force and where it comes from: the policy file, a spec file's front matter, or nowhere. */
export interface EffectiveValue { key: PolicyKey; value: PolicyValue; from: 'default' | 'file' | 'override'; file: string | null; line: number | null }

/** The policy of a folder or of one work item. With a problem it is unknown and nothing acts on it. */
export interface Policy {
  known: boolean;
  /** The policy file, or null when there is none and the defaults hold. */
  file: string | null;
  /** All four settings; what a broken file does not tell is missing. */
  values: EffectiveValue[];
  problems: PolicyProblem[];
}

export type Boundary = 'phase' | 'task' | 'mid-task';
const keyOf: Record<Boundary, PolicyKey> = { phase: 'phaseBoundary', task: 'taskBoundary', 'mid-task': 'midTask' };

/** The policy in force for `folder`, and for a work item when its artifacts are given. `config` is the parsed policy file for further settings. */
export function readPolicy(reader: Reader, folder: string, artifacts?: Artifacts): { policy: Policy; config: YamlText | undefined; repository: string } {
  const found = findHarnessConfig(reader, folder);
  const problems: PolicyProblem[] = [];
  const layers: { from: 'file' | 'override'; given: GivenPolicy }[] = [];
  let config: YamlText | undefined;
  if (found.file !== undefined) {
    const read = readHarnessConfig(reader, found.file);
    config = read.yaml;
    if (read.problem) problems.push(read.problem);
    else {
      const { given, problems: wrong } = readPolicySection(read.yaml, []);
      layers.push({ from: 'file', given });
      problems.push(...wrong);
    }
  }
  for (const name of specFileNames) {
    const artifact = artifacts?.specs[name];
    if (!artifact) continue;
    const { given, problems: wrong } = readOverrides(artifact.file, artifact.text, artifact.problem);
    layers.push({ from: 'override', given });
    problems.push(...wrong);
  }
  const values = policyKeys.flatMap((key): EffectiveValue[] => {
    const layer = layers.findLast((each) => each.given[key] !== undefined);
    const value = layer?.given[key];
    if (value) return [{ key, value: value.value, from: layer.from, file: value.file, line: value.line }];
    return problems.length > 0 ? [] : [{ key, value: policySettings[key].preset, from: 'default', file: null, line: null }];
  });
  return { policy: { known: problems.length === 0, file: found.file ?? null, values, problems }, config, repository: found.folder };
}

/**
 * What the policy says for a boundary: `clear`, `compact`, or `off` (also when it is not enabled: the window is then left to the harness, R5.3).
 * Failure: `policy-unknown`, with the place of the first problem.
 */
export function actionAt(policy: Policy, boundary: Boundary): 'clear' | 'compact' | 'off' {
  const [problem] = policy.problems;
  if (problem) throw new Failure('policy-unknown', `${problem.file}:${String(problem.line)}: ${problem.message}`, 'Mend that line; until then nothing acts on the policy.', 2, problem);
  const valueOf = (key: PolicyKey) => policy.values.find((each) => each.key === key)?.value;
  const value = valueOf(keyOf[boundary]);
  if (valueOf('enabled') !== true || typeof value !== 'string') return 'off';
  return value;
}

/** The overrides in one spec file's front matter. */
function readOverrides(file: string, text: string | undefined, problem: string | undefined): { given: GivenPolicy; problems: PolicyProblem[] } {
  if (text === undefined) return { given: {}, problems: [{ file, line: 1, message: problem ?? 'it cannot be read.' }] };
  const front = findFrontMatter(text);
  if (!front) return { given: {}, problems: [] };
  try {
    return readPolicySection(parseYaml(text.slice(front.start, front.end), file, 2), ['overrides']);
  } catch (error) {
    return { given: {}, problems: [problemOf(error, file)] };
  }
}

/** One file as it is and as it is going to be. `before` undefined: the file is new. */
export interface FileChange { file: string; before: string | undefined; after: string; line: number }

/**
 * The change that sets one value in the policy file of `folder`. `create` allows a new file, with the whole section in it.
 * Failures: `no-policy-file` (nothing there and not `create`), those of setYamlValue.
 */
export function changePolicyFile(reader: Reader, folder: string, key: PolicyKey, value: PolicyValue, create: boolean): FileChange {
  const found = findHarnessConfig(reader, folder);
  if (found.file === undefined) {
    const file = newHarnessConfig(found.folder);
    if (!create) throw new Failure('no-policy-file', `There is no policy file for ${found.folder}; the defaults hold.`, `Add --create to write ${file}.`, 2, { file });
    const presets = Object.fromEntries(policyKeys.map((each) => [each, policySettings[each].preset])) as Record<PolicyKey, PolicyValue>;
    const after = newPolicyText({ ...presets, [key]: value });
    return { file, before: undefined, after, line: after.split('\n').findIndex((line) => line.startsWith(`  ${key}:`)) + 1 };
  }
  const before = readForEdit(reader, found.file) ?? '';
  const unchanged = valueAsIs(parseYaml(before, found.file), [], key, value);
  if (unchanged !== undefined) return { file: found.file, before, after: before, line: unchanged };
  const edit = setYamlValue(before, [section, key], value, found.file);
  return { file: found.file, before, after: edit.text, line: edit.line };
}

/**
 * The change that sets one value for a work item: in the front matter of tasks.md, else of the spec file of highest precedence that is there.
 * A file without front matter gets one. Failures: `no-spec-files`, those of setYamlValue.
 */
export function changeOverride(reader: Reader, artifacts: Artifacts, key: PolicyKey, value: PolicyValue): FileChange {
  const name = specFileNames.findLast((each) => artifacts.specs[each] !== undefined);
  if (name === undefined) {
    throw new Failure('no-spec-files', `${artifacts.folder.directory} holds no spec file that could carry the value.`,
      `Write one of ${specFileNames.join(', ')} first, or set the value for the whole repository.`, 2);
  }
  const file = path.join(artifacts.folder.directory, name);
  const before = readForEdit(reader, file) ?? '';
  const front = findFrontMatter(before);
  const { end } = scanMarkdown(before);
  const keys = ['overrides', section, key];
  if (!front) {
    if (/^\uFEFF?---[ \t]*\r?\n/.test(before)) throw new Failure('bad-yaml', `${file}:1: the front matter is never closed.`, 'Add a line --- behind it.', 2, { file, line: 1 });
    const bom = before.startsWith('\uFEFF') ? '\uFEFF' : '';
    const { text } = setYamlValue('', keys, value, file, 2);
    const after = `${bom}---${end}${text.replaceAll('\n', end)}---${end}${end}${before.slice(bom.length)}`;
    return { file, before, after, line: 4 };
  }
  const matter = before.slice(front.start, front.end);
  const unchanged = valueAsIs(parseYaml(matter, file, 2), ['overrides'], key, value);
  if (unchanged !== undefined) return { file, before, after: before, line: unchanged };
  const edit = setYamlValue(matter, keys, value, file, 2);
  return { file, before, after: before.slice(0, front.start) + edit.text + before.slice(front.end), line: edit.line };
}

/** The line on which the value stands already, when nothing is to be changed. */
function valueAsIs(yaml: YamlText, at: readonly string[], key: PolicyKey, value: PolicyValue): number | undefined {
  const given = readPolicySection(yaml, at).given[key];
  return given?.value === value ? given.line : undefined;
}
