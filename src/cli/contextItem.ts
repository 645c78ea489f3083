import path from 'node:path';
import type { CliConfig } from '../core/config/cliConfig';
import { stringSetting } from '../core/config/harnessConfig';
import { readArtifacts, specFolder, specIdOf, type Artifacts, type SpecFolder } from '../core/context/artifacts';
import { seeGuide } from '../core/context/guide';
import { readPolicy } from '../core/context/policy';
import { Failure, messageOf } from '../core/disk/failure';
import { diskReader, isInside, type Reader } from '../core/disk/reader';
import { isObject } from '../core/workItems/jsonFile';
import { portablePath, readPortable } from '../core/workItems/portableRecord';
import { parseRef, type WorkItemRef } from '../core/workItems/ref';
import { readSession, sessionPath } from '../core/workItems/sessionRecord';
import { pendingWork, type PendingWork } from '../core/workspaces/pendingWork';
import type { Message } from '../protocol/message';
import { flag, text, type Context, type Option, type Values, type Verb } from './command';
import { gitOf, loadConfig } from './state';

export const itemOptions = {
  'work-item': { type: 'string', value: 'REF', help: 'The work item, e.g. github:octo/repo#15.' },
  spec: { type: 'string', value: 'NAME', help: 'The name of its spec folder, where it is not issue-<number>.' },
} satisfies Record<string, Option>;

export const folderOption = {
  folder: { type: 'string', value: 'DIR', help: 'The repository, or a folder in it. Default: the checkout of the item, else the working directory.' },
} satisfies Record<string, Option>;

/** A work item as the context verbs see it: its checkout and its spec folder. */
export interface ContextItem { ref: WorkItemRef; config: CliConfig; folder: SpecFolder; labelPrefix: string; warnings: Message[] }

/** The folder that a call is about when it names no item: --folder, else the working directory. */
export function folderOf(context: Context, values: Values): string {
  const given = text(values, 'folder');
  const folder = path.resolve(context.cwd, given ?? '.');
  if (diskReader.kind(folder) !== 'directory') throw new Failure('not-found', `${folder} is no folder.`, 'Name a folder that is there.', 2);
  return folder;
}

/** The work item that --work-item names. Failures: `invalid-ref`, `no-checkout`, those of the configuration. */
export async function itemOf(context: Context, values: Values): Promise<ContextItem> {
  const ref = parseRef(text(values, 'work-item') ?? '');
  const config = await loadConfig(context, values);
  const warnings: Message[] = [];
  const session = readSession(diskReader, sessionPath(config.registryDir, ref.slug));
  const record = session.kind === 'record' && session.record.ref.ref === ref.ref ? session.record : undefined;
  let start = text(values, 'folder') === undefined ? record?.cwd : undefined;
  if (start !== undefined && (!path.isAbsolute(start) || diskReader.kind(start) !== 'directory')) {
    warnings.push({ kind: 'checkout-gone', message: `The session of ${ref.ref} worked in ${start}, which is no longer there; ${context.cwd} is used.` });
    start = undefined;
  }
  const portable = readPortable(diskReader, portablePath(config.portableDir, ref.slug));
  const graph = portable.kind === 'record' && portable.record.ref?.ref === ref.ref ? portable.record.sections.graph : undefined;
  const recorded = isObject(graph) && typeof graph['workItem'] === 'string' ? graph['workItem'] : undefined;
  const typed = text(values, 'spec');
  const id = specIdOf(ref, { ...(typed === undefined ? {} : { typed }), ...(recorded === undefined ? {} : { recorded }) });
  const { config: harness, repository } = readPolicy(diskReader, start ?? folderOf(context, values));
  const folder = specFolder(harness, repository, id);
  return { ref, config, folder, labelPrefix: stringSetting(harness, ['workflow', 'phaseLabelPrefix']) ?? 'loop:', warnings };
}

/** The artifacts of an item through a reader. Failure `no-spec-folder` when there is no such folder in its checkout. */
export function artifactsOf(reader: Reader, item: ContextItem, mayBeNew = false): Artifacts {
  if (!mayBeNew && reader.kind(item.folder.directory) === 'absent') {
    throw new Failure('no-spec-folder', `There is no ${item.folder.directory}.`, `Run this in the item's checkout, name it with --folder, or lay down a log with loopkeeper context init --work-item '${item.ref.ref}'.`, 1);
  }
  return readArtifacts(reader, item.folder);
}

/** Files that programs rewrite while they run, in case the state root lies in the checkout: no work of anybody's. */
export function generatedFiles(config: CliConfig): string[] {
  const inRoot = ['loopkeeper', 'logs', 'local', 'poll-status.json', 'self-diagnosis.json', 'self-diagnosis.json.lock'].map((name) => path.join(config.stateRoot, name));
  return [...inRoot, config.registryDir, config.channelsDir, config.eventLog.path, config.legacy.directory, config.pidfiles.receiver, config.pidfiles.receiverInForce, config.pidfiles.poller, config.pidfiles.service];
}

/** What git says of a folder's work, or the reason for which it says nothing. */
export async function workOf(context: Context, values: Values, config: CliConfig, folder: string, specs?: string): Promise<PendingWork | { unknown: string }> {
  if (flag(values, 'no-exec')) return { unknown: 'git was not asked (--no-exec)' };
  try {
    return await pendingWork({ command: gitOf(context, config), cwd: folder, env: context.env, signal: context.signal }, { ...(specs === undefined ? {} : { listed: [specs] }), generated: generatedFiles(config) });
  } catch (error) {
    return { unknown: messageOf(error).replace(/\.$/, '') };
  }
}

/** Where the events of a plan go; nothing when the configuration switched the log off. */
export function eventPlace(config: CliConfig): { log: string; root: string } | undefined {
  const log = config.eventLog.path;
  return config.eventLog.enabled ? { log, root: isInside(config.stateRoot, log) ? config.stateRoot : path.dirname(log) } : undefined;
}

/** A verb whose help and refusals end with the way to the guide (R1.1). */
export function guided(verb: Verb): Verb {
  return {
    ...verb, see: seeGuide,
    async run(context, values, positionals) {
      try {
        return await verb.run(context, values, positionals);
      } catch (error) {
        if (!(error instanceof Failure) || error.hint.endsWith(seeGuide)) throw error;
        throw new Failure(error.kind, error.message, `${error.hint} ${seeGuide}`.trim(), error.exitCode, error.details);
      }
    },
  };
}
