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
    if (hasBadTarget(found)) return { error: 'bad-target' };
    transitions.push(transitionOf(found, text, kind));
  }
  if (transitions.length === 0) return { error: 'no-transition' };
  if (transitions.length > 1 && !(kind === 'markdown' && isMultiFork(transitions))) return { error: 'many-transitions' };
  return { transitions };
}

/** A found tag as a transition: a result of a model is trimmed, of a script it is raw, an ask is always raw. */
export function transitionOf(found: FoundTag, text: string, kind: OutputKind): Transition {
  const { tag, attributes, target } = found;
  if (tag === 'result') return { tag, target: '', attributes, payload: kind === 'markdown' ? target : text.slice(found.contentStart, found.contentEnd) };
  if (tag === 'ask') return { tag, target: trimSpace(attributes['next'] ?? ''), attributes, payload: text.slice(found.contentStart, found.contentEnd) };
  return { tag, target, attributes, payload: '' };
}

/** True for an empty target, and for a path where only the name of a state can stand. */
export function hasBadTarget(found: FoundTag): boolean {
  if (found.tag === 'result') return false;
  if (found.tag === 'ask') return trimSpace(found.attributes['next'] ?? '') === '' || /[/\\]/.test(found.attributes['next'] ?? '');
  return found.target === '' || (!targetsWorkflow(found.tag) && found.isPath);
}

function isMultiFork(transitions: readonly Transition[]): boolean {
  const gotos = transitions.filter(({ tag }) => tag === 'goto').length;
  return gotos <= 1 && gotos < transitions.length && transitions.every(({ tag }) => tag === 'goto' || isFork(tag));
}
