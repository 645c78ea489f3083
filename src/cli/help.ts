import { commonOptions, type Command, type Option, type Verb } from './command';

const optionLine = (name: string, option: Option): string => `  ${`--${name}${option.value === undefined ? '' : ` ${option.value}`}${option.multiple === true ? ' …' : ''}`.padEnd(26)} ${option.help}`;

/** `loopkeeper sessions reset --help`: usage, options, examples. */
export function helpOfVerb(noun: string, name: string, verb: Verb): string {
  return [
    `loopkeeper ${noun}${name === '' ? '' : ` ${name}`} ${verb.usage}`.trimEnd(), '', verb.summary, '', 'Options:',
    ...Object.entries({ ...verb.options, ...commonOptions }).map(([key, option]) => optionLine(key, option)),
    '', 'Examples:', ...verb.examples.map((example) => `  ${example}`),
    ...(verb.see === undefined ? [] : ['', verb.see]),
  ].join('\n');
}

/** `loopkeeper sessions --help`: the verbs of a noun. */
export function helpOfNoun(noun: string, command: Command): string {
  return [`loopkeeper ${noun}: ${command.summary}`, '', ...verbLines(noun, command), '', `See \`loopkeeper ${noun} VERB --help\`.`].join('\n');
}

/** `loopkeeper --help`: everything, a line each. */
export function helpOfProgram(commands: [string, Command][]): string {
  return [
    'loopkeeper keeps the memory of coding-agent loops in order: see it, reset it, undo it.', '',
    ...commands.flatMap(([noun, command]) => verbLines(noun, command)), '',
    'Nothing is removed unseen: every changing command takes --dry-run, and `loopkeeper undo` brings back what it removed.',
    'Exit codes: 0 done · 1 not found or failed · 2 refused · 3 changed since it was shown · 4 waits for an answer · 5 run left paused or failed.',
    'See `loopkeeper COMMAND --help`.',
  ].join('\n');
}

function verbLines(noun: string, command: Command): string[] {
  return Object.entries(command.verbs).map(([name, verb]) => `  ${`${noun} ${name}`.trim().padEnd(24)} ${verb.summary}`);
}
