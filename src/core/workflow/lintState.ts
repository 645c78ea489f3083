import path from 'node:path';
import type { Graph, Node } from './graph';
import type { Report, Severity } from './lint';
import type { Place } from './places';
import { resolveState } from './scope';
import { isDynamic, namesIn, type StaticTransition } from './staticTags';
import { isCall, isFork, targetsWorkflow, type Tag } from './tags';

const MODELS = ['opus', 'sonnet', 'haiku'];
const EFFORTS = ['low', 'medium', 'high'];
const TASK_TAGS: Tag[] = ['fork', 'fork-workflow', 'reset', 'reset-workflow'];

/** The checks that need no more than one state. `workflowError`: why the target of a `-workflow` tag cannot be found, if so. */
export function lintState(graph: Graph, node: Node, report: Report, workflowError: (specifier: string) => string | undefined): void {
  const { source, transitions } = node;
  const say = (severity: Severity, check: string, place: Place, message: string): void => { report(severity, check, source.file, place, message); };
  for (const problem of source.problems) say('error', problem.check, problem.place, problem.message);
  lintSettings(graph, node, say);
  for (const transition of transitions) lintTransition(graph, node, transition, say, workflowError);

  const forks = transitions.filter(({ tag, policy }) => isFork(tag) && !policy);
  const nexts = forks.flatMap((fork) => (fork.attributes['next'] ? [fork.attributes['next']] : []));
  const odd = forks.find((fork) => fork.attributes['next'] && fork.attributes['next'] !== nexts[0]);
  if (odd) say('warning', 'fork-next-mismatch', odd.place, `Forks of one output must agree on \`next\`: ${nexts[0] ?? ''} and ${odd.attributes['next'] ?? ''}.`);
  const start = source.placeOf(0);
  if (transitions.length > 0 || source.problems.length > 0) return;
  if (source.kind === 'markdown') say('warning', 'dead-end-state', start, 'The prompt names no transition, so the agent cannot know how to go on.');
  else say('info', 'script-state-no-static-analysis', start, 'No tag can be read off this script, so what it leads to is not checked.');
}

type Say = (severity: Severity, check: string, place: Place, message: string) => void;

function lintSettings(graph: Graph, { source, transitions }: Node, say: Say): void {
  const { model, effort, unknown, forceImplicit, allowed } = source.settings;
  // Other model programs have their own names for models.
  if (model && graph.scope.backend === 'claude' && !MODELS.includes(model.value)) say('error', 'invalid-model', model.place, `"${model.value}" is no model; use ${MODELS.join(', ')}.`);
  if (effort && !EFFORTS.includes(effort.value)) say('error', 'invalid-effort', effort.place, `"${effort.value}" is no effort; use ${EFFORTS.join(', ')}.`);
  for (const { value, place } of unknown) say('warning', 'unknown-field', place, `Nothing reads the key "${value}".`);

  const [only] = allowed;
  const implicit = allowed.length === 1 && only !== undefined
    && ((only.value['tag'] === 'result' && 'payload' in only.value) || (only.value['tag'] !== 'ask' && Boolean(only.value['target'])));
  if (implicit) say('info', 'implicit-transition', only.place, `Without a tag in the answer this happens by itself: ${only.value['tag'] ?? ''} ${only.value['target'] ?? ''}`.trimEnd() + '.');
  if (forceImplicit?.value === true && !implicit) say('error', 'force-implicit-invalid', forceImplicit.place, 'force_implicit needs exactly one allowed transition, with a target or a fixed payload.');
  if (allowed.length < 2) return;
  for (const transition of transitions) {
    const stem = path.parse(transition.target).name;
    if (transition.target !== '' && transition.tag !== 'ask' && !source.body.includes(stem)) {
      say('warning', 'unused-allowed-transition', transition.place, `The prompt never mentions ${transition.target}, so the agent will hardly choose it.`);
    }
  }
}

function lintTransition(graph: Graph, { transitions }: Node, transition: StaticTransition, say: Say, workflowError: (specifier: string) => string | undefined): void {
  const { tag, target, attributes, place, policy } = transition;
  const error = (check: string, message: string): void => { say('error', check, place, message); };
  if (target === '' && tag !== 'result' && tag !== 'ask' && !policy) error('missing-target', `<${tag}> names no target.`);
  if (isCall(tag) && !attributes['return']) error('missing-return', `<${tag}> needs a \`return\`: the state that gets the result.`);
  if (tag === 'ask' && target === '') error('missing-ask-next', '<ask> needs a `next`: the state that gets the answer.');
  const goesOn = transitions.some((other) => !other.policy && (other.tag === 'goto' || (isFork(other.tag) && other.attributes['next'])));
  if (isFork(tag) && !attributes['next'] && !goesOn) {
    if (tag === 'fork') error('missing-fork-next', '<fork> needs a `next`: where this agent goes on.');
    else say('warning', 'fork-workflow-without-next', place, 'Without `next` this agent runs its own state again and forks without end.');
  }

  for (const { role, name } of namesIn(transition)) {
    if (isDynamic(name)) continue;
    const found = resolveState(graph.scope, name, graph.platform);
    if ('error' in found) error(found.error === 'ambiguous' ? 'ambiguous-state-resolution' : 'missing-target', role === 'target' ? found.message : `\`${role}\`: ${found.message}`);
  }
  if (targetsWorkflow(tag) && target !== '' && !isDynamic(target)) {
    const problem = workflowError(target);
    if (problem !== undefined) say('warning', 'unresolved-workflow', place, problem);
  }

  const task = attributes['task'];
  if (task !== undefined && !TASK_TAGS.includes(tag)) error('unsupported-task-attribute', `<${tag}> takes no \`task\`.`);
  else if (task !== undefined && !['new', 'inherit'].includes(task)) error('invalid-task-value', `\`task\` is "${task}"; it can be new or inherit.`);
  else if (task === 'inherit' && !isFork(tag)) error('unsupported-task-attribute', `<${tag}> keeps its task folder anyway; \`task\` can only be new here.`);
  if (attributes['cd'] === undefined) return;
  if (tag === 'ask' || tag === 'call-workflow') error('unsupported-cd-attribute', tag === 'ask' ? '<ask> takes no `cd`.' : '<call-workflow> with `cd` stops the agent; function-workflow takes it.');
  if (tag === 'goto' || tag === 'call' || tag === 'function') say('warning', 'ignored-cd-attribute', place, `<${tag}> ignores \`cd\`; reset takes it.`);
}
