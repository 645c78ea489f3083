import { isMap, isScalar, type YAMLMap } from 'yaml';
import { Failure } from '../disk/failure';
import { parseYaml, resolveNode, type YamlText } from '../disk/yamlText';
import { Places, type Place } from './places';
import { rangeOf, readSettings } from './settings';
import type { Scope } from './scope';
import { explain, type SourceProblem, type StateSource } from './stateSource';

const SCRIPT_KEYS = ['sh', 'ps1', 'bat'];
const STATE_KEYS = ['prompt', ...SCRIPT_KEYS, 'allowed_transitions', 'model', 'effort', 'timeout', 'force_implicit'];
const POLICY_KEYS = ['allowed_transitions', 'model', 'effort', 'force_implicit'];
const MANIFEST_KEYS = ['id', 'name', 'description', 'input', 'default_budget', 'working_directory', 'environment', 'requires_human_input', 'backend', 'states'];

/**
 * A workflow that is one YAML file: every state is a map under `states`, with a `prompt` or scripts. What is wrong with it becomes
 * problems with their place, so that the rest can still be looked at.
 */
export function openYamlScope(file: string, text: string): Scope {
  const places = new Places(text);
  const states = new Map<string, StateSource>();
  const problems: (SourceProblem & { file: string })[] = [];
  const scope = (backend: string): Scope => ({
    kind: 'yaml', path: file, base: file.replace(/\.ya?ml$/i, ''), names: [...states.keys()].sort(), problems, backend,
    load(name) {
      const state = states.get(name);
      if (!state) throw new Failure('internal', `${file} has no state ${name}.`, 'Report this as a fault of Loopkeeper.');
      return state;
    },
  });
  let yaml: YamlText;
  try {
    yaml = parseYaml(text, file);
  } catch (error) {
    problems.push({ check: 'workflow-parse-error', file, ...explain(error, places) });
    return scope('claude');
  }
  const root = yaml.document.contents;
  if (!isMap(root)) return scope('claude');
  let backend = 'claude';
  for (const pair of root.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    const value = resolveNode(yaml, pair.value);
    if (!MANIFEST_KEYS.includes(key)) problems.push({ check: 'unknown-field', message: `Nothing reads the key "${key}".`, file, place: places.at(...rangeOf(pair.key)) });
    if (key === 'backend') backend = isScalar(value) ? String(value.value) : isMap(value) ? String(value.get('name')) : backend;
    if (key !== 'states' || !isMap(value)) continue;
    for (const entry of value.items) {
      const body = resolveNode(yaml, entry.value);
      const name = isScalar(entry.key) ? String(entry.key.value) : '';
      if (isMap(body)) for (const state of statesOf(yaml, file, name, body, places, places.at(...rangeOf(entry.key)))) states.set(state.name, state);
      else problems.push({ check: 'invalid-state', message: `State "${name}" is no map of keys and values.`, file, place: places.at(...rangeOf(entry.key)) });
    }
  }
  return scope(backend);
}

/** The virtual files of one entry: one for its prompt, or one for each script it has. */
function statesOf(yaml: YamlText, file: string, name: string, map: YAMLMap, places: Places, place: Place): StateSource[] {
  const settings = readSettings(yaml, map, STATE_KEYS, (start, end) => places.at(start, end));
  const keys = map.items.map((pair) => (isScalar(pair.key) ? String(pair.key.value) : ''));
  const scripts = SCRIPT_KEYS.filter((key) => keys.includes(key));
  const problems: SourceProblem[] = [];
  if (keys.includes('prompt') === scripts.length > 0) {
    problems.push({ check: 'invalid-state', message: `State "${name}" needs either a prompt or scripts.`, place });
  } else if (scripts.length > 0 && keys.some((key) => POLICY_KEYS.includes(key))) {
    problems.push({ check: 'invalid-state', message: `State "${name}" is a script, so it can have no ${POLICY_KEYS.join(', ')}.`, place });
  }
  const source = (key: string, extension: string, kind: StateSource['kind']): StateSource => {
    const node = resolveNode(yaml, map.get(key, true));
    const body = isScalar(node) && typeof node.value === 'string' ? node.value : '';
    return { name: name + extension, kind, file, settings, body, problems, placeOf: placeIn(yaml.text, body, rangeOf(node), places) };
  };
  if (scripts.length === 0) return [source('prompt', '.md', 'markdown')];
  return scripts.map((key) => source(key, `.${key}`, 'script'));
}

/**
 * Offsets of a YAML text value as places in the file. Block texts are indented and quoted ones escaped, so a tag is found as the
 * occurrence of the same number in the value's own part of the file.
 */
function placeIn(text: string, body: string, [start, end]: [number, number], places: Places): StateSource['placeOf'] {
  return (offset, stop = offset) => {
    const word = /^<[a-z]+/.exec(body.slice(offset, offset + 20))?.[0];
    if (word === undefined) return places.at(start, start);
    let found = start - 1;
    for (let at = body.indexOf(word); at >= 0 && at <= offset; at = body.indexOf(word, at + 1)) found = text.indexOf(word, found + 1);
    return found < start || found >= end ? places.at(start, start) : places.at(found, found + (stop - offset));
  };
}
