import { ABSENT, type EndSessionStep, type EventTemplate, type PlanItem, type Step } from '../plan/plan';
import type { PlanDraft } from '../plan/engine';
import { sha256 } from '../disk/hash';
import type { Reader } from '../disk/reader';
import type { Message } from '../../protocol/message';
import type { CliConfig } from '../config/cliConfig';
import type { Ending } from '../harness/prepareEndings';
import { sessionRoot } from '../workItems/places';
import { sealedText, SECTIONS, withoutSections, type SectionName } from '../workItems/portableRecord';
import { isLive, withStatusClosed } from '../workItems/sessionRecord';
import type { BadFile, ItemSnapshot } from '../workItems/snapshot';
import type { CheckoutFacts } from './resetCheckouts';

/** The pieces of a work item in the order in which they are reported. */
export const PIECES = ['workspace', 'session', 'control', 'poll', 'portable', 'graph'];

/** Phases, safe at every prefix: an item waits rather than runs (design §3). */
const PHASE = { disarm: 0, close: 1, end: 2, checkout: 3, record: 4, portable: 5, index: 6 };

const RESET_SECTIONS = ['control', 'poll'] as const;

/** An ending with what tells the agent apart for the digest: conversation, pid and start time of the panes. */
export interface SessionToEnd { ending: Ending; harness: string; sessionId: string; panes: { pid: number; startTime: string }[] }

/** One item with everything that was looked up about it. */
export interface ItemFacts {
  snapshot: ItemSnapshot;
  /** Its own live session and those of its pull requests, the own first. */
  sessions: SessionToEnd[];
  checkouts: CheckoutFacts[];
  /** Threads of channels that name the item. */
  channels: number;
}

export interface ResetFacts {
  config: CliConfig;
  items: ItemFacts[];
  includeGraph: boolean;
  /** The items were named, not gathered by --all. */
  named: boolean;
  keepTrash: boolean;
  /** For the event; undefined when unknown. */
  actor: string | undefined;
  /** Warnings of the whole plan: daemons, respawn, unreadable records that stay. */
  warnings: Message[];
}

/**
 * Plans the reset of work items: everything the program remembers of them goes, and nothing else (seed decision 050; the decisions
 * in test/cases/reset/README.md). Pure but for hashing the files that go, through `reader`.
 */
export function planReset(facts: ResetFacts, reader: Reader): PlanDraft {
  const items: PlanItem[] = [];
  const steps: Step[] = [];
  const events: EventTemplate[] = [];
  const warnings = [...facts.warnings];
  const portableSteps = new Set<Step>();
  const claimed = new Map<string, string>();
  for (const item of facts.items) {
    const { planItem, own, bad } = oncePerFile(claimed, planItemReset(facts, item, reader));
    warnings.push(...bad);
    items.push(planItem);
    const base = steps.length;
    for (const step of own) {
      // Dependencies are by position in the whole plan; they are translated once the steps are in their final order.
      steps.push({ ...step, ...(step.requires ? { requires: step.requires.map((index) => index + base) } : {}) });
      if (step.kind !== 'moveCheckout' && 'path' in step && step.path === item.snapshot.portablePath) portableSteps.add(steps.at(-1) as Step);
    }
    if (facts.config.eventLog.enabled) {
      events.push({
        item: item.snapshot.ref.ref, log: facts.config.eventLog.path, root: eventRoot(facts.config), source: 'sessions', event: 'session.reset',
        fields: { work_item: item.snapshot.ref.ref, actor: facts.actor }, piecesAs: 'removed', withFound: true,
      });
    }
  }
  const order = steps.map((step, index) => ({ step, index })).sort((a, b) => a.step.phase - b.step.phase || a.index - b.index);
  const positions = new Map(order.map(({ index }, position) => [index, position]));
  const ordered: Step[] = order.map(({ step }) => (step.requires ? { ...step, requires: step.requires.map((index) => positions.get(index) ?? index) } : step));
  if (portableSteps.size > 0) {
    const requiresAny = order.flatMap(({ step }, position) => (portableSteps.has(step) ? [position] : []));
    ordered.push({ kind: 'rebuildIndex', target: 'portable-index', path: `${facts.config.portableDir}/index.json`, root: facts.config.stateRoot, reason: 'the index follows from the records', undo: 'inverse', phase: PHASE.index, requiresAny });
  }
  return { items, steps: ordered, warnings, events, pieceOrder: PIECES, keepTrash: facts.keepTrash };
}

/** The log may be anywhere the config puts it; it is bounded by its own folder's parent only to refuse links out of it. */
function eventRoot(config: CliConfig): string {
  return config.eventLog.path.startsWith(`${config.stateRoot}/`) ? config.stateRoot : config.eventLog.path.slice(0, config.eventLog.path.lastIndexOf('/')) || '/';
}

/** What makes an item to be left whole, or nothing. */
function refusalsOf(item: ItemFacts): Message[] {
  const { snapshot } = item;
  return [
    ...snapshot.collisions.map((collision) => ({ kind: 'ref-mismatch', message: `${collision.path} is the record of ${collision.ref.ref}, so nothing of ${snapshot.ref.ref} was changed` })),
    ...snapshot.bad.filter((bad) => bad.cause === 'unsafe').map((bad) => ({ kind: 'unsafe-path', message: `${bad.why}, so nothing of ${snapshot.ref.ref} was changed` })),
    ...snapshot.bad.filter((bad) => bad.cause === 'io').map((bad) => ({ kind: 'io', message: `${bad.path} cannot be read (${bad.why}), so nothing of ${snapshot.ref.ref} was changed` })),
    ...item.checkouts.flatMap((checkout) => (checkout.refusal ? [checkout.refusal] : [])),
  ];
}

interface ItemPlan { planItem: PlanItem; own: Step[]; bad: Message[] }

/** Two refs can make one file name. Where the file does not say whose it is, the first of them in a plan has it, and the other is left whole. */
function oncePerFile(claimed: Map<string, string>, plan: ItemPlan): ItemPlan {
  const { ref } = plan.planItem;
  const files = plan.own.flatMap((step) => (step.kind === 'deleteFile' || step.kind === 'writeFile' ? [step.path] : []));
  const taken = files.find((file) => claimed.has(file));
  if (taken === undefined) {
    for (const file of files) claimed.set(file, ref);
    return plan;
  }
  const error = { kind: 'ref-mismatch', message: `${taken} goes with ${claimed.get(taken) ?? ''}, whose ref makes the same file name, so nothing of ${ref} was changed` };
  return { planItem: { ref, found: true, live: false, kept: [], errors: [error], notices: [], decision: null }, own: [], bad: [] };
}

function planItemReset(facts: ResetFacts, item: ItemFacts, reader: Reader): ItemPlan {
  const { snapshot } = item;
  const record = snapshot.session.kind === 'record' ? snapshot.session.record : undefined;
  const live = record !== undefined && snapshot.collisions.length === 0 && isLive(record);
  const errors = refusalsOf(item);
  const planItem: PlanItem = { ref: snapshot.ref.ref, found: errors.length > 0, live: live && errors.length === 0, kept: [], errors, notices: [], decision: null };
  if (errors.length > 0) return { planItem, own: [], bad: [] };
  // Under --all only what can be told to be the item's goes; a named item's own path is enough.
  const goes = (file: BadFile): boolean => facts.named || file.ref !== undefined;
  const bad = snapshot.bad.map((file) => ({ kind: 'unreadable-record', message: `${file.path} cannot be read as a record: ${file.why}; ${goes(file) ? 'it goes as a whole' : 'whose it is cannot be told, so it stays'}.` }));
  const own: Step[] = [];
  const names = (facts.includeGraph ? SECTIONS : RESET_SECTIONS).filter((name) => snapshot.sections[name] !== undefined);
  if (live) addClose(own, facts, snapshot);
  const ended = addEndings(own, planItem, item);
  const moved = addCheckouts(own, planItem, item, ended, undoOf(facts));
  if (snapshot.bad.every((file) => file.piece !== 'session' || goes(file))) addRecord(own, facts, snapshot, reader, ended);
  const broken = snapshot.bad.find((file) => file.piece === 'portable');
  if (broken) { if (goes(broken)) addBroken(own, facts, snapshot, reader); }
  else if (names.length > 0) addPortable(own, facts, snapshot, names, snapshot.session.kind !== 'absent');

  const pieces = [...new Set(own.flatMap((step) => step.pieces ?? []))];
  planItem.found = pieces.length > 0;
  addKept(planItem, item, pieces);
  planItem.decision = {
    pieces, ends: item.sessions.filter(({ ending }) => ending.step).map(({ ending, sessionId, panes }) => ({ session: sessionId, terminal: ending.terminal, panes })),
    checkouts: moved.map((checkout) => ({ path: checkout.path, unsaved: checkout.unsaved })),
  };
  return { planItem, own, bad };
}

/** Marks the record closed before its agent ends, so that no crash leaves a live record of an agent that is gone. */
function addClose(own: Step[], facts: ResetFacts, snapshot: ItemSnapshot): void {
  if (snapshot.session.kind !== 'record') return;
  const { text } = snapshot.session;
  const closed = withStatusClosed(text);
  own.push({
    kind: 'writeFile', item: snapshot.ref.ref, path: snapshot.sessionPath, root: sessionRoot(facts.config), before: sha256(text), after: sha256(closed), content: { text: closed },
    reason: 'its session is closed before it is ended', undo: undoOf(facts), phase: PHASE.close,
  });
}

/** Ends what runs; what is not ended is said. Gives the positions of the steps. */
function addEndings(own: Step[], planItem: PlanItem, item: ItemFacts): number[] {
  const positions: number[] = [];
  for (const { ending, harness } of item.sessions) {
    planItem.notices.push(...ending.notices.map((notice) => ({ kind: notice.kind, message: `${ending.ref}: ${notice.message}` })));
    if (ending.problem) {
      planItem.notices.push({ kind: ending.problem.kind, message: `${ending.ref}: ${ending.problem.message}` });
      planItem.kept.push({ what: `terminal ${ending.terminal}`, why: ending.problem.message });
    }
    if (!ending.step) continue;
    const step: EndSessionStep = {
      kind: 'endSession', item: planItem.ref, ...ending.step, undo: 'none', phase: PHASE.end,
      reason: `the running agent (${harness}) of ${ending.ref} ends`,
    };
    positions.push(own.push(step) - 1);
    if (ending.open !== null) planItem.kept.push({ what: `terminal ${ending.terminal}`, why: `its last screen stays readable: ${ending.open}` });
  }
  return positions;
}

function addCheckouts(own: Step[], planItem: PlanItem, item: ItemFacts, requires: number[], undo: 'restore' | 'none'): CheckoutFacts[] {
  const moved: CheckoutFacts[] = [];
  for (const checkout of item.checkouts) {
    if (checkout.keptBecause) { planItem.kept.push({ what: `checkout ${checkout.path}`, why: checkout.keptBecause.message }); continue; }
    if (checkout.moves.length === 0) continue;
    moved.push(checkout);
    planItem.notices.push(...checkout.notices);
    own.push({
      kind: 'moveCheckout', item: planItem.ref, moves: checkout.moves, pieces: ['workspace'], reason: 'the checkout goes with its session', undo, phase: PHASE.checkout, ...(requires.length > 0 ? { requires } : {}),
    });
  }
  return moved;
}

function addRecord(own: Step[], facts: ResetFacts, snapshot: ItemSnapshot, reader: Reader, requires: number[]): void {
  const { session } = snapshot;
  if (session.kind === 'absent') return;
  const readable = session.kind === 'record';
  addDelete(own, facts, snapshot, {
    path: snapshot.sessionPath, root: sessionRoot(facts.config), piece: 'session', phase: PHASE.record,
    before: readable ? sha256(isLive(session.record) ? withStatusClosed(session.text) : session.text) : hashOf(reader, snapshot.sessionPath),
    reason: readable ? 'the session record is deleted, not closed' : 'its session record cannot be read, so it goes as a whole',
  }, requires);
}

/** A portable record that cannot be read goes as a whole; where the older layout would bring the item back, a seal takes its place. */
function addBroken(own: Step[], facts: ResetFacts, snapshot: ItemSnapshot, reader: Reader): void {
  const file = { path: snapshot.portablePath, root: facts.config.stateRoot, before: hashOf(reader, snapshot.portablePath), reason: 'its portable record cannot be read, so it goes as a whole', phase: PHASE.portable };
  if (!snapshot.legacyHolds) { addDelete(own, facts, snapshot, { ...file, piece: 'portable' }); return; }
  const text = sealedText(snapshot.ref);
  own.push({ ...file, kind: 'writeFile', item: snapshot.ref.ref, after: sha256(text), content: { text }, pieces: ['portable'], undo: undoOf(facts), reason: `${file.reason}; sealed, so that the older layout does not bring the item back` });
}

function addDelete(own: Step[], facts: ResetFacts, snapshot: ItemSnapshot, file: { path: string; root: string; before: string; piece: string; reason: string; phase: number }, requires: number[] = []): void {
  const { piece, ...rest } = file;
  own.push({ kind: 'deleteFile', item: snapshot.ref.ref, ...rest, pieces: [piece], undo: undoOf(facts), ...(requires.length > 0 ? { requires } : {}) });
}

const hashOf = (reader: Reader, file: string): string => sha256(reader.bytes(file) ?? '');
const undoOf = (facts: ResetFacts): 'restore' | 'none' => (facts.keepTrash ? 'restore' : 'none');

/**
 * Takes sections out of the portable record: written, sealed or deleted by the rule of the files' owner. Where a session record stands
 * between, disarming is a step of its own long before the rest goes; the second step then starts from what the first leaves.
 */
function addPortable(own: Step[], facts: ResetFacts, snapshot: ItemSnapshot, names: SectionName[], disarmFirst: boolean): void {
  let text = snapshot.portable.kind === 'record' ? snapshot.portable.text : undefined;
  let last: Step | undefined;
  let disarmedAt: number | undefined;
  const take = (sections: SectionName[], pieces: SectionName[], phase: number, reason: string): void => {
    const rewritten = withoutSections(text, sections, snapshot.ref, snapshot.legacyHolds);
    const next = rewritten.kind === 'write' ? rewritten.text : undefined;
    if (next === text) {
      // The seal that disarmed it took them too.
      last?.pieces?.push(...pieces);
      return;
    }
    const base = {
      item: snapshot.ref.ref, path: snapshot.portablePath, root: facts.config.stateRoot, before: text === undefined ? ABSENT : sha256(text), pieces: [...pieces], reason, phase,
      undo: undoOf(facts), ...(pieces.includes('control') ? { onFailure: 'still armed' } : {}), ...(disarmedAt === undefined ? {} : { requires: [disarmedAt] }),
    };
    last = next === undefined ? { ...base, kind: 'deleteFile' } : { ...base, kind: 'writeFile', after: sha256(next), content: { text: next } };
    const position = own.push(last) - 1;
    if (phase === PHASE.disarm) disarmedAt = position;
    text = next;
  };
  if (disarmFirst && names.includes('control')) take(['control'], ['control'], PHASE.disarm, 'disarmed first, so that no daemon starts it');
  const rest = names.filter((name) => !disarmFirst || name !== 'control');
  if (rest.length > 0) take(names, rest, PHASE.portable, snapshot.legacyHolds ? 'its sections are forgotten, and the older layout must not bring them back' : 'its sections are forgotten');
}

/** What stays on purpose, and why. */
function addKept(planItem: PlanItem, item: ItemFacts, pieces: string[]): void {
  const { snapshot } = item;
  if (snapshot.sections.graph && !pieces.includes('graph')) planItem.kept.push({ what: 'graph', why: 'phase choices are kept unless asked for with --include graph' });
  if (item.channels > 0) planItem.kept.push({ what: 'channels', why: `${String(item.channels)} channel thread${item.channels === 1 ? ' is' : 's are'} bound to it; channels are not the item's memory` });
  if (snapshot.legacyHolds) planItem.kept.push({ what: 'legacy', why: 'files of the older layout are only read; a seal or null keeps them from coming back' });
  const record = snapshot.session.kind === 'record' ? snapshot.session.record : undefined;
  if (record && !isLive(record) && record.terminal !== '') planItem.kept.push({ what: `terminal ${record.terminal}`, why: 'the terminal of a closed session is not touched' });
  if (pieces.length > 0) planItem.kept.push({ what: 'repository', why: 'the repository, its spec artifacts, the ticket and its labels are not touched' });
}
