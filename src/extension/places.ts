import path from 'node:path';

/** Where the program is run to look at one loop's state. */
export interface Place {
  /** Working directory of the program. */
  cwd: string;
  /** `--config`, when a setting names it. */
  config?: string;
  /** The loop's state root, as the program resolved it; empty while unknown. */
  stateRoot: string;
}

export interface FolderSettings {
  /** The workspace folder. */
  path: string;
  /** `loopkeeper.loopFolder`, or empty. */
  loopFolder: string;
  /** `loopkeeper.cliConfig`, or empty. */
  cliConfig: string;
}

/** A path from a setting: `~` is the home directory, a relative one is relative to the workspace folder. */
function resolved(folder: string, value: string, home: string): string {
  if (value === '~' || value.startsWith('~/')) return path.join(home, value.slice(1));
  return path.resolve(folder, value);
}

/**
 * Where to look, in order and each once: the folder that `loopFolder` names, else the workspace folder itself. (The program in turn falls
 * back to ~/.the-loop/cli-config.yaml.) Pure: whether anything is there is the program's answer.
 */
export function placesToLook(folders: readonly FolderSettings[], home: string): Place[] {
  const places = new Map<string, Place>();
  for (const { path: folder, loopFolder, cliConfig } of folders) {
    const cwd = loopFolder ? resolved(folder, loopFolder, home) : folder;
    const place: Place = { cwd, stateRoot: '', ...(cliConfig ? { config: resolved(folder, cliConfig, home) } : {}) };
    places.set(`${place.cwd}\0${place.config ?? ''}`, place);
  }
  return [...places.values()];
}

/** True when `inner` is `outer` or lies below it. */
export function isWithin(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..' + path.sep) && relative !== '..' && !path.isAbsolute(relative));
}

/** The `.raymond` directory for a folder: searched upward, not above a folder that has `.git`; as the program does. */
export function raymondAbove(folder: string, exists: (file: string) => boolean): string | undefined {
  for (let directory = folder; ; directory = path.dirname(directory)) {
    const candidate = path.join(directory, '.raymond');
    if (exists(candidate)) return candidate;
    if (exists(path.join(directory, '.git')) || directory === path.dirname(directory)) return undefined;
  }
}

/** The shortest way to tell a path: below the home directory with `~`, otherwise whole. */
export function tildePath(file: string, home: string): string {
  return home !== '' && file !== home && isWithin(home, file) ? `~/${path.relative(home, file)}` : file;
}
