import type { Place } from './places';
import { scanTags } from './scanTags';
import type { StateSource } from './stateSource';
import { isTag, targetsWorkflow, trimSpace, type Tag } from './tags';

/** A transition that can be read off a state without running it. */
export interface StaticTransition {
  tag: Tag;
  target: string;
  attributes: Record<string, string>;
  place: Place;
  /** It is an entry of the policy, not a tag in the text. */
  policy: boolean;
}

/**
 * What a state may do, as far as its text says: of a model state with a policy the entries of the policy, of others the tags in the
 * prompt; of a script those in its source, where `\"` stands for `"`.
 */
export function staticTransitions(state: StateSource): StaticTransition[] {
  if (state.kind === 'markdown' && state.settings.allowed.length > 0) {
    return state.settings.allowed.flatMap(({ value, place }) => {
      const { tag = '', target = '', ...attributes } = value;
      if (!isTag(tag)) return [];
      return [{ tag, target: tag === 'ask' ? trimSpace(attributes['next'] ?? '') : target, attributes, place, policy: true }];
    });
  }
  const { text, offsetOf } = state.kind === 'script' ? withoutEscapes(state.body) : { text: state.body, offsetOf: (offset: number) => offset };
  return [...scanTags(text)].map((found) => ({
    tag: found.tag, attributes: found.attributes, policy: false,
    target: found.tag === 'result' ? '' : found.tag === 'ask' ? trimSpace(found.attributes['next'] ?? '') : found.target,
    place: state.placeOf(offsetOf(found.start), offsetOf(found.contentStart)),
  }));
}

/** True for a name that is only known when the state runs: a variable of the shell, or of the template. */
export function isDynamic(name: string): boolean {
  return /[$`%]|\{\{/.test(name);
}

/** The names a transition leads to, each with the attribute that holds it. Of `-workflow` tags only what leads back into this scope. */
export function namesIn(transition: StaticTransition): { role: 'target' | 'return' | 'next' | 'timeout_next'; name: string }[] {
  const { tag, target, attributes } = transition;
  const names: ReturnType<typeof namesIn> = [];
  if (target !== '' && tag !== 'ask' && tag !== 'result' && !targetsWorkflow(tag)) names.push({ role: 'target', name: target });
  for (const role of ['return', 'next', 'timeout_next'] as const) {
    const name = attributes[role];
    const read = role === 'return' ? tag.startsWith('call') || tag.startsWith('function') : role === 'next' ? tag.startsWith('fork') || tag === 'ask' : tag === 'ask';
    if (read && name) names.push({ role, name });
  }
  return names;
}

/** The source with `\"` as `"`, and the way back from its offsets. */
function withoutEscapes(source: string): { text: string; offsetOf(offset: number): number } {
  const removed: number[] = [];
  const text = source.replace(/\\"/g, (_match, at: number) => { removed.push(at - removed.length); return '"'; });
  return {
    text,
    offsetOf(offset) {
      let count = 0;
      while (count < removed.length && (removed[count] ?? 0) < offset) count += 1;
      return offset + count;
    },
  };
}
