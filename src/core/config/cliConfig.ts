import fs from 'node:fs';
import path from 'node:path';
import { Failure, messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import type { ParsedConfig } from './cliConfigFile';

/** Where the program runs. Nothing of it is read by core itself. */
export interface ConfigPlace {
  /** `--config`, as given. */
  configFlag?: string;
  env: Record<string, string | undefined>;
  /** Absolute. */
  cwd: string;
  /** The home directory; empty when there is none. */
  home: string;
}

/** A value in force, for a person: from `default` or `<file>:<line>`. */
export interface Setting { key: string; value: unknown; from: string }

/** the-loop's cli-config.yaml with everything resolved: paths are absolute, absent values are its defaults. */
export interface CliConfig {
  /** The file in force, or null when there is none and all is default. */
  file: string | null;
  stateRoot: string;
  /** Session records. */
  registryDir: string;
  /** Portable records and their index. */
  portableDir: string;
  /** Session records of standing sessions. */
  standingDir: string;
  channelsDir: string;
  eventLog: { enabled: boolean; path: string };
  workspace: { root: string | null; strategy: 'worktree' | 'clone'; defaultHost: string; keepCheckoutOnClose: boolean; gitBinary: string };
  control: { requireStartCommand: boolean };
  spawnOnUnmatched: string;
  tmux: { keepSessionOnClose: boolean; killHarnessOnClose: boolean; harnessKillGraceSeconds: number };
  /** `receiver` is where a reset looks; `receiverInForce` follows `webhooks.ghWebhook.pidfile` and is for doctor. */
  pidfiles: { receiver: string; poller: string; service: string; receiverInForce: string };
  /** The tree of the older layout, only read. */
  legacy: { directory: string; controlDir: string; pollState: string; olderPollState: string };
  settings: Setting[];
  /** What is odd but moves nothing, one sentence each. */
  problems: string[];
}

const NAME = 'cli-config.yaml';

function isFile(file: string): boolean {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * The configuration file in force, absolute, or undefined when there is none: `--config`, `THE_LOOP_CLI_CONFIG`,
 * `./.the-loop/cli-config.yaml`, `~/.the-loop/cli-config.yaml` (reference the-loop §1.1).
 * Failure `config-missing` (exit code 2): a file named on purpose is not there; the defaults would be another state root.
 */
export function locateCliConfig(place: ConfigPlace): string | undefined {
  const named: [string | undefined, string][] = [[place.configFlag, '--config'], [place.env['THE_LOOP_CLI_CONFIG'], 'THE_LOOP_CLI_CONFIG']];
  for (const [given, by] of named) {
    if (!given) continue;
    const file = path.resolve(place.cwd, given);
    if (isFile(file)) return file;
    throw new Failure('config-missing', `${file} is no file; ${by} names it as the configuration.`, `Correct the path, or leave ${by} out.`, 2, { file });
  }
  const candidates = [path.join(place.cwd, '.the-loop', NAME), ...(place.home ? [path.join(place.home, '.the-loop', NAME)] : [])];
  return candidates.find(isFile);
}

function readText(reader: Reader, file: string): string {
  try {
    // People keep their configuration behind links; whatever it leads to is only read.
    const text = reader.text(fs.realpathSync(file), 1024 * 1024);
    if (text !== undefined) return text;
    throw new Error('it is gone');
  } catch (error) {
    throw new Failure('config-unreadable', `${file}:1: the configuration cannot be read: ${messageOf(error).replace(/\.$/, '')}.`,
      'Check the file and its permissions, then try again.', 2, { file, line: 1 });
  }
}

function expandHome(given: string, home: string): string {
  return home && (given === '~' || given.startsWith('~/')) ? path.join(home, given.slice(1)) : given;
}

/**
 * The configuration in force. Failures, exit code 2: `config-missing`, `config-unreadable`, `config-too-old`, each with the file and its line.
 * The YAML library is loaded only when there is a file.
 */
export async function readCliConfig(reader: Reader, place: ConfigPlace): Promise<CliConfig> {
  const file = locateCliConfig(place);
  if (file === undefined) return resolveCliConfig(undefined, null, place);
  const { parseCliConfig } = await import('./cliConfigFile');
  return resolveCliConfig(parseCliConfig(file, readText(reader, file)), file, place);
}

/** The values of a parsed file, or of none, with the defaults filled in. */
export function resolveCliConfig(parsed: ParsedConfig | undefined, file: string | null, place: Pick<ConfigPlace, 'cwd' | 'home'>): CliConfig {
  const settings: Setting[] = [];
  const get = <T extends string | boolean | number>(key: string, fallback: T): T => {
    const given = parsed?.value(key);
    // An empty text means its default, as the-loop takes it.
    const set = given !== undefined && given !== '' && typeof given === typeof fallback;
    settings.push({ key, value: set ? given : fallback, from: set && parsed ? `${file ?? ''}:${String(parsed.line(key))}` : 'default' });
    return set ? (given as T) : fallback;
  };
  const absolute = (given: string) => path.resolve(place.cwd, given);
  const getPath = (key: string, fallback: string, expand: (given: string) => string = (given) => given) => {
    const given = get(key, fallback);
    const value = given === '' ? '' : absolute(expand(given));
    const setting = settings.at(-1);
    if (setting) setting.value = value;
    return value;
  };
  const problems: string[] = [];
  const known = (key: string, value: string, values: string[], taken: string) => {
    if (!values.includes(value)) problems.push(`${file ?? ''}:${String(parsed?.line(key) ?? 1)}: ${key} is ${JSON.stringify(value)}, none of ${values.join(', ')}; it counts as ${taken}.`);
  };

  const stateRoot = getPath('state.root', '.the-loop');
  const registryDir = getPath('routing.registryDir', path.join(stateRoot, 'local'));
  const eventLog = { enabled: get('eventLog.enabled', true), path: getPath('eventLog.path', path.join(stateRoot, 'logs', 'events.jsonl')) };
  const spawnOnUnmatched = get<string>('routing.spawnOnUnmatched', 'never');
  known('routing.spawnOnUnmatched', spawnOnUnmatched, ['never', 'always', 'labeled'], 'a setting that spawns');
  const requireStartCommand = get('routing.control.requireStartCommand', true);
  // The one path in which a ~ is the home directory.
  const workspaceRoot = getPath('routing.workspace.root', '', (given) => expandHome(given, place.home));
  const strategy = get<string>('routing.workspace.strategy', 'worktree');
  known('routing.workspace.strategy', strategy, ['worktree', 'clone'], 'worktree');
  const workspace: CliConfig['workspace'] = {
    root: workspaceRoot || null,
    strategy: strategy === 'clone' ? 'clone' : 'worktree',
    defaultHost: get('routing.workspace.defaultHost', 'github.com'),
    keepCheckoutOnClose: get('routing.workspace.keepCheckoutOnClose', false),
    gitBinary: get('routing.workspace.gitBinary', 'git'),
  };
  const tmux = {
    keepSessionOnClose: get('routing.tmux.keepSessionOnClose', true),
    killHarnessOnClose: get('routing.tmux.killHarnessOnClose', true),
    harnessKillGraceSeconds: get('routing.tmux.harnessKillGraceSeconds', 5),
  };
  const receiver = path.join(stateRoot, 'gh-webhook.pid');
  const receiverInForce = getPath('webhooks.ghWebhook.pidfile', receiver);
  for (const key of parsed?.duplicates ?? []) problems.push(`${file ?? ''}:${String(parsed?.line(key) ?? 1)}: ${key} is written more than once; the last one counts.`);
  const legacy = path.join(stateRoot, 'sessions');
  return {
    file,
    stateRoot,
    registryDir,
    portableDir: path.join(stateRoot, 'portable'),
    standingDir: path.join(stateRoot, 'local', 'standing'),
    channelsDir: path.join(stateRoot, 'channels'),
    eventLog,
    workspace,
    control: { requireStartCommand },
    spawnOnUnmatched,
    tmux,
    pidfiles: { receiver, poller: path.join(stateRoot, 'poll.pid'), service: path.join(stateRoot, 'local', 'service.pid'), receiverInForce },
    legacy: { directory: legacy, controlDir: path.join(legacy, 'control'), pollState: path.join(legacy, 'poll-state.json'), olderPollState: path.join(place.cwd, '.the-loop', 'poll-state.json') },
    settings,
    problems,
  };
}
