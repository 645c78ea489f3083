import { isObject, textOr, type JsonObject } from './jsonFile';

/** The last command to a work item. Texts are empty where the record does not say. */
export interface ControlFacts { command: string; source: string; actor: string; requestedAt: string; note: string; armed: boolean }
/** What the poller remembers: how many comments it has seen, when it last looked, and whether it has given up on something. */
export interface PollFacts { seenComments: number; lastPolledAt: string; gaveUp: 'start' | 'comments' | null }
/** The phase choices: the loop, the folder of the spec artifacts, how many nodes. */
export interface GraphFacts { loop: string; workItem: string; nodes: number }
export interface SectionFacts { control: ControlFacts; poll: PollFacts; graph: GraphFacts }

// `armed`: the last command lets a daemon start the item (the-loop §1.5).
const arming = new Set(['start', 'resume', 'contribute', 'do']);
const countOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

function gaveUp(poll: JsonObject): PollFacts['gaveUp'] {
  const { spawn, gaveUp: comments } = poll;
  if (isObject(spawn) && spawn['gaveUp'] === true) return 'start';
  return isObject(comments) && countOf(comments['comments']) > 0 ? 'comments' : null;
}

/** What is shown of a section. Anything may stand in it: a field of the wrong type counts as absent. */
export const factsOf = {
  control: (value: JsonObject): ControlFacts => {
    const command = textOr(value['command'], '');
    return {
      command,
      source: textOr(value['source'], ''),
      actor: textOr(value['actor'], ''),
      requestedAt: textOr(value['requestedAt'], ''),
      note: textOr(value['note'], ''),
      armed: arming.has(command) && typeof value['ref'] === 'string',
    };
  },
  poll: (value: JsonObject): PollFacts => ({ seenComments: countOf(value['seenComments']), lastPolledAt: textOr(value['lastPolledAt'], ''), gaveUp: gaveUp(value) }),
  graph: (value: JsonObject): GraphFacts => ({ loop: textOr(value['loop'], ''), workItem: textOr(value['workItem'], ''), nodes: countOf(value['nodes']) }),
};

