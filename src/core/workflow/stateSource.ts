import { isMap } from 'yaml';
import { Failure } from '../disk/failure';
import { parseYaml } from '../disk/yamlText';
import { Places, type Place } from './places';
import { NO_SETTINGS, readSettings, type StateSettings } from './settings';

/** Something wrong with how a state is written down. */
export interface SourceProblem { check: string; message: string; place: Place }

/** A state as its author wrote it, read but not judged. */
export interface StateSource {
  /** With its extension: `REVIEW.md`, `POLL.sh`. */
  name: string;
  kind: 'markdown' | 'script';
  /** The file it stands in. */
  file: string;
  settings: StateSettings;
  /** The prompt, or the text of the script. */
  body: string;
  /** Where an offset of the body stands in the file; `end` gives the length, cut at the end of the line. */
  placeOf(offset: number, end?: number): Place;
  problems: SourceProblem[];
}

const FRONT_MATTER = ['allowed_transitions', 'model', 'effort', 'force_implicit'];

/** The states that a model runs; every other known kind is a script. */
export function kindOfState(name: string): 'markdown' | 'script' {
  return /\.(sh|bat|ps1)$/.test(name) ? 'script' : 'markdown';
}

/**
 * Reads a state of its own file. Front matter stands at the first byte between two lines of `---`; one that is no YAML becomes a
 * problem and counts as empty, so that the rest can still be looked at.
 */
export function readStateFile(name: string, file: string, text: string): StateSource {
  const places = new Places(text);
  const kind = kindOfState(name);
  const match = kind === 'markdown' ? /^---[ \t]*\r?\n([\s\S]+?)\r?\n---[ \t]*\r?\n/.exec(text) : null;
  const bodyStart = match ? match[0].length : 0;
  const problems: SourceProblem[] = [];
  let settings = NO_SETTINGS;
  if (match) {
    const start = text.indexOf('\n') + 1;
    try {
      const yaml = parseYaml(match[1] ?? '', file, 2);
      if (isMap(yaml.document.contents)) {
        settings = readSettings(yaml, yaml.document.contents, FRONT_MATTER, (from, to) => places.at(start + from, start + to));
      } else if (yaml.document.contents !== null) {
        problems.push({ check: 'frontmatter-parse-error', message: 'The front matter is no map of keys and values.', place: places.at(0, 3) });
      }
    } catch (error) {
      problems.push({ check: 'frontmatter-parse-error', ...explain(error, places) });
    }
  }
  return {
    name, kind, file, settings, body: text.slice(bodyStart), problems,
    placeOf: (offset, end = offset) => places.at(bodyStart + offset, bodyStart + end),
  };
}

/** The sentence and the line of a YAML error. Anything else is thrown on. */
export function explain(error: unknown, places: Places): { message: string; place: Place } {
  if (!(error instanceof Failure)) throw error;
  const line = (error.details as { line?: number } | undefined)?.line ?? 1;
  return { message: error.message.replace(/^.*?:\d+: /s, ''), place: places.line(line) };
}
