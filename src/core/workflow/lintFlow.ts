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

/** What goes wrong with the return stack and the context inside of calls. Each place is reported once, however many calls lead there. */
export function lintCallees(graph: Graph, report: Report): void {
  const mayReturn = statesThatReturn(graph, 'as-they-do');
  // A callee that only waits for a call that never returns is not where the fault is.
  const ifCallsReturn = statesThatReturn(graph, 'always');
  const callees = calleesOf(graph);
  const stuck = [...callees.keys()].filter((callee) => !mayReturn.has(callee));
  const toBlame = stuck.some((callee) => !ifCallsReturn.has(callee)) ? stuck.filter((callee) => !ifCallsReturn.has(callee)) : stuck;
  const said = new Set<StaticTransition>();
  const once = (check: string, name: string, via: StaticTransition, message: string): void => {
    const source = graph.nodes.get(name)?.source;
    if (!source || said.has(via)) return;
    said.add(via);
    report('warning', check, source.file, via.place, message);
  };
  for (const [callee, calls] of callees) {
    const region = regionOf(graph, callee, mayReturn);
    const leaves = [...region].some((name) => graph.nodes.get(name)?.transitions.some(({ tag }) => tag === 'reset-workflow'));
    if (toBlame.includes(callee) && !leaves) {
      for (const { caller, via } of calls) once('call-without-result-path', caller, via, `${callee} can never return: no result can be reached from it.`);
    }
    for (const name of region) {
      for (const via of graph.nodes.get(name)?.transitions ?? []) {
        const { tag, attributes: { cd } } = via;
        if (tag === 'reset-workflow') {
          once('reset-workflow-in-callee', name, via, `Inside the call of ${callee}, reset-workflow abandons the frames on the stack: no caller is returned to.`);
        }
        if (tag === 'reset' && cd !== undefined && cd !== '' && cd !== '.') {
          once('reset-cd-in-callee', name, via, `Inside the call of ${callee}: under raymond this \`cd\` stays in force after the return when the caller has no directory of its own. Loopkeeper restores it.`);
        }
      }
    }
    for (const { name, via, round } of growingCycles(graph, region)) {
      once('growing-context', name, via, `Inside the call of ${callee}, ${round.join(' → ')} goes round by goto, so the context grows without end. A reset starts each round afresh and keeps the return stack.`);
    }
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
