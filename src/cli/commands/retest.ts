import path from 'node:path';
import type { CliConfig } from '../../core/config/cliConfig';
import { Failure } from '../../core/disk/failure';
import { diskReader, isInside } from '../../core/disk/reader';
import type { Reader } from '../../core/disk/reader';
import { runPlan } from '../../core/plan/engine';
import { unfinishedPlans } from '../../core/plan/journal';
import { auditRetests } from '../../core/retest/auditStore';
import type { RetestCommand } from '../../core/retest/commands';
import { planCommand, planStart } from '../../core/retest/plans';
import type { RetestPlace, RetestPlan } from '../../core/retest/plans';
import { exportRetest, listRetests, previewWake, showRetest } from '../../core/retest/report';
import type { Message } from '../../protocol/message';
import type { RetestChangeReply, WakeReply } from '../../protocol/retest';
import { flag, planOptions, stateOptions, text, texts, type Command, type Context, type Option, type Values, type Verb } from '../command';
import { exitCodeOf, planReply, printWarnings } from '../planReply';
import { printable, printAudit, printChange, printList, printShow } from '../retestText';
import { actorOf, contextWarnings, loadConfig, runDefaults, stateStore } from '../state';

const usage = (message: string, verb: string): Failure => new Failure('usage', message, `See \`loopkeeper retest ${verb} --help\`.`, 2);

/** An option that has to be there and say something. */
function needed(values: Values, name: string, verb: string): string {
  const value = text(values, name);
  if (value === undefined || value.trim() === '') throw usage(`retest ${verb} needs --${name}.`, verb);
  return value;
}

/** A part of a command line as a person can paste it. */
const quoted = (part: string): string => (/^[\w./:=@%+-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`);

/** Runs one changing verb as a plan and prints what came of it. */
async function change(context: Context, values: Values, verb: string, line: string[], plan: (reader: Reader, place: RetestPlace) => RetestPlan): Promise<number> {
  const config = await loadConfig(context, values);
  const { stateRoot } = config;
  const user = actorOf(context);
  const log = config.eventLog.path;
  const place: RetestPlace = {
    stateRoot, ...(user === undefined ? {} : { user }),
    // A log that is kept elsewhere on purpose is held to its own folder.
    eventLog: config.eventLog.enabled ? { path: log, root: isInside(stateRoot, log) ? stateRoot : path.dirname(log) } : null,
  };
  const expect = text(values, 'expect');
  let planned: RetestPlan | undefined;
  const result = await runPlan({
    ...await runDefaults(context), store: stateStore(config), verb: `retest-${verb}`, dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    build: (reader) => (planned = plan(reader, place)).draft,
  });
  if (!planned) throw new Error('the engine made no plan');
  const reply: RetestChangeReply = { ...planReply(result, { stateRoot, warnings: contextWarnings(context) }), ...planned.meaning };
  context.out.document(reply);
  if (!context.out.json) {
    printWarnings(context.out, reply.warnings);
    printChange(context.out, reply, ['loopkeeper', 'retest', verb, ...line].map(quoted).join(' '));
  }
  return exitCodeOf(reply);
}

/** The time of what is appended. Whole seconds are written as such, so that a clock set by hand is found in the transcript as it was set. */
const nowOf = (context: Context): string => context.clock.now().replace('.000Z', 'Z');

/** What a read says besides: the clock, and a command that was stopped half-way, whose events may not all be there yet. */
function readWarnings(context: Context, config: CliConfig): Message[] {
  const stopped = unfinishedPlans(stateStore(config)).filter(({ plan }) => plan === undefined || plan.verb.startsWith('retest-'));
  return [...contextWarnings(context), ...stopped.map(({ id, plan }): Message => ({
    kind: 'unfinished-plan', message: `Loopkeeper was stopped during ${plan ? `\`${plan.verb.replace('-', ' ')}\` of ${plan.items.map(({ ref }) => ref).join(', ')}` : `the plan ${id}`}; the next retest command finishes it first.`,
  }))];
}

const idPosition = [{ name: 'ID' }];
const changeOptions = { ...planOptions, ...stateOptions };
const verdictOptions: Record<string, Option> = {
  status: { type: 'string', value: 'S', help: 'The verdict: fixed, still_open or inconclusive.' },
  rationale: { type: 'string', value: 'TEXT', help: 'Why.' },
  actor: { type: 'string', value: 'WHO', help: 'operator (default), or agent when it is the agent that decides.', choices: ['operator', 'agent'] },
  ...changeOptions,
};

function verdictVerb(name: 'conclude' | 'adjudicate', summary: string, example: string): Verb {
  return {
    summary, usage: 'ID --status S --rationale TEXT [--actor agent] [--dry-run] [--expect DIGEST]', options: verdictOptions, positionals: idPosition,
    examples: [`loopkeeper retest ${name} S-1 ${example}`],
    see: 'Taken back with `loopkeeper retest reopen`: the verdict is then withdrawn and stays in the history.',
    run(context, values, [id = '']) {
      const status = needed(values, 'status', name);
      const rationale = needed(values, 'rationale', name);
      const actor = text(values, 'actor');
      if (actor !== undefined && actor !== 'agent' && actor !== 'operator') throw usage(`--actor is operator or agent, not ${JSON.stringify(actor.slice(0, 80))}.`, name);
      const command: RetestCommand = { name, args: { status, rationale, ...(actor === undefined ? {} : { actor }) } };
      return change(context, values, name, [id, '--status', status, '--rationale', rationale, ...(actor === undefined ? [] : ['--actor', actor])],
        (reader, place) => planCommand(reader, place, id, command, nowOf(context)));
    },
  };
}

async function wake(context: Context, values: Values, id: string): Promise<number> {
  if (!flag(values, 'dry-run')) {
    throw new Failure('not-available', 'This version of Loopkeeper does not wake agents yet.', 'Add --dry-run to see the prompt that an agent would get.', 2);
  }
  const config = await loadConfig(context, values);
  const { session, decision } = previewWake(diskReader, config.stateRoot, id, text(values, 'message'), nowOf(context));
  if (!decision.after) throw new Error('a decision without a state');
  const reply: WakeReply = {
    verb: 'retest-wake', dryRun: true, session: id, finding: session.facts.finding, prompt: decision.prompt ?? '', appended: decision.appended, after: decision.after, warnings: readWarnings(context, config),
  };
  context.out.document(reply);
  context.out.line(printable(reply.prompt));
  return 0;
}

export const command: Command = {
  summary: 'retest sessions: the record of each, and its verdict',
  verbs: {
    list: {
      summary: 'List the retest sessions and what each finding shows.',
      usage: '', options: stateOptions, examples: ['loopkeeper retest list', 'loopkeeper retest list --json'],
      async run(context, values) {
        const config = await loadConfig(context, values);
        const reply = listRetests(diskReader, config.stateRoot);
        reply.warnings.push(...readWarnings(context, config));
        context.out.document(reply);
        if (!context.out.json) { printWarnings(context.out, reply.warnings); printList(context.out, reply); }
        return 0;
      },
    },
    start: {
      summary: 'Begin a session on a finding: idle, no agent is started.',
      usage: '--finding ID --goal STEP… --scope ENDPOINT… [--dry-run] [--expect DIGEST]',
      options: {
        finding: { type: 'string', value: 'ID', help: 'The finding to test again.' },
        goal: { type: 'string', value: 'STEP', multiple: true, help: 'A step of the plan; give it again for each.' },
        scope: { type: 'string', value: 'ENDPOINT', multiple: true, help: 'An endpoint that may be tested; give it again for each.' },
        ...changeOptions,
      },
      examples: ["loopkeeper retest start --finding F-12 --goal 'Replay the login bypass' --scope http://lab:3000/rest/user/login"],
      run(context, values) {
        const finding = needed(values, 'finding', 'start');
        if (/[\u0000-\u001f\u007f]/.test(finding) || finding.length > 200) throw usage('A finding id is one line of at most 200 characters.', 'start');
        const goal = texts(values, 'goal');
        const scope = texts(values, 'scope');
        for (const [name, entries] of [['goal', goal], ['scope', scope]] as const) {
          if (entries.length === 0 || entries.some((entry) => entry.trim() === '')) throw usage(`retest start needs --${name}, and it has to say something.`, 'start');
        }
        return change(context, values, 'start', ['--finding', finding, ...goal.flatMap((step) => ['--goal', step]), ...scope.flatMap((endpoint) => ['--scope', endpoint])],
          (reader, place) => planStart(reader, place, { finding, goal, scope }, nowOf(context)));
      },
    },
    show: {
      summary: 'Show a session: status, verdict, history with what was withdrawn, goal, scope.',
      usage: 'ID', options: stateOptions, positionals: idPosition, examples: ['loopkeeper retest show S-1', 'loopkeeper retest show S-1 --json'],
      async run(context, values, [id = '']) {
        const config = await loadConfig(context, values);
        const reply = showRetest(diskReader, config.stateRoot, id);
        reply.warnings.push(...readWarnings(context, config));
        context.out.document(reply);
        if (!context.out.json) { printWarnings(context.out, reply.warnings); printShow(context.out, reply); }
        return 0;
      },
    },
    wake: {
      summary: 'Show the prompt that an agent would be woken with (only --dry-run yet).',
      usage: 'ID [--message TEXT] --dry-run',
      options: {
        message: { type: 'string', value: 'TEXT', help: 'What to tell the agent.' },
        'dry-run': { type: 'boolean', help: 'Print the prompt and change nothing. Waking an agent comes with a later version; without this it is refused.' },
        ...stateOptions,
      },
      positionals: idPosition, examples: ["loopkeeper retest wake S-1 --message 'Try the guest account' --dry-run"],
      run: (context, values, [id = '']) => wake(context, values, id),
    },
    message: {
      summary: 'Record a message to the agent; an idle session then counts as working.',
      usage: 'ID TEXT [--dry-run] [--expect DIGEST]', options: changeOptions, positionals: [...idPosition, { name: 'TEXT' }],
      examples: ["loopkeeper retest message S-1 'Use the guest account'"],
      see: 'This version starts no agent: of an idle session it prints the prompt to start one with.',
      run(context, values, [id = '', said = '']) {
        if (said.trim() === '') throw usage('The message is empty.', 'message');
        return change(context, values, 'message', [id, said], (reader, place) => planCommand(reader, place, id, { name: 'message', args: { text: said } }, nowOf(context)));
      },
    },
    conclude: verdictVerb('conclude', 'Conclude a live session with a verdict.', "--status fixed --rationale 'The token is no longer returned'"),
    adjudicate: verdictVerb('adjudicate', 'Accept or override the verdict of a concluded session; the new one supersedes it.', "--status still_open --rationale 'The basket still leaks'"),
    reopen: {
      summary: 'Withdraw the verdict of a concluded session and go on: idle, goal and scope kept.',
      usage: 'ID [--reason TEXT] [--dry-run] [--expect DIGEST]',
      options: { reason: { type: 'string', value: 'TEXT', help: 'Why the verdict is withdrawn.' }, ...changeOptions }, positionals: idPosition,
      examples: ["loopkeeper retest reopen S-1 --reason 'The basket was never tried'"],
      see: 'The withdrawn verdict stays in the transcript and in the history. There is no undo: a transcript never shrinks.',
      run(context, values, [id = '']) {
        const given = text(values, 'reason');
        const reason = given === undefined || given.trim() === '' ? {} : { reason: given };
        return change(context, values, 'reopen', [id, ...Object.values(reason).flatMap((words) => ['--reason', words])],
          (reader, place) => planCommand(reader, place, id, { name: 'reopen', args: reason }, nowOf(context)));
      },
    },
    end: {
      summary: 'End a live session without a verdict; an ended session cannot be reopened.',
      usage: 'ID [--dry-run] [--expect DIGEST]', options: changeOptions, positionals: idPosition, examples: ['loopkeeper retest end S-1'],
      run: (context, values, [id = '']) => change(context, values, 'end', [id], (reader, place) => planCommand(reader, place, id, { name: 'end', args: {} }, nowOf(context))),
    },
    audit: {
      summary: 'Recompute every session and name where the stored verdicts differ; exit 1 if they do.',
      usage: '', options: stateOptions, examples: ['loopkeeper retest audit'],
      async run(context, values) {
        const config = await loadConfig(context, values);
        const reply = auditRetests(diskReader, config.stateRoot);
        reply.warnings.push(...readWarnings(context, config));
        context.out.document(reply);
        if (!context.out.json) { printWarnings(context.out, reply.warnings); printAudit(context.out, reply); }
        return reply.ok ? 0 : 1;
      },
    },
    export: {
      summary: 'Print transcript and projection as one JSON document, withdrawn verdicts in it.',
      usage: 'ID', options: stateOptions, positionals: idPosition, examples: ['loopkeeper retest export S-1 > S-1.json'],
      async run(context, values, [id = '']) {
        const config = await loadConfig(context, values);
        const reply = exportRetest(diskReader, config.stateRoot, id, nowOf(context));
        reply.warnings.push(...readWarnings(context, config));
        context.out.document(reply);
        context.out.line(JSON.stringify(reply, null, 2));
        return 0;
      },
    },
  },
};
