import os from 'node:os';
import { parseArgs } from 'node:util';
import { crypto } from '../core/disk/builtin';
import { codeOf, Failure, messageOf } from '../core/disk/failure';
import { commonOptions, type Command, type Context, type Verb } from './command';
import { helpOfNoun, helpOfProgram, helpOfVerb } from './help';
import { nouns } from './nouns';
import { terminalOf } from './output';

declare const LOOPKEEPER_VERSION: string;

/** Children must not take us for an editor, nor find the editor's sockets. */
function leaveEditor(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (name === 'ELECTRON_RUN_AS_NODE' || name.startsWith('VSCODE_')) Reflect.deleteProperty(env, name);
}

const usage = (message: string, hint: string): Failure => new Failure('usage', message, hint, 2);

function clockOf(env: NodeJS.ProcessEnv): Pick<Context, 'clock' | 'clockOverridden'> {
  const real = (): string => new Date().toISOString();
  const set = env['LOOPKEEPER_NOW'];
  if (set === undefined || set === '') return { clock: { now: real, real }, clockOverridden: false };
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(set) || Number.isNaN(Date.parse(set))) {
    throw usage(`LOOPKEEPER_NOW is ${JSON.stringify(set)}, which is no RFC 3339 time.`, 'Set it to a time like 2026-08-04T09:00:00Z, or unset it.');
  }
  const fixed = new Date(set).toISOString();
  return { clock: { now: () => fixed, real }, clockOverridden: true };
}

function parseVerb(noun: string, name: string, verb: Verb, args: string[]): { values: Record<string, never>; positionals: string[] } {
  const line = `loopkeeper ${noun}${name === '' ? '' : ` ${name}`}`;
  const hint = `See \`${line} --help\`.${verb.see === undefined ? '' : ` ${verb.see}`}`;
  const all = { ...commonOptions, ...verb.options };
  try {
    const options = Object.fromEntries(Object.entries(all).map(([key, option]) => [key, { type: option.type, multiple: 'multiple' in option ? option.multiple === true : false }]));
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    const known = verb.positionals ?? [];
    const least = known.filter((entry) => entry.optional !== true).length;
    const most = known.some((entry) => entry.multiple === true) ? Infinity : known.length;
    if (values['help'] !== true) {
      if (positionals.length > most) throw usage(`${line} takes no argument ${JSON.stringify(positionals[most]?.slice(0, 80))}.`, hint);
      if (positionals.length < least) throw usage(`${line} needs ${known.slice(positionals.length, least).map((entry) => entry.name).join(' ')}.`, hint);
    }
    return { values: values as Record<string, never>, positionals };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw usage(messageOf(error), hint);
  }
}

async function dispatch(argv: string[], contextOf: () => Context, print: (text: string) => void): Promise<number> {
  const [noun = '', ...rest] = argv;
  if (noun === '' || noun === '--help' || noun === '-h' || noun === 'help') {
    print(helpOfProgram(await Promise.all(Object.entries(nouns).map(async ([name, load]) => [name, (await load()).command] as [string, Command]))));
    return noun === '' ? 2 : 0;
  }
  if (noun === '--version') {
    print(LOOPKEEPER_VERSION);
    return 0;
  }
  const load = Object.hasOwn(nouns, noun) ? nouns[noun] : undefined;
  if (!load) throw usage(`There is no command ${JSON.stringify(noun.slice(0, 80))}.`, 'See `loopkeeper --help`.');
  const { command } = await load();
  const only = command.verbs[''];
  const name = only ? '' : rest[0] ?? '';
  if (!only && (name === '' || name === '--help' || name === '-h')) {
    print(helpOfNoun(noun, command));
    return name === '' ? 2 : 0;
  }
  const verb = Object.hasOwn(command.verbs, name) ? command.verbs[name] : undefined;
  if (!verb) throw usage(`There is no command ${JSON.stringify(`${noun} ${name}`.slice(0, 80))}.`, `See \`loopkeeper ${noun} --help\`.`);
  const { values, positionals } = parseVerb(noun, name, verb, only ? rest : rest.slice(1));
  if (values['help'] === true) {
    print(helpOfVerb(noun, name, verb));
    return 0;
  }
  return verb.run(contextOf(), values, positionals);
}

function userName(): string | undefined {
  try { return os.userInfo().username; } catch { return undefined; } // an id without an entry
}

/** A reader that went (`| head`) is no error of ours. */
function toleratePipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error) => { if (codeOf(error) !== 'EPIPE') throw error; });
}

async function main(): Promise<void> {
  leaveEditor(process.env);
  toleratePipe(process.stdout);
  toleratePipe(process.stderr);
  const argv = process.argv.slice(2);
  const out = terminalOf(process.stdout, process.stderr, process.env, argv.includes('--json'));
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => { abort.abort(); });
  try {
    process.exitCode = await dispatch(argv, () => ({
      cwd: process.cwd(), env: process.env, home: os.homedir(), userName, ...clockOf(process.env), random: () => crypto().randomBytes(16).toString('hex'), pid: process.pid, signal: abort.signal, out,
    }), (text) => process.stdout.write(text + '\n'));
  } catch (error) {
    const failure = error instanceof Failure ? error
      // A disk that is full or refuses is a person's to mend, not a fault of ours.
      : codeOf(error) !== undefined ? new Failure('io', `${messageOf(error)}.`, 'Check the space and permissions of that path, then try again; an unfinished plan is finished by the next command.')
      : new Failure('internal', `A fault of Loopkeeper: ${error instanceof Error ? error.stack ?? error.message : String(error)}`, 'Nothing more was changed. Please report this with the lines above.');
    out.document({ error: { kind: failure.kind, message: failure.message, hint: failure.hint, ...(failure.details === undefined ? {} : { details: failure.details }) } });
    if (!out.json) {
      out.error(`${out.paint('red', 'error')}: ${failure.message}`);
      out.error(`  ${failure.hint}`);
    }
    process.exitCode = failure.exitCode;
  }
}

void main();
