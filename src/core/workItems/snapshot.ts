import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import type { Reader } from '../disk/reader';
import { readLegacy, type LegacyTree } from './legacy';
import { portablePath, readPortable, type PortableFile, type SectionName } from './portableRecord';
import { byCodePoint, type WorkItemRef } from './ref';
import type { SectionFacts } from './sections';
import { isSessionFileName, readSession, sessionPath, type SessionFile } from './sessionRecord';

/** A section in force and the file that holds it. */
export interface Section<Facts> { facts: Facts; source: 'record' | 'legacy'; path: string }

/** A file at an item's own path that cannot be taken for its record. */
export interface BadFile {
  piece: 'session' | 'portable';
  path: string;
  /** `unsafe`: a link or folder. `io`: the system refused. Else it can be removed as a whole when the item is named. */
  cause: 'unsafe' | 'io' | 'too-large' | 'format';
  /** A clause without a full stop. */
  why: string;
  /** Whose it is, where that much can be read. Without it `--all` leaves the file. */
  ref?: WorkItemRef;
}

/** All that the state root holds about one work item. */
export interface ItemSnapshot {
  ref: WorkItemRef;
  sessionPath: string;
  session: SessionFile;
  portablePath: string;
  portable: PortableFile;
  /** What counts as recorded, by the read rule of the-loop §1.5. Empty while the portable record cannot be read. */
  sections: { [Name in SectionName]?: Section<SectionFacts[Name]> };
  /** The last command lets a daemon start the item. */
  armed: boolean;
  /** The older layout would bring something back if the portable record were gone. */
  legacyHolds: boolean;
  bad: BadFile[];
  /** Records at the item's own paths that are another item's: nothing of this item may be changed. */
  collisions: { piece: 'session' | 'portable'; path: string; ref: WorkItemRef }[];
}

/** The whole state root. */
export interface StateSnapshot {
  /** Every item of which anything is known, in the order of the refs as text. */
  items: ItemSnapshot[];
  /** Broken files named like records, whose item cannot be told. */
  strays: BadFile[];
  /** Records in files that are not named after their ref: the-loop does not find them. */
  misplaced: { path: string; ref: WorkItemRef }[];
  /** Unreadable files of the older layout, one sentence each. */
  legacyProblems: string[];
}

function badSession(file: string, session: SessionFile): BadFile | undefined {
  if (session.kind === 'unsafe') return { piece: 'session', path: file, cause: 'unsafe', why: session.why };
  if (session.kind === 'unreadable') return { piece: 'session', path: file, cause: session.cause, why: session.why, ...(session.ref ? { ref: session.ref } : {}) };
  return undefined;
}

function badPortable(file: string, portable: PortableFile): BadFile | undefined {
  if (portable.kind === 'unsafe') return { piece: 'portable', path: file, cause: 'unsafe', why: portable.why };
  if (portable.kind === 'unreadable') return { piece: 'portable', path: file, cause: portable.cause, why: portable.why };
  if (portable.kind === 'stranger') return { piece: 'portable', path: file, cause: 'format', why: portable.why };
  if (portable.kind === 'record' && !portable.record.ref) return { piece: 'portable', path: file, cause: 'format', why: `its ref, ${JSON.stringify(portable.record.refText.slice(0, 80))}, names no work item` };
  return undefined;
}

function assemble(config: CliConfig, legacy: LegacyTree, ref: WorkItemRef, session: SessionFile, portable: PortableFile): ItemSnapshot {
  const paths = { session: sessionPath(config.registryDir, ref.slug), portable: portablePath(config.portableDir, ref.slug) };
  const collisions: ItemSnapshot['collisions'] = [];
  const sessionRef = session.kind === 'record' ? session.record.ref : session.kind === 'unreadable' ? session.ref : undefined;
  if (sessionRef && sessionRef.ref !== ref.ref) collisions.push({ piece: 'session', path: paths.session, ref: sessionRef });
  const portableRef = portable.kind === 'record' ? portable.record.ref : undefined;
  if (portableRef && portableRef.ref !== ref.ref) collisions.push({ piece: 'portable', path: paths.portable, ref: portableRef });

  const brokenPortable = badPortable(paths.portable, portable);
  const record = portable.kind === 'record' && portableRef?.ref === ref.ref ? portable.record : undefined;
  const sections: ItemSnapshot['sections'] = {};
  const { control, poll, graph } = record?.sections ?? {};
  // The-loop takes an unreadable record for none, and so reads the older layout for it.
  const older = record?.sealed ? undefined : legacy;
  const olderControl = control === undefined ? older?.control(ref) : undefined;
  const olderPoll = poll === undefined ? older?.poll(ref) : undefined;
  if (control) sections.control = { facts: control, source: 'record', path: paths.portable };
  else if (olderControl) sections.control = { facts: olderControl.facts, source: 'legacy', path: olderControl.path };
  if (poll) sections.poll = { facts: poll, source: 'record', path: paths.portable };
  else if (olderPoll) sections.poll = { facts: olderPoll.facts, source: 'legacy', path: olderPoll.path };
  if (graph) sections.graph = { facts: graph, source: 'record', path: paths.portable };
  return {
    ref,
    sessionPath: paths.session,
    session,
    portablePath: paths.portable,
    portable,
    sections: brokenPortable ? {} : sections,
    armed: sections.control?.facts.armed ?? false,
    legacyHolds: legacy.holds(ref),
    bad: [badSession(paths.session, session), brokenPortable].filter((bad) => bad !== undefined),
    collisions,
  };
}

/** What the state root holds about one item, looked up by the path of its slug. It never fails on a bad file. */
export function snapshotItem(reader: Reader, config: CliConfig, ref: WorkItemRef, legacy: LegacyTree = readLegacy(reader, config.legacy)): ItemSnapshot {
  return assemble(config, legacy, ref, readSession(reader, sessionPath(config.registryDir, ref.slug)), readPortable(reader, portablePath(config.portableDir, ref.slug)));
}

/**
 * Everything the state root knows, each file read once. Failures: those of listing a directory (`unsafe-path`, `io`).
 * Files that are not named like records are not opened.
 */
export function snapshotAll(reader: Reader, config: CliConfig): StateSnapshot {
  const legacy = readLegacy(reader, config.legacy);
  const sessions = new Map<string, SessionFile>();
  const portables = new Map<string, PortableFile>();
  const refs = new Map<string, WorkItemRef>();
  const strays: BadFile[] = [];
  const misplaced: StateSnapshot['misplaced'] = [];
  const add = (name: string, file: string, ref: WorkItemRef | undefined) => {
    if (!ref) return;
    if (`${ref.slug}.json` === name) refs.set(ref.ref, ref);
    else misplaced.push({ path: file, ref });
  };

  for (const name of reader.list(config.registryDir)) {
    if (!isSessionFileName(name)) continue;
    const file = `${config.registryDir}${path.sep}${name}`;
    const session = readSession(reader, file);
    sessions.set(name, session);
    add(name, file, session.kind === 'record' ? session.record.ref : session.kind === 'unreadable' ? session.ref : undefined);
  }
  for (const name of reader.list(config.portableDir)) {
    // A record's name ends in its number like that of a session record; `index.json` does not.
    if (!isSessionFileName(name)) continue;
    const file = `${config.portableDir}${path.sep}${name}`;
    const portable = readPortable(reader, file);
    portables.set(name, portable);
    add(name, file, portable.kind === 'record' ? portable.record.ref : undefined);
  }
  for (const ref of legacy.refs()) refs.set(ref.ref, ref);

  const claimed = new Set<string>();
  const items = [...refs.values()].sort((a, b) => byCodePoint(a.ref, b.ref)).map((ref) => {
    const name = `${ref.slug}.json`;
    claimed.add(name);
    return assemble(config, legacy, ref, sessions.get(name) ?? { kind: 'absent' }, portables.get(name) ?? { kind: 'absent' });
  });
  for (const [name, session] of sessions) {
    const bad = claimed.has(name) ? undefined : badSession(path.join(config.registryDir, name), session);
    if (bad && !bad.ref) strays.push(bad);
  }
  for (const [name, portable] of portables) {
    const bad = claimed.has(name) || portable.kind === 'stranger' ? undefined : badPortable(path.join(config.portableDir, name), portable);
    if (bad) strays.push(bad);
  }
  return { items, strays, misplaced, legacyProblems: legacy.problems };
}

/**
 * True when `--all` covers the item: it has a session record, a control or poll section, or with `includeGraph` a graph
 * (test/cases/reset/README.md). Sealed records, null sections and a graph alone are no state.
 */
export function isCoveredByAll(item: ItemSnapshot, includeGraph: boolean): boolean {
  const ownSession = item.session.kind === 'record' ? item.session.record.ref : item.session.kind === 'unreadable' ? item.session.ref : undefined;
  return ownSession?.ref === item.ref.ref || item.sections.control !== undefined || item.sections.poll !== undefined || (includeGraph && item.sections.graph !== undefined);
}
