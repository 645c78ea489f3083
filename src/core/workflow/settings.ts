import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { resolveNode, type YamlText } from '../disk/yamlText';
import type { Place } from './places';

/** A value of front matter with the place it stands at. */
export interface Placed<T> { value: T; place: Place }

/** What a model state may say about itself: in front matter, or in its entry of a YAML workflow. */
export interface StateSettings {
  /** The policy: the transitions that are allowed, each with its attributes. Entries without `tag` are dropped, as raymond does. */
  allowed: Placed<Record<string, string>>[];
  model?: Placed<string>;
  effort?: Placed<string>;
  forceImplicit?: Placed<boolean>;
  /** Seconds; in YAML workflows only. */
  timeout?: Placed<number>;
  /** Keys that nothing reads. */
  unknown: Placed<string>[];
}

export const NO_SETTINGS: StateSettings = { allowed: [], unknown: [] };

/** Where a node stands, given its offsets in the YAML text. */
export type PlaceOf = (start: number, end: number) => Place;

/** Reads the settings of one state out of a YAML map; `known` = all keys that may stand there. */
export function readSettings(yaml: YamlText, map: YAMLMap, known: readonly string[], placeOf: PlaceOf): StateSettings {
  const settings: StateSettings = { allowed: [], unknown: [] };
  const at = (node: unknown): Place => placeOf(...rangeOf(node));
  for (const pair of map.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    const value = resolveNode(yaml, pair.value);
    if (!known.includes(key)) settings.unknown.push({ value: key, place: at(pair.key) });
    else if (key === 'allowed_transitions') settings.allowed = readPolicy(yaml, value, at);
    else if (key === 'model' || key === 'effort') {
      const text = scalarText(value).trim().toLowerCase();
      if (text !== '') settings[key] = { value: text, place: at(pair.value) };
    } else if (key === 'force_implicit') settings.forceImplicit = { value: isScalar(value) && value.value === true, place: at(pair.value) };
    else if (key === 'timeout' && isScalar(value)) settings.timeout = { value: Number(value.value), place: at(pair.value) };
  }
  return settings;
}

function readPolicy(yaml: YamlText, node: Node | undefined, at: (node: unknown) => Place): Placed<Record<string, string>>[] {
  if (!isSeq(node)) return [];
  return node.items.flatMap((item) => {
    const map = resolveNode(yaml, item);
    if (!isMap(map)) return [];
    const entries = map.items.map((pair): [string, string] => [scalarText(pair.key), scalarText(resolveNode(yaml, pair.value))]);
    const value = Object.fromEntries(entries);
    return value['tag'] ? [{ value, place: at(item) }] : [];
  });
}

/** A scalar as it is written, so that `payload: 1.0` stays what it says; anything else is empty. */
function scalarText(node: unknown): string {
  if (!isScalar(node)) return '';
  return typeof node.value === 'string' ? node.value : node.value === null ? '' : node.source ?? String(node.value);
}

/** The offsets of a node in its text: start, and the end of what it says. */
export function rangeOf(node: unknown): [number, number] {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : [0, 0];
}
