import path from 'node:path';
import { calleesOf, readGraph, regionOf, statesThatReturn, type Graph } from './graph';
import type { Platform, Scope } from './scope';
import { kindOfState } from './stateSource';
import { isDynamic, namesIn, type StaticTransition } from './staticTags';
import { isFork, targetsWorkflow } from './tags';

/**
 * A workflow as a Mermaid flowchart. Solid: goto, call, function, ask, and where a fork goes on; dotted: workers, resets and returns. A
 * result leads to the `return` of every call that its state can be in, resets or not, and to an end where it is in none.
 */
export function drawWorkflow(scope: Scope, platform: Platform, start?: string): string {
  const graph = readGraph(scope, platform, start);
  const drawing = new Drawing(graph);
  for (const [name, node] of graph.nodes) for (const transition of node.transitions) drawing.transition(name, transition);
  drawing.returns();
  return drawing.text();
}

class Drawing {
  private readonly ids = new Map<string, string>();
  private readonly shapes: string[] = [];
  private readonly styles: string[] = [];
  private readonly edges = new Set<string>();
  private ends = 0;

  constructor(private readonly graph: Graph) {
    for (const name of graph.nodes.keys()) this.state(name);
  }

  transition(from: string, transition: StaticTransition): void {
    const { tag, target, attributes } = transition;
    const label = tag + (attributes['input'] === undefined ? '' : ' [input]');
    const workflow = targetsWorkflow(tag) && target !== '' ? this.workflow(target) : undefined;
    if (workflow !== undefined) this.edge(this.state(from), workflow, label, isFork(tag) || tag === 'reset-workflow');
    for (const { role, name } of namesIn(transition)) {
      const to = this.state(this.graph.find(name) ?? name);
      if (role === 'target') this.edge(this.state(from), to, label, tag === 'fork' || tag === 'reset');
      else if (role === 'next') this.edge(this.state(from), to, tag === 'ask' ? 'ask' : 'next', false);
      else if (role === 'timeout_next') this.edge(this.state(from), to, 'ask timeout', true);
      else if (workflow !== undefined) this.edge(workflow, to, `return (${stemOf(from)})`, true);
    }
  }

  /** Where results go: back to the callers whose frame can be on top, or to an end. */
  returns(): void {
    const { graph } = this;
    const mayReturn = statesThatReturn(graph, 'as-they-do');
    const emits = (name: string): boolean => graph.nodes.get(name)?.transitions.some(({ tag }) => tag === 'result') === true;
    for (const [callee, calls] of calleesOf(graph)) {
      for (const name of regionOf(graph, callee, mayReturn)) {
        if (!emits(name)) continue;
        for (const { caller, via } of calls) {
          const back = via.attributes['return'];
          if (back) this.edge(this.state(name), this.state(graph.find(back) ?? back), `return (${stemOf(caller)})`, true);
        }
      }
    }
    const workers = [...graph.nodes.values()].flatMap(({ transitions }) => transitions.flatMap(({ tag, target }) => (tag === 'fork' ? graph.find(target) ?? [] : [])));
    const outside = new Set([graph.entry, ...workers].flatMap((name) => (name === undefined ? [] : [...regionOf(graph, name, mayReturn)])));
    for (const name of graph.nodes.keys()) {
      if (!outside.has(name) || !emits(name)) continue;
      const end = `__end_${String(this.ends += 1)}__`;
      this.shapes.push(`${end}((" "))`);
      this.edge(this.state(name), end, 'result', false);
    }
  }

  text(): string {
    const start = this.graph.entry === undefined ? [] : ['__start__((" "))', `__start__ --> ${this.state(this.graph.entry)}`];
    return ['flowchart TD', ...[...start, ...this.shapes, ...this.edges, ...this.styles].map((line) => `    ${line}`), ''].join('\n');
  }

  /** The id of a state, drawn when it is first needed; one that is not there is dashed. */
  private state(name: string): string {
    return this.node(name, name, stemOf(name), kindOfState(name) === 'script' ? ['{{', '}}'] : ['[', ']'], !this.graph.nodes.has(name) && !isDynamic(name));
  }

  private workflow(specifier: string): string {
    return this.node(`workflow ${specifier}`, `xwf_${specifier}`, specifier, ['[[', ']]'], false);
  }

  private node(key: string, idSource: string, label: string, [open, close]: [string, string], missing: boolean): string {
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const taken = new Set(this.ids.values());
    const short = idSource.startsWith('xwf_') ? idSource : stemOf(idSource);
    // A.md and A.sh are two states; `end` is a word of Mermaid's own.
    const choices = [short, idSource, ...Array.from({ length: taken.size + 1 }, (_, number) => `${idSource}_${String(number + 2)}`)]
      .map((text) => text.replace(/[^A-Za-z0-9_]/g, '_')).map((id) => (id.toLowerCase() === 'end' ? `${id}_` : id));
    const id = choices.find((choice) => !taken.has(choice)) ?? short;
    this.ids.set(key, id);
    this.shapes.push(`${id}${open}"${escapeLabel(label)}"${close}`);
    if (missing) this.styles.push(`style ${id} stroke-dasharray: 5 5`);
    return id;
  }

  private edge(from: string, to: string, label: string, dotted: boolean): void {
    this.edges.add(`${from} ${dotted ? '-.->' : '-->'}|${escapeLabel(label)}| ${to}`);
  }
}

function stemOf(name: string): string {
  return path.parse(name).name;
}

/** Text that Mermaid would read as its own, as entities. */
function escapeLabel(text: string): string {
  const named: Record<string, string> = { '"': 'quot', '<': 'lt', '>': 'gt', '&': 'amp' };
  return text.replace(/["|[\](){}<>&#;]/g, (character) => `#${named[character] ?? String(character.charCodeAt(0))};`).replace(/\s+/g, ' ');
}
