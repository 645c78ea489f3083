import path from 'node:path';
import type { YamlText } from '../disk/yamlText';
import { maxConfigBytes, specDirectory } from '../config/harnessConfig';
import { Failure, messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { assertInside } from '../disk/reader';
import type { WorkItemRef } from '../workItems/ref';
import { parseGraphState } from './phases';
import type { GraphState } from './phases';

/** The files whose front matter may override the policy, the weakest first. The last ones also describe the work most closely. */
export const specFileNames = ['requirements.md', 'bugfix.md', 'design.md', 'testing-plan.md', 'tasks.md'] as const;
export type SpecFileName = (typeof specFileNames)[number];

/** The folder of one work item's spec files. `id` names it: `issue-15`. */
export interface SpecFolder { checkout: string; id: string; directory: string }

/** A file that was read, or why it could not be. */
export type Artifact = { file: string; text: string; problem?: undefined } | { file: string; text?: undefined; problem: string };

/** What a work item's spec folder holds: only what is there. */
export interface Artifacts {
  folder: SpecFolder;
  specs: Partial<Record<SpecFileName | 'brainstorm.md' | 'contribution.md', Artifact>>;
  log: Artifact | undefined;
  /** `state` is absent when the file cannot be used; then the-loop treats it as absent too. */
  graph: { file: string; state?: GraphState } | undefined;
}

const folderName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * The name of the item's spec folder: the one that was typed, else the one its portable record holds, else `issue-<number>` for GitHub.
 * Failures: `unsafe-path` for a name that is no plain folder name, `no-spec-folder` for another provider without one.
 */
export function specIdOf(ref: WorkItemRef, known: { typed?: string; recorded?: string }): string {
  const id = known.typed ?? known.recorded ?? (ref.provider === 'github' ? `issue-${ref.number}` : undefined);
  if (id === undefined) {
    throw new Failure('no-spec-folder', `The spec folder of ${ref.ref} is not known: ${ref.provider} items have no fixed name for it.`, 'Name it with --spec NAME.', 2);
  }
  if (!folderName.test(id)) throw new Failure('unsafe-path', `${JSON.stringify(id.slice(0, 80))} is no name of a spec folder.`, 'Name a folder inside the spec directory with --spec NAME.', 2);
  return id;
}

/** Where the item's spec files are in `checkout`. Failure: `unsafe-path` when the folder leads out of it. */
export function specFolder(config: YamlText | undefined, checkout: string, id: string): SpecFolder {
  const directory = path.join(specDirectory(config, checkout), id);
  assertInside(checkout, path.join(directory, 'x'));
  return { checkout, id, directory };
}

/** Reads what is in a spec folder. A file that cannot be read is there with its problem; nothing is followed through a link. */
export function readArtifacts(reader: Reader, folder: SpecFolder): Artifacts {
  const read = (name: string): Artifact | undefined => {
    const file = path.join(folder.directory, name);
    try {
      const text = reader.text(file, maxConfigBytes);
      return text === undefined ? undefined : { file, text };
    } catch (error) {
      return { file, problem: messageOf(error) };
    }
  };
  const specs: Artifacts['specs'] = {};
  for (const name of [...specFileNames, 'brainstorm.md', 'contribution.md'] as const) {
    const artifact = read(name);
    if (artifact) specs[name] = artifact;
  }
  const graph = read('graph-state.json');
  const state = graph?.text === undefined ? undefined : parseGraphState(graph.text);
  return { folder, specs, log: read('execution-log.md'), graph: graph ? { file: graph.file, ...(state ? { state } : {}) } : undefined };
}

/** The path of the item's execution log, there or not. */
export function logFile(folder: SpecFolder): string {
  return path.join(folder.directory, 'execution-log.md');
}

/** A path as it is shown: relative to the checkout, with `/`. */
export function shownPath(folder: Pick<SpecFolder, 'checkout'>, file: string): string {
  return path.relative(folder.checkout, file).split(path.sep).join('/') || '.';
}
