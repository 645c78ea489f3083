import { scanTags, type FoundTag } from './scanTags';
import { isFork, targetsWorkflow, trimSpace, type Transition } from './tags';

/** `bad-target` goes before the other two (decision P5). */
export type ParseError = 'bad-target' | 'no-transition' | 'many-transitions';

/** What an output came from: a model's answer, or all that a script printed on stdout. */
export type OutputKind = 'markdown' | 'script';

/**
 * Reads the tags of an output. One is allowed; of a model also several of `fork` and `fork-workflow`, or one or more of them with one
 * `goto`, listed in order. Names are not resolved and no policy is applied. Linear in the length of the text.
 */
export function parseOutput(text: string, kind: OutputKind): { transitions: Transition[] } | { error: ParseError } {
  const transitions: Transition[] = [];
  for (const found of scanTags(text)) {
    const transition = transitionOf(found, text, kind);
    if (hasBadTarget(transition)) return { error: 'bad-target' };
    transitions.push(transition);
  }
  if (transitions.length === 0) return { error: 'no-transition' };
  if (transitions.length > 1 && !(kind === 'markdown' && isMultiFork(transitions))) return { error: 'many-transitions' };
  return { transitions };
}

/** A found tag as a transition: targets are trimmed, a result of a model is trimmed, of a script it is raw, an ask is always raw. */
export function transitionOf(found: FoundTag, text: string, kind: OutputKind): Transition {
  const { tag, attributes } = found;
  const content = text.slice(found.contentStart, found.contentEnd);
  if (tag === 'result') return { tag, target: '', attributes, payload: kind === 'markdown' ? trimSpace(content) : content };
  if (tag === 'ask') return { tag, target: trimSpace(attributes['next'] ?? ''), attributes, payload: content };
  return { tag, target: trimSpace(content), attributes, payload: '' };
}

/** True for an empty target, and for a path where only a state name can stand. */
export function hasBadTarget(transition: Transition): boolean {
  if (transition.tag === 'result') return false;
  return transition.target === '' || (!targetsWorkflow(transition.tag) && /[/\\]/.test(transition.target));
}

function isMultiFork(transitions: readonly Transition[]): boolean {
  const gotos = transitions.filter(({ tag }) => tag === 'goto').length;
  return gotos <= 1 && gotos < transitions.length && transitions.every(({ tag }) => tag === 'goto' || isFork(tag));
}
