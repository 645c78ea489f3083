import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { isObject, readJson } from './jsonFile';
import { tryRef } from './ref';

/** A file of channel bindings and how many threads in it belong to an item. */
export interface ChannelBinding { path: string; threads: number }

/** The channel threads of every work item, by canonical ref. A file that cannot be read binds nothing that could be named. */
export function channelBindings(reader: Reader, config: Pick<CliConfig, 'channelsDir'>): Map<string, ChannelBinding[]> {
  const found = new Map<string, ChannelBinding[]>();
  let names: string[];
  try {
    names = reader.list(config.channelsDir).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (error instanceof Failure) return found;
    throw error;
  }
  for (const name of names) {
    const file = path.join(config.channelsDir, name);
    const read = readJson(reader, file);
    const threads = read.kind === 'json' && isObject(read.value) ? read.value['threads'] : undefined;
    const counts = new Map<string, number>();
    for (const thread of isObject(threads) ? Object.values(threads) : []) {
      const ref = tryRef(isObject(thread) ? thread['workItem'] : undefined)?.ref;
      if (ref !== undefined) counts.set(ref, (counts.get(ref) ?? 0) + 1);
    }
    for (const [ref, count] of counts) found.set(ref, [...found.get(ref) ?? [], { path: file, threads: count }]);
  }
  return found;
}
