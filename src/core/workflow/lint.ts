import path from 'node:path';
import { Failure } from '../disk/failure';
import type { Reader } from '../disk/reader';
import type { Diagnostic } from '../../protocol/workflow';
import { readGraph } from './graph';
import { lintCallees, lintReachability, type OpenOther } from './lintFlow';
import { lintState } from './lintState';
import type { Place } from './places';
import { findEntry, openWorkflow, resolveSpecifier, type Platform } from './scope';
import { isDynamic } from './staticTags';

export type Severity = Diagnostic['severity'];

/** Adds a diagnostic; the checks are kept apart from how they are gathered. */
export type Report = (severity: Severity, check: string, file: string, place: Place, message: string) => void;

const RANK: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/**
 * Looks at a workflow without running it: all that raymond's lint says, and where contexts grow without end, calls never return, frames are
 * abandoned, or a directory would leak into the caller. Sorted by severity, file, check, then place.
 * `target`: absolute, as for `openWorkflow`; naming one state makes it the start. Failures: those of `openWorkflow`.
 */
export function lintWorkflow(reader: Reader, target: string, platform: Platform): Diagnostic[] {
  const { scope, start } = openWorkflow(reader, target, platform);
  const diagnostics: Diagnostic[] = [];
  const report: Report = (severity, check, file, place, message) => {
    diagnostics.push({ file, line: place.line, column: place.column, endColumn: place.column + place.length, severity, check, message });
  };
  for (const problem of scope.problems) report(problem.check === 'unknown-field' ? 'warning' : 'error', problem.check, problem.file, problem.place, problem.message);

  const entry = findEntry(scope, platform);
  if (start === undefined && 'error' in entry) {
    const file = entry.candidates[1] === undefined ? scope.path : scope.load(entry.candidates[1]).file;
    report('error', entry.error === 'missing' ? 'no-entry-point' : 'ambiguous-entry-point', file, { line: 1, column: 1, length: 0 }, entry.message);
  }
  const graph = readGraph(scope, platform, start);
  const workflowError = (specifier: string): string | undefined => {
    const found = resolveSpecifier(reader, scope.path, specifier, platform);
    return 'error' in found && !/\.zip(\/|$)|^https?:/i.test(specifier) ? found.error : undefined;
  };
  for (const node of graph.nodes.values()) lintState(graph, node, report, workflowError);
  lintReachability(graph, report);
  const others = new Map<string, ReturnType<OpenOther>>();
  lintCallees(graph, report, (from, specifier) => {
    const found = isDynamic(specifier) ? undefined : resolveSpecifier(reader, from.scope.path, specifier, platform);
    if (!found || 'error' in found) return undefined;
    const key = path.join(found.scope_dir, found.entry);
    if (!others.has(key)) others.set(key, { graph: readGraph(openWorkflow(reader, found.scope_dir, platform).scope, platform, found.entry), entry: found.entry });
    return others.get(key);
  });
  return diagnostics.sort((a, b) => RANK[a.severity] - RANK[b.severity] || compare(a.file, b.file) || compare(a.check, b.check) || a.line - b.line || a.column - b.column);
}

/** The diagnostics of a severity and worse. Failure `usage` for another word. */
export function atLevel(diagnostics: readonly Diagnostic[], level: string): Diagnostic[] {
  if (!Object.hasOwn(RANK, level)) throw new Failure('usage', `--level is ${JSON.stringify(level.slice(0, 80))}; it can be error, warning or info.`, 'Name one of them.', 2);
  return diagnostics.filter((diagnostic) => RANK[diagnostic.severity] <= RANK[level as Severity]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
