import { findEntry, resolveState, type Platform, type Scope } from './scope';
import type { StateSource } from './stateSource';
import { isDynamic, namesIn, staticTransitions, type StaticTransition } from './staticTags';
import { isCall } from './tags';

/** A state with all that is known of it without running it. */
export interface Node {
  source: StateSource;
  transitions: StaticTransition[];
  /** It may do what its text does not say: a script without tags, a policy that leaves the target open, a name only known when it runs. */
  open: boolean;
}

/** The states of a workflow and how they lead to each other, without running any. */
export interface Graph {
  scope: Scope;
  platform: Platform;
  nodes: Map<string, Node>;
  /** The state a name means, or undefined for one that is missing, ambiguous or only known when it runs. */
  find(name: string): string | undefined;
  entry: string | undefined;
}

/** Reads every state of a workflow that can run on the platform; a README is none. `start` = the state to begin at instead of the entry. */
export function readGraph(scope: Scope, platform: Platform, start?: string): Graph {
  const endings = platform === 'posix' ? /\.(md|sh)$/ : /\.(md|ps1|bat)$/;
  const nodes = new Map<string, Node>();
  for (const name of scope.names) {
    if (!endings.test(name) || /^readme\.md$/i.test(name)) continue;
    const source = scope.load(name);
    const transitions = staticTransitions(source);
    const open = (source.kind === 'script' && transitions.length === 0) || transitions.some((transition) => (
      (transition.policy && transition.target === '' && !['result', 'ask'].includes(transition.tag)) || namesIn(transition).some((entry) => isDynamic(entry.name))));
    nodes.set(name, { source, transitions, open });
  }
  const known = new Map<string, string | undefined>();
  const find = (name: string): string | undefined => {
    if (!known.has(name)) {
      const found = isDynamic(name) ? undefined : resolveState(scope, name, platform);
      known.set(name, found && 'name' in found && nodes.has(found.name) ? found.name : undefined);
    }
    return known.get(name);
  };
  const entry = findEntry(scope, platform);
  return { scope, platform, nodes, find, entry: start ?? ('name' in entry ? entry.name : undefined) };
}

/** Where an agent can be next: `inside` = by a call, in the callee; else at the same depth of its stack. */
export interface Step { to: string; inside: boolean; via: StaticTransition }

/** The states that a transition leads to. A call leads into its callee and, once that returns, to its `return`. */
export function stepsOf(graph: Graph, transition: StaticTransition): Step[] {
  return namesIn(transition).flatMap(({ role, name }) => {
    const to = graph.find(name);
    // A worker of a fork has a stack of its own.
    if (to === undefined || (role === 'target' && transition.tag === 'fork')) return [];
    return [{ to, inside: role === 'target' && isCall(transition.tag), via: transition }];
  });
}

/** Every state that can be reached from some, workers of forks included. */
export function reachable(graph: Graph, from: readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const name of seen) {
    for (const transition of graph.nodes.get(name)?.transitions ?? []) {
      for (const entry of namesIn(transition)) {
        const to = graph.find(entry.name);
        if (to !== undefined) seen.add(to);
      }
    }
  }
  return seen;
}

/** The states a callee can be in while its own frame is on top of the stack: what its calls return to counts, what they call does not. */
export function regionOf(graph: Graph, callee: string, mayReturn: ReadonlySet<string>): Set<string> {
  const seen = new Set([callee]);
  for (const name of seen) {
    for (const transition of graph.nodes.get(name)?.transitions ?? []) {
      if (!returns(graph, transition, mayReturn)) continue;
      for (const step of stepsOf(graph, transition)) if (!step.inside) seen.add(step.to);
    }
  }
  return seen;
}

/** Whether a call in the scope comes back; other transitions have nothing to wait for. */
function returns(graph: Graph, transition: StaticTransition, mayReturn: ReadonlySet<string>): boolean {
  if (transition.tag !== 'call' && transition.tag !== 'function') return true;
  const callee = graph.find(transition.target);
  return callee === undefined || mayReturn.has(callee);
}

/**
 * The states from which a `result` can pop the frame that is on top: directly, over gotos, resets, asks and forks, or behind calls that
 * return themselves (`calls: 'always'`: whatever those do). A state that says nothing, or leads where nothing is known, may return.
 */
export function statesThatReturn(graph: Graph, calls: 'as-they-do' | 'always'): Set<string> {
  const found = new Set<string>();
  const can = (node: Node): boolean => node.open || node.transitions.length === 0 || node.transitions.some((transition) => {
    if (transition.tag === 'result') return true;
    if (calls === 'as-they-do' && !returns(graph, transition, found)) return false;
    return namesIn(transition).some(({ role, name }) => {
      if (role === 'target' && (isCall(transition.tag) || transition.tag === 'fork')) return false;
      const to = graph.find(name);
      return to === undefined || found.has(to);
    });
  });
  for (let grown = true; grown;) {
    grown = false;
    for (const [name, node] of graph.nodes) {
      if (found.has(name) || !can(node)) continue;
      found.add(name);
      grown = true;
    }
  }
  return found;
}

/** Every state that is called in the scope, with the calls that do it. */
export function calleesOf(graph: Graph): Map<string, { caller: string; via: StaticTransition }[]> {
  const callees = new Map<string, { caller: string; via: StaticTransition }[]>();
  for (const [caller, node] of graph.nodes) {
    for (const via of node.transitions) {
      const callee = via.tag === 'call' || via.tag === 'function' ? graph.find(via.target) : undefined;
      if (callee !== undefined) callees.set(callee, [...(callees.get(callee) ?? []), { caller, via }]);
    }
  }
  return callees;
}
