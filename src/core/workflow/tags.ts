/** The tags with which a state says where its agent goes next (workflow protocol). */
export const TAGS = [
  'goto', 'reset', 'call', 'function', 'fork', 'result', 'ask', 'call-workflow', 'function-workflow', 'fork-workflow', 'reset-workflow',
] as const;
export type Tag = (typeof TAGS)[number];

/** One tag of an output, as it stands: names not resolved, no policy applied. */
export interface Transition {
  tag: Tag;
  /** A state, or a workflow for the `-workflow` tags; of `ask` its `next`; of `result` empty. */
  target: string;
  attributes: Record<string, string>;
  /** The text of `result` and `ask`, else empty. */
  payload: string;
}

export function isTag(name: string): name is Tag {
  return (TAGS as readonly string[]).includes(name);
}

/** True for the tags whose target is a workflow. */
export function targetsWorkflow(tag: Tag): boolean {
  return tag.endsWith('-workflow');
}

/** True for the tags that push a frame. */
export function isCall(tag: Tag): boolean {
  return tag === 'call' || tag === 'function' || tag === 'call-workflow' || tag === 'function-workflow';
}

/** True for the tags that start a worker. */
export function isFork(tag: Tag): boolean {
  return tag === 'fork' || tag === 'fork-workflow';
}

// White space as Unicode has it: with U+0085 and without U+FEFF, where String.trim has it the other way round.
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

export function isSpace(character: string): boolean {
  return SPACE.test(character);
}

/** The text without white space at both ends, in linear time whatever is inside. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charAt(start))) start += 1;
  while (end > start && isSpace(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
