import { calleesOf, reachable, regionOf, statesThatReturn, stepsOf, type Graph } from './graph';
import type { Report } from './lint';
import type { StaticTransition } from './staticTags';

/** States that nothing leads to. Where a state that can be reached may lead anywhere, nothing is said. */
export function lintReachability(graph: Graph, report: Report): void {
  if (graph.entry === undefined) return;
  const reached = reachable(graph, [graph.entry]);
  if ([...reached].some((name) => graph.nodes.get(name)?.open === true)) return;
  for (const [name, node] of graph.nodes) {
    if (!reached.has(name)) report('warning', 'unreachable-state', node.source.file, node.source.placeOf(0), `No transition leads to ${name}.`);
  }
}

/** Another workflow that a `-workflow` tag means, and the state it starts at; undefined where it cannot be read. */
export type OpenOther = (graph: Graph, specifier: string) => { graph: Graph; entry: string } | undefined;

/**
 * What goes wrong with the return stack and the context inside of calls, in this workflow and in those it calls. Each place is reported
 * once, however many calls lead there.
 */
export function lintCallees(graph: Graph, report: Report, openOther: OpenOther): void {
  new CalleeLint(report, openOther).workflow(graph);
}

class CalleeLint {
  private readonly said = new Set<string>();
  /** Workflows looked at as callees, by path and start; they may call each other in a circle. */
  private readonly entered = new Set<string>();

  constructor(private readonly report: Report, private readonly openOther: OpenOther) {}

  workflow(graph: Graph): void {
    const mayReturn = statesThatReturn(graph, 'as-they-do');
    // A callee that only waits for a call that never returns is not where the fault is.
    const ifCallsReturn = statesThatReturn(graph, 'always');
    const callees = calleesOf(graph);
    const stuck = [...callees.keys()].filter((callee) => !mayReturn.has(callee));
    const toBlame = stuck.some((callee) => !ifCallsReturn.has(callee)) ? stuck.filter((callee) => !ifCallsReturn.has(callee)) : stuck;
    for (const [callee, calls] of callees) {
      if (toBlame.includes(callee)) for (const { caller, via } of calls) this.neverReturns(graph, caller, via, graph, callee);
      this.callee(graph, callee, mayReturn);
    }
    for (const name of graph.nodes.keys()) this.otherWorkflows(graph, name);
  }

  /** Everything that can be on top of the stack between the call of this state and its result. */
  private callee(graph: Graph, callee: string, mayReturn: ReadonlySet<string>): void {
    const region = regionOf(graph, callee, mayReturn);
    for (const name of region) {
      for (const via of graph.nodes.get(name)?.transitions ?? []) {
        const { tag, attributes: { cd } } = via;
        if (tag === 'reset-workflow') {
          this.say('reset-workflow-in-callee', graph, name, via, `Inside the call of ${callee}, reset-workflow abandons the frames on the stack: no caller is returned to.`);
        }
        if (tag === 'reset' && cd !== undefined && cd !== '' && cd !== '.') {
          this.say('reset-cd-in-callee', graph, name, via, `Inside the call of ${callee}: under raymond this \`cd\` stays in force after the return when the caller has no directory of its own. Loopkeeper restores it.`);
        }
      }
    }
    for (const { name, via, round } of growingCycles(graph, region)) {
      this.say('growing-context', graph, name, via, `Inside the call of ${callee}, ${round.join(' → ')} goes round by goto, so the context grows without end. A reset starts each round afresh and keeps the return stack.`);
    }
  }

  /** The workflows that a state calls are callees too; what lies in them is reported there. */
  private otherWorkflows(graph: Graph, name: string): void {
    for (const via of graph.nodes.get(name)?.transitions ?? []) {
      const other = via.tag === 'call-workflow' || via.tag === 'function-workflow' ? this.openOther(graph, via.target) : undefined;
      if (!other) continue;
      const mayReturn = statesThatReturn(other.graph, 'as-they-do');
      if (!mayReturn.has(other.entry)) this.neverReturns(graph, name, via, other.graph, other.entry);
      const key = `${other.graph.scope.path}/${other.entry}`;
      if (this.entered.has(key)) continue;
      this.entered.add(key);
      this.callee(other.graph, other.entry, mayReturn);
      for (const inner of regionOf(other.graph, other.entry, mayReturn)) this.otherWorkflows(other.graph, inner);
    }
  }

  /** A callee that leaves by reset-workflow is reported for that alone. */
  private neverReturns(graph: Graph, caller: string, via: StaticTransition, calleeGraph: Graph, callee: string): void {
    const region = regionOf(calleeGraph, callee, new Set(calleeGraph.nodes.keys()));
    if ([...region].some((name) => calleeGraph.nodes.get(name)?.transitions.some(({ tag }) => tag === 'reset-workflow'))) return;
    this.say('call-without-result-path', graph, caller, via, `${graph === calleeGraph ? callee : via.target} can never return: no result can be reached from it.`);
  }

  private say(check: string, graph: Graph, name: string, { place }: StaticTransition, message: string): void {
    const file = graph.nodes.get(name)?.source.file ?? graph.scope.path;
    const key = `${file}:${String(place.line)}:${String(place.column)}`;
    if (this.said.has(key)) return;
    this.said.add(key);
    this.report('warning', check, file, place, message);
  }
}

/** Cycles of gotos alone with a model state in them: each with the goto that closes it, and the states in order. */
function growingCycles(graph: Graph, region: ReadonlySet<string>): { name: string; via: StaticTransition; round: string[] }[] {
  const gotos = (name: string): { to: string; via: StaticTransition }[] => (graph.nodes.get(name)?.transitions ?? [])
    .filter(({ tag }) => tag === 'goto').flatMap((transition) => stepsOf(graph, transition)).filter(({ to }) => region.has(to));
  /** The shortest way from one state to another by gotos. */
  const way = (from: string, target: string): string[] | undefined => {
    const before = new Map<string, string | undefined>([[from, undefined]]);
    for (const name of before.keys()) {
      if (name === target) {
        const states: string[] = [];
        for (let at: string | undefined = target; at !== undefined; at = before.get(at)) states.unshift(at);
        return states;
      }
      for (const { to } of gotos(name)) if (!before.has(to)) before.set(to, name);
    }
    return undefined;
  };
  const found: ReturnType<typeof growingCycles> = [];
  const order = new Map([...region].map((name, index) => [name, index]));
  const inCycle = new Set<string>();
  for (const [name, index] of order) {
    for (const { to, via } of gotos(name)) {
      // The goto that closes a cycle leads back to a state the callee was in before.
      if ((order.get(to) ?? 0) > index || inCycle.has(name)) continue;
      const round = way(to, name);
      if (!round?.some((state) => graph.nodes.get(state)?.source.kind === 'markdown')) continue;
      for (const state of round) inCycle.add(state);
      found.push({ name, via, round: [...round, to] });
    }
  }
  return found;
}
