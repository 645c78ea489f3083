import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import { messageOf } from '../disk/failure';
import type { Reader } from '../disk/reader';
import { isObject, readJson, type JsonObject } from './jsonFile';
import { tryRef, type WorkItemRef } from './ref';
import { factsOf, type ControlFacts, type PollFacts } from './sections';

/** A section that the older layout holds, and the file it is in. */
export interface LegacySection<Facts> { facts: Facts; path: string }

/** The tree of the older layout (the-loop §1.7): read where a portable record does not say, never written. */
export interface LegacyTree {
  control(ref: WorkItemRef): LegacySection<ControlFacts> | undefined;
  poll(ref: WorkItemRef): LegacySection<PollFacts> | undefined;
  /**
   * True when the-loop would find something here for the item if its portable record were gone: then the record is sealed, not deleted.
   * It goes by the file name, as the-loop does, also where the ref inside is another one.
   */
  holds(ref: WorkItemRef): boolean;
  /** Every work item named here, in no order. */
  refs(): WorkItemRef[];
  /** What cannot be read, one sentence each; complete after `refs()`. */
  problems: string[];
}

const POLL_LIMIT = 64 * 1024 * 1024;

/** Opens the tree. Each file is read at most once, and only when it is asked for. */
export function readLegacy(reader: Reader, places: CliConfig['legacy']): LegacyTree {
  const problems: string[] = [];
  let names: Set<string> | undefined;
  let polls: { path: string; items: JsonObject }[] | undefined;
  const controls = new Map<string, JsonObject | 'unsafe' | undefined>();

  const controlNames = () => {
    if (names) return names;
    try {
      names = new Set(reader.list(places.controlDir).filter((name) => name.endsWith('.json')));
    } catch (error) {
      problems.push(messageOf(error));
      names = new Set();
    }
    return names;
  };

  const controlFile = (slug: string) => {
    const name = `${slug}.json`;
    if (!controlNames().has(name)) return undefined;
    if (controls.has(slug)) return controls.get(slug);
    const file = path.join(places.controlDir, name);
    const found = readJson(reader, file);
    if (found.kind === 'unsafe' || found.kind === 'unreadable') problems.push(`${file} cannot be read: ${found.why}.`);
    const value = found.kind === 'unsafe' ? 'unsafe' : found.kind === 'json' && isObject(found.value) ? found.value : undefined;
    controls.set(slug, value);
    return value;
  };

  const pollFiles = () => {
    polls ??= [places.pollState, places.olderPollState].flatMap((file) => {
      const found = readJson(reader, file, POLL_LIMIT);
      if (found.kind === 'unsafe' || found.kind === 'unreadable') problems.push(`${file} cannot be read: ${found.why}.`);
      const items = found.kind === 'json' && isObject(found.value) ? found.value['items'] : undefined;
      return isObject(items) ? [{ path: file, items }] : [];
    });
    return polls;
  };

  const control = (ref: WorkItemRef): LegacySection<ControlFacts> | undefined => {
    const value = controlFile(ref.slug);
    if (value === undefined || value === 'unsafe') return undefined;
    const inside = tryRef(value['ref']);
    return inside && inside.ref !== ref.ref ? undefined : { facts: factsOf.control(value), path: path.join(places.controlDir, `${ref.slug}.json`) };
  };
  const poll = (ref: WorkItemRef): LegacySection<PollFacts> | undefined => {
    for (const { path: file, items } of pollFiles()) {
      const value = Object.hasOwn(items, ref.ref) ? items[ref.ref] : undefined;
      if (isObject(value)) return { facts: factsOf.poll(value), path: file };
    }
    return undefined;
  };

  return {
    control,
    poll,
    // A link in the old tree is not followed here, but the-loop follows it.
    holds: (ref) => controlFile(ref.slug) !== undefined || poll(ref) !== undefined,
    refs() {
      const found = new Map<string, WorkItemRef>();
      for (const name of controlNames()) {
        const value = controlFile(name.slice(0, -'.json'.length));
        const ref = isObject(value) ? tryRef(value['ref']) : undefined;
        // In a file of another name the-loop would not find it.
        if (ref && `${ref.slug}.json` === name) found.set(ref.ref, ref);
      }
      for (const { items } of pollFiles()) {
        for (const [key, value] of Object.entries(items)) {
          const ref = tryRef(key);
          if (ref?.ref === key && isObject(value)) found.set(key, ref);
        }
      }
      return [...found.values()];
    },
    problems,
  };
}
