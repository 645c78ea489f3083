import type { Clock } from '../core/plan/engine';
import type { Terminal } from './output';

/** Everything a command may know of the world outside: it reads no clock, environment or stream of its own. */
export interface Context {
  cwd: string;
  env: Record<string, string | undefined>;
  home: string;
  /** The system's name of the user; undefined when it has none. */
  userName(): string | undefined;
  clock: Clock;
  /** True when LOOPKEEPER_NOW set the clock; replies then warn `clock-overridden`. */
  clockOverridden: boolean;
  random(): string;
  pid: number;
  signal: AbortSignal;
  out: Terminal;
}

export interface Option {
  type: 'string' | 'boolean';
  multiple?: boolean;
  /** The placeholder of the value in the help. */
  value?: string;
  help: string;
  choices?: readonly string[];
}

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export interface Verb {
  summary: string;
  /** The command line behind the noun and verb, e.g. `(--work-item REF… | --all) [--dry-run]`. */
  usage: string;
  options: Record<string, Option>;
  /** Arguments that are no options, by name for the usage check; `multiple` takes the rest. */
  positionals?: { name: string; optional?: boolean; multiple?: boolean }[];
  examples: string[];
  /** The last line of the help. */
  see?: string;
  /** Gives the exit code (design §4). Throws Failure for what is refused or failed as a whole. */
  run(context: Context, values: Values, positionals: string[]): Promise<number>;
}

/** One noun and its verbs; a noun that is itself a verb (`status`) has it under the empty name. */
export interface Command {
  summary: string;
  verbs: Record<string, Verb>;
}

/** Options that every verb takes. */
export const commonOptions = {
  json: { type: 'boolean', help: 'Print one JSON document on standard output, and nothing else.' },
  help: { type: 'boolean', help: 'Show this help.' },
} satisfies Record<string, Option>;

/** Options of the verbs that read the loop's state. */
export const stateOptions = {
  config: { type: 'string', value: 'PATH', help: 'The cli-config.yaml to use instead of the one that is found.' },
  'no-exec': { type: 'boolean', help: 'Start no other program: no git, no tmux.' },
} satisfies Record<string, Option>;

/** The options of every verb that changes files by a plan. */
export const planOptions = {
  'dry-run': { type: 'boolean', help: 'Show the plan and change nothing.' },
  expect: { type: 'string', value: 'DIGEST', help: 'Apply only if the plan still has this digest (printed by the dry run); else exit 3.' },
} satisfies Record<string, Option>;

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function texts(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : typeof value === 'string' ? [value] : [];
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}
