import { sha256 } from '../disk/hash';
import type { PolicyKey, PolicyValue } from '../config/harnessConfig';
import type { PlanDraft } from '../plan/engine';
import { ABSENT } from '../plan/plan';
import type { EventTemplate, Step } from '../plan/plan';
import { logFile } from './artifacts';
import type { Artifacts } from './artifacts';
import { newLogText } from './logTemplate';
import type { FileChange } from './policy';

/** Files of a repository are for everybody who works in it. */
const FILE_MODE = 0o644;

export interface EventPlace { log: string; root: string }

export interface SetInput {
  /** The work item's ref, or the repository's folder for its own policy. */
  item: string;
  isWorkItem: boolean;
  repository: string;
  change: FileChange;
  key: PolicyKey;
  value: PolicyValue;
  was: PolicyValue | undefined;
  actor: string | undefined;
  eventLog: EventPlace | undefined;
}

/** The plan of `context set`: one file, one value. Nothing when the file says so already. */
export function planSet(input: SetInput): PlanDraft {
  const { change, item } = input;
  const isChanged = change.before !== change.after;
  const steps: Step[] = isChanged ? [{
    kind: 'writeFile', item, path: change.file, root: input.repository, before: change.before === undefined ? ABSENT : sha256(change.before), after: sha256(change.after),
    content: { text: change.after }, reason: `${input.key} set to ${String(input.value)} on line ${String(change.line)}`, undo: 'restore', phase: 0, mode: FILE_MODE,
  }] : [];
  const events: EventTemplate[] = input.eventLog && isChanged ? [{
    item, ...input.eventLog, source: 'context', event: 'context.policy_set',
    fields: { work_item: input.isWorkItem ? item : undefined, actor: input.actor, file: change.file, key: input.key, value: input.value, was: input.was },
  }] : [];
  return {
    items: [{
      ref: item, found: true, live: false, kept: [], errors: [],
      notices: isChanged ? [] : [{ kind: 'unchanged', message: `${change.file}:${String(change.line)} says ${input.key}: ${String(input.value)} already.` }],
      decision: { file: change.file, key: input.key, value: input.value, was: input.was, created: change.before === undefined },
    }],
    steps, warnings: [], events, pieceOrder: [], keepTrash: true,
  };
}

/** The plan of `context init`: a new execution-log.md. Nothing when there is one. */
export function planInit(artifacts: Artifacts, item: string, phase: string | undefined, actor: string | undefined, eventLog: EventPlace | undefined): PlanDraft {
  const file = logFile(artifacts.folder);
  const text = newLogText({ ref: item, phase: phase ?? artifacts.graph?.state?.phase ?? 'not-started' });
  const isThere = artifacts.log !== undefined;
  return {
    items: [{
      ref: item, found: true, live: false, kept: [], errors: [],
      notices: isThere ? [{ kind: 'unchanged', message: `${file} is there already; it is left as it is.` }] : [],
      decision: { file, created: !isThere, phase },
    }],
    steps: isThere ? [] : [{
      kind: 'writeFile', item, path: file, root: artifacts.folder.checkout, before: ABSENT, after: sha256(text), content: { text }, reason: 'a new execution log', undo: 'restore', phase: 0, mode: FILE_MODE,
    }],
    warnings: [],
    events: eventLog && !isThere ? [{ item, ...eventLog, source: 'context', event: 'context.initialized', fields: { work_item: item, actor, file } }] : [],
    pieceOrder: [], keepTrash: true,
  };
}
