import * as z from 'zod/mini';

/** The phases of the-loop in their order (`workflow.phases`, its default). */
export const phases = [
  'not-started', 'phase-selection', 'brainstorming', 'requirements-definition', 'design', 'test-planning', 'tasks-breakdown',
  'implementation', 'verification', 'needs-review', 'complete', 'cleanup',
] as const;
export type Phase = (typeof phases)[number];

/** A step of a loop and the phase that entering it sets; without one it leaves the phase alone. */
type LoopNode = readonly [id: string, phase?: Phase];

/** The shipped loops in the order of their nodes. A graph-state file may name no other. */
const loops: Record<string, readonly LoopNode[]> = {
  'pdlc-work-item-loop': [
    ['phase-selection', 'phase-selection'], ['brainstorming', 'brainstorming'], ['requirements-definition', 'requirements-definition'], ['requirements-approval'],
    ['design', 'design'], ['design-critic-review'], ['test-planning', 'test-planning'], ['design-approval'], ['tasks-breakdown', 'tasks-breakdown'],
    ['implementation', 'implementation'], ['verification', 'verification'], ['self-review', 'needs-review'], ['critic-review'], ['security-review'], ['evidence'],
    ['capability-docs'], ['reviewer-briefing'], ['human-approval'], ['complete', 'complete'], ['cleanup', 'cleanup'], ['escalated'],
  ],
  'pdlc-pr-loop': [
    ['implementation', 'implementation'], ['verification', 'verification'], ['self-review', 'needs-review'], ['critic-review'], ['security-review'],
    ['reviewer-briefing'], ['pr-approval'], ['complete', 'complete'], ['escalated'],
  ],
  'pdlc-contribution-loop': [
    ['goal-definition'], ['phase-selection', 'phase-selection'], ['context-intake'], ['scoped-plan'], ['plan-approval'], ['implementation', 'implementation'],
    ['verification', 'verification'], ['self-review', 'needs-review'], ['critic-review'], ['security-review'], ['reviewer-briefing'], ['human-approval'],
    ['complete', 'complete'], ['cleanup', 'cleanup'], ['escalated'],
  ],
  'pdlc-adhoc-loop': [['work', 'implementation'], ['review'], ['complete', 'complete'], ['cleanup', 'cleanup'], ['escalated']],
};
const defaultLoop = 'pdlc-work-item-loop';

/** Phases whose end locks an artifact: leaving one is a phase boundary (R3.1). */
export const lockingPhases: readonly Phase[] = ['brainstorming', 'requirements-definition', 'design', 'test-planning', 'tasks-breakdown'];

export function isPhase(name: string): name is Phase {
  return phases.some((phase) => phase === name);
}

const GraphFile = z.looseObject({
  currentNode: z.string(),
  loop: z.optional(z.string()),
  nodes: z.optional(z.record(z.string(), z.looseObject({ outcome: z.optional(z.string()), enteredAt: z.optional(z.string()) }))),
});

export interface GraphState {
  currentNode: string;
  loop: string;
  /** The phase that the last node which has one, and was entered, set; undefined before any. */
  phase: Phase | undefined;
}

/**
 * Reads graph-state.json. It is a cache that an agent may have written, so only known loops and nodes count; undefined when it cannot be
 * used, as the-loop itself then treats it as absent.
 */
export function parseGraphState(text: string): GraphState | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = GraphFile.safeParse(raw);
  if (!parsed.success) return undefined;
  const { currentNode } = parsed.data;
  const loop = parsed.data.loop === undefined || parsed.data.loop === '' ? defaultLoop : parsed.data.loop;
  const nodes = loops[loop];
  const current = nodes?.find(([id]) => id === currentNode);
  if (!nodes || !current) return undefined;
  if (current[1]) return { currentNode, loop, phase: current[1] };
  let phase: Phase | undefined;
  let latest = '';
  for (const [id, each] of nodes) {
    const state = parsed.data.nodes?.[id];
    if (!each || !state || state.outcome === 'skipped' || !state.enteredAt) continue;
    if (state.enteredAt >= latest) [phase, latest] = [each, state.enteredAt];
  }
  return { currentNode, loop, phase };
}

/** What an entry's `Phase:` names. `exact` is false for a node that leaves the phase alone: then `phase` is the last one before it. */
export interface NamedPhase { name: string; phase: Phase; exact: boolean; earlier: readonly Phase[] }

/**
 * Reads the value of an entry's `Phase:`, which may be a phase, a node, `a → b` (then b), with remarks behind it.
 * Undefined when it names neither.
 */
export function namedPhase(value: string): NamedPhase | undefined {
  const last = value.split(/→|->|=>/).at(-1) ?? value;
  const name = /^[\s*_`"']*([a-z][a-z-]*[a-z])/.exec(last.toLowerCase())?.[1];
  if (name === undefined) return undefined;
  if (isPhase(name)) return { name, phase: name, exact: true, earlier: [] };
  for (const nodes of Object.values(loops)) {
    const at = nodes.findIndex(([id]) => id === name);
    if (at < 0) continue;
    const own = nodes[at]?.[1];
    if (own) return { name, phase: own, exact: true, earlier: [] };
    const before = nodes.slice(0, at).flatMap(([, phase]) => (phase ? [phase] : [])).reverse();
    const [phase, ...earlier] = before;
    if (phase) return { name, phase, exact: false, earlier };
  }
  return undefined;
}

/** The phase or node that a next step begins by naming (`design.`, "the `verification` node — …"), as a phase; undefined when it names none. */
export function phaseAhead(next: string): Phase | undefined {
  const text = next.toLowerCase().replace(/[*_`"']/g, '').replace(/^\s*(enter|start|begin|run|write|derive|do|go to|move to|then)\s+/, '').replace(/^\s*(the|with)\s+/, '');
  // The name must stand alone: "complete the tests" is no phase.
  const name = /^[a-z][a-z-]*[a-z](?=\s*(?:$|[.,;:(→—–]|-\s|(?:node|phase|then)\b))/.exec(text)?.[0];
  const direct = name === undefined ? undefined : namedPhase(name);
  if (direct) return direct.phase;
  const spoken: [RegExp, Phase][] = [
    [/^(tasks?[ -]breakdown|task list|tasks\.md)/, 'tasks-breakdown'], [/^(requirements|requirements\.md)\b/, 'requirements-definition'], [/^(testing plan|test plan|testing-plan\.md)/, 'test-planning'],
    [/^(design\.md)/, 'design'], [/^(security|self|critic)[ -]review/, 'needs-review'],
  ];
  return spoken.find(([pattern]) => pattern.test(text))?.[1];
}
