import type { RetestEvent } from '../../protocol/retest';
import type { SessionFacts } from './projection';

/** Bounds of a wake prompt: the last ones count, and what is left out is said. */
const MOST_VERDICTS = 20;
const MOST_COMMANDS = 50;
const MOST_MESSAGES = 20;
const MOST_CHARACTERS = 2000;

/** Foreign text as part of a list entry: further lines are indented, so that none can pass for a heading of ours. */
function quote(text: string): string {
  const clipped = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} [… ${String(text.length - MOST_CHARACTERS)} more characters]` : text;
  return clipped.replace(/\r?\n|\r/g, '\n    ');
}

function section(title: string, entries: readonly string[], most = Infinity): string[] {
  if (entries.length === 0) return [];
  const shown = most === Infinity ? entries : entries.slice(-most);
  const left = entries.length - shown.length;
  return ['', `${title}:`, ...(left > 0 ? [`- (${String(left)} earlier not shown)`] : []), ...shown.map((entry) => `- ${entry}`)];
}

const field = (event: RetestEvent, name: string): string => {
  const value = event.payload[name];
  return typeof value === 'string' ? value : '';
};

/**
 * The prompt with which an agent is woken, from the transcript alone (cases README, T8): scope, goal, every verdict with what was
 * withdrawn, the commands run with their exit codes, the messages so far, and the operator's message.
 */
export function wakePrompt(events: readonly RetestEvent[], facts: SessionFacts, message: string | undefined): string {
  const { projection, verdicts, finding } = facts;
  const commands: string[] = [];
  const messages: string[] = [];
  for (const event of events) {
    if (event.kind === 'command_output' || event.kind === 'human_command') {
      const code = event.payload.exit_code;
      const by = event.kind === 'human_command' ? ', run by the operator' : '';
      commands.push(`exit code ${typeof code === 'number' ? String(code) : 'unknown'}${by}: ${quote(field(event, 'command'))}`);
    } else if (event.kind === 'human_message' || event.kind === 'agent_message') {
      messages.push(`${event.kind === 'human_message' ? 'operator' : 'agent'}, ${event.ts}: ${quote(field(event, 'text'))}`);
    }
  }
  const given = verdicts.map((verdict) => {
    const head = `${verdict.status} (${verdict.actor}, ${verdict.ts}): ${quote(verdict.rationale)}`;
    if (verdict.withdrawn) {
      const { actor, ts, reason } = verdict.withdrawn;
      return `${head}\n  Withdrawn by the ${actor}, ${ts}${reason ? `: ${quote(reason)}` : '.'}`;
    }
    return verdict.state === 'superseded' ? `${head}\n  Superseded by the next one.` : head;
  });
  return [
    `Re-test ${finding === null ? 'the finding' : `finding ${quote(finding)}`}. Stay within the scope. What follows is the record of this session.`,
    ...section('Scope', projection.scope.map(quote)),
    ...section('Goal', projection.goal.map(quote)),
    ...section('Verdicts so far', given, MOST_VERDICTS),
    ...section('Commands run so far', commands, MOST_COMMANDS),
    ...section('Messages so far', messages, MOST_MESSAGES),
    // The one text that is an instruction is given whole.
    ...(message === undefined ? [] : ['', 'The operator says now:', message]),
    '',
  ].join('\n');
}
