import path from 'node:path';
import { Failure, messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import type { Place } from './places';
import { NO_SETTINGS } from './settings';
import { kindOfState, readStateFile, type SourceProblem, type StateSource } from './stateSource';
import { openYamlScope } from './yamlScope';

/** Which scripts can run: `.sh`, or `.ps1` and `.bat`. */
export type Platform = 'posix' | 'windows';

/** A workflow on disk: its states by name, each read when it is asked for. */
export interface Scope {
  kind: 'folder' | 'yaml';
  /** The folder, or the YAML file: what a run keeps as its `scope_dir`. */
  path: string;
  /** The folder from which the targets of `-workflow` tags are counted. */
  base: string;
  /** Names with extension, sorted. */
  names: string[];
  load(name: string): StateSource;
  /** What is wrong with the scope as a whole. */
  problems: (SourceProblem & { file: string })[];
  /** The model program of the manifest: `claude` when it names none. */
  backend: string;
}

/** Larger than any prompt or script; a state file beyond it is not looked at. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;
const SCOPE_START: Place = { line: 1, column: 1, length: 0 };
const EXTENSIONS = ['.md', '.sh', '.ps1', '.bat'];

/**
 * Opens what a path or specifier means: a folder, a YAML workflow, or one state of either (`dir/REVIEW.md`, `dir/REVIEW`, `wf.yaml/REVIEW`).
 * `target` is absolute or a URL. Failures: `unsupported-scope` for a zip or URL, `no-workflow`, and those of reading.
 */
export function openWorkflow(reader: Reader, target: string, platform: Platform): { scope: Scope; start: string | undefined } {
  refuseUnsupported(reader, target);
  if (reader.kind(target) === 'directory') return { scope: openFolder(reader, target), start: undefined };
  const parent = path.dirname(target);
  if (reader.kind(target) === 'file') {
    if (isYaml(target)) {
      const text = reader.text(target, MAX_STATE_BYTES) ?? '';
      if (/^states\s*:/m.test(text)) return { scope: openYamlScope(target, text), start: undefined };
      throw new Failure('no-workflow', `${target} has no \`states:\`, so it is no workflow.`, 'Name the folder of the workflow, or a YAML file with states.');
    }
    return { scope: openFolder(reader, parent), start: path.basename(target) };
  }
  const inYaml = isYaml(parent) && reader.kind(parent) === 'file';
  if (inYaml || reader.kind(parent) === 'directory') {
    const scope = inYaml ? openYamlScope(parent, reader.text(parent, MAX_STATE_BYTES) ?? '') : openFolder(reader, parent);
    const found = resolveState(scope, path.basename(target), platform);
    if ('name' in found) return { scope, start: found.name };
  }
  throw new Failure('no-workflow', `There is no workflow at ${target}.`, 'Name a folder of states, a YAML workflow, or one state of either.');
}

/** Failure `unsupported-scope` where the path lies in a zip, or is an address; with what to do instead. */
export function refuseUnsupported(reader: Reader, target: string): void {
  if (/^https?:/i.test(target)) {
    throw new Failure('unsupported-scope', `${target} is a workflow at an address; Loopkeeper uses no network.`, 'Download and unpack it, then name the folder.', 2);
  }
  const zip = [target, path.dirname(target)].find((candidate) => /\.zip$/i.test(candidate) && reader.kind(candidate) !== 'directory');
  if (zip !== undefined) throw new Failure('unsupported-scope', `${zip} is a zip archive; Loopkeeper reads folders and YAML files.`, 'Unpack it, then name the folder.', 2);
}

function isYaml(file: string): boolean {
  return /\.ya?ml$/i.test(file);
}

function openFolder(reader: Reader, folder: string): Scope {
  const names = reader.list(folder).filter((name) => ['file', 'link'].includes(reader.kind(path.join(folder, name))));
  return {
    kind: 'folder', path: folder, base: folder, names, problems: [], backend: backendOf(reader, folder, names),
    load(name) {
      const file = path.join(folder, name);
      try {
        return readStateFile(name, file, reader.text(file, MAX_STATE_BYTES) ?? '');
      } catch (error) {
        const problem = { check: 'unreadable-state', message: messageOf(error), place: SCOPE_START };
        return { name, kind: kindOfState(name), file, settings: NO_SETTINGS, body: '', placeOf: () => SCOPE_START, problems: [problem] };
      }
    },
  };
}

/** The manifest of a folder is read for the one thing that matters here: which model names are to be checked. */
function backendOf(reader: Reader, folder: string, names: readonly string[]): string {
  if (!names.includes('workflow.yaml')) return 'claude';
  try {
    return openYamlScope(folder, reader.text(path.join(folder, 'workflow.yaml'), MAX_STATE_BYTES) ?? '').backend;
  } catch {
    return 'claude'; // an unreadable manifest is no reason not to look at the states
  }
}

export type Resolution = { name: string } | { error: 'missing' | 'ambiguous' | 'other-platform'; message: string };

/**
 * The state that a name in a tag means. With an extension it must be there; without one it is the model state or the script of that
 * name, and both together are ambiguous. In a YAML workflow a known extension makes no difference.
 */
export function resolveState(scope: Pick<Scope, 'kind' | 'names' | 'path'>, name: string, platform: Platform): Resolution {
  const scripts = platform === 'posix' ? ['.sh'] : ['.ps1', '.bat'];
  const foreign = platform === 'posix' ? ['.ps1', '.bat'] : ['.sh'];
  const extension = path.extname(name);
  const stem = scope.kind === 'yaml' && EXTENSIONS.includes(extension) ? name.slice(0, -extension.length) : name;
  const has = (candidate: string): boolean => scope.names.includes(candidate);
  const elsewhere = (): Resolution => ({ error: 'other-platform', message: `State "${name}" is there only for the other platform.` });
  if (stem === name && extension !== '') {
    if (!has(name)) return { error: 'missing', message: `State "${name}" is not in ${scope.path}.` };
    return foreign.includes(extension) ? elsewhere() : { name };
  }
  const candidates = ['.md', ...scripts].map((ending) => stem + ending);
  const found = candidates.filter(has);
  if (found.length > 1) return { error: 'ambiguous', message: `State "${name}" can be ${found.join(' or ')}.` };
  if (found[0] !== undefined) return { name: found[0] };
  if (foreign.some((ending) => has(stem + ending))) return elsewhere();
  return { error: 'missing', message: `State "${name}" is not in ${scope.path}; looked for ${candidates.join(', ')}.` };
}

/** The state a workflow starts at: `1_START`, else `START`, of any extension that can run here. */
export function findEntry(scope: Pick<Scope, 'names'>, platform: Platform): { name: string } | { error: 'missing' | 'ambiguous'; message: string; candidates: string[] } {
  const foreign = platform === 'posix' ? ['.ps1', '.bat'] : ['.sh'];
  const candidates = scope.names.filter((name) => ['1_START', 'START'].includes(path.parse(name).name) && !foreign.includes(path.extname(name)));
  if (candidates[0] === undefined) return { error: 'missing', message: 'There is neither a state 1_START nor START.', candidates };
  if (candidates.length > 1) return { error: 'ambiguous', message: `${candidates.join(' and ')} could both be the start.`, candidates };
  return { name: candidates[0] };
}

/** The folder from which the targets of `-workflow` tags are counted, of a run's scope: a YAML file or archive stands for the folder of its name. */
export function baseOfScope(scopeDirectory: string): string {
  return scopeDirectory.replace(/\.(ya?ml|zip)$/i, '');
}

/**
 * Finds the workflow that the target of a `-workflow` tag means. Gives `{error}` with a sentence where there is none.
 * `abbrev` names its workers: the folder's or file's name; where a state is given, that of the folder or YAML file it is in.
 */
export function resolveSpecifier(reader: Reader, scopeDirectory: string, specifier: string, platform: Platform): { scope_dir: string; entry: string; abbrev: string } | { error: string } {
  const target = /^https?:/i.test(specifier) ? specifier : path.resolve(baseOfScope(scopeDirectory), specifier);
  try {
    const { scope, start } = openWorkflow(reader, target, platform);
    const named = start === undefined || start === path.basename(target) ? target : scope.path;
    const abbrev = path.basename(named).replace(/\.[^.]+$/, '');
    if (start !== undefined) return { scope_dir: scope.path, entry: start, abbrev };
    const entry = findEntry(scope, platform);
    return 'name' in entry ? { scope_dir: scope.path, entry: entry.name, abbrev } : { error: `${scope.path}: ${entry.message}` };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { error: error.message };
  }
}

/** The states an agent of this scope can be sent to, by file name; empty where the workflow cannot be read from here. */
export function statesToGoTo(reader: Reader, scopeDirectory: string, platform: Platform): string[] {
  const endings = platform === 'posix' ? /\.(md|sh)$/ : /\.(md|ps1|bat)$/;
  try {
    return openWorkflow(reader, scopeDirectory, platform).scope.names.filter((name) => endings.test(name) && !/^readme\.md$/i.test(name));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [];
  }
}
