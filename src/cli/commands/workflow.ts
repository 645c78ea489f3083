import path from 'node:path';
import { Failure } from '../../core/disk/failure';
import { diskReader } from '../../core/disk/reader';
import { runPlan } from '../../core/plan/engine';
import { drawWorkflow } from '../../core/workflow/diagram';
import { findRaymondProcesses } from '../../core/workflow/execution';
import { GUIDE } from '../../core/workflow/guide';
import { atLevel, lintWorkflow } from '../../core/workflow/lint';
import { planRunReset } from '../../core/workflow/resetRun';
import { findRaymond, findRunFile, requireRaymond } from '../../core/workflow/runs';
import { openWorkflow, statesToGoTo, type Platform } from '../../core/workflow/scope';
import { listRuns, readRun, runView, stackView, type Surroundings } from '../../core/workflow/view';
import type { AgentReset, WorkflowDiagramReply, WorkflowGuideReply, WorkflowLintReply, WorkflowListReply, WorkflowResetReply, WorkflowShowReply } from '../../protocol/workflow';
import { flag, planOptions, stateOptions, text, type Command, type Context, type Option, type Values } from '../command';
import { exitCodeOf, planReply, printWarnings } from '../planReply';
import { actorOf, contextWarnings, runDefaults } from '../state';
import { printLint, printList, printReset, printShow } from '../workflowText';

/** `--no-exec` is taken by every verb; looking at runs starts no other program anyway. */
const options = { 'no-exec': stateOptions['no-exec'] } satisfies Record<string, Option>;
const windows = { type: 'boolean', help: 'Look at the workflow as it runs on Windows: .ps1 and .bat instead of .sh.' } satisfies Option;
const runPosition = [{ name: 'RUN' }];
const pathPosition = [{ name: 'PATH' }];

function platformOf(values?: Values): Platform {
  return (values && flag(values, 'windows')) || process.platform === 'win32' ? 'windows' : 'posix';
}

/** Ages of files and processes are measured by the real clock: LOOPKEEPER_NOW does not make a run older. */
function around(context: Context, raymond: string): Surroundings {
  const now = Date.parse(context.clock.real());
  return { raymond, processes: findRaymondProcesses(now), now };
}

/** A path as it was typed, absolute; an address stays as it is, to be refused with what to do instead. */
function targetOf(context: Context, typed: string): string {
  return /^https?:/i.test(typed) ? typed : path.resolve(context.cwd, typed);
}

function list(context: Context): number {
  const raymond = findRaymond(diskReader, context.cwd);
  const runs = raymond === undefined ? [] : listRuns(diskReader, around(context, raymond));
  const reply: WorkflowListReply = { verb: 'workflow-list', directory: raymond ?? null, runs, warnings: contextWarnings(context) };
  context.out.document(reply);
  if (!context.out.json) { printWarnings(context.out, reply.warnings); printList(context.out, reply, context.cwd); }
  return 0;
}

function show(context: Context, id: string): number {
  const raymond = requireRaymond(diskReader, context.cwd);
  const file = findRunFile(diskReader, raymond, id);
  const run = readRun(diskReader, file);
  const reply: WorkflowShowReply = {
    verb: 'workflow-show', directory: raymond, run: runView(file, run, around(context, raymond)), stacks: run.agents.map(stackView),
    states: run.agents.map((agent) => statesToGoTo(diskReader, agent.scope_dir || run.scope_dir, platformOf())), warnings: contextWarnings(context),
  };
  context.out.document(reply);
  if (!context.out.json) { printWarnings(context.out, reply.warnings); printShow(context.out, reply); }
  return 0;
}

async function reset(context: Context, values: Values, id: string): Promise<number> {
  const raymond = requireRaymond(diskReader, context.cwd);
  const to = text(values, 'to');
  if (to === undefined || to === '') throw new Failure('usage', 'workflow reset needs --to: the state to go to.', 'See `loopkeeper workflow reset --help`.', 2);
  const [agent, cd, input, expect, actor] = [text(values, 'agent'), text(values, 'cd'), text(values, 'input'), text(values, 'expect'), actorOf(context)];
  const callerSession = context.env['CLAUDE_CODE_SESSION_ID'];
  let meaning: AgentReset | undefined;
  const result = await runPlan({
    ...await runDefaults(context), store: { directory: path.join(raymond, 'loopkeeper'), root: raymond }, verb: 'workflow-reset', dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    build(reader) {
      const plan = planRunReset(reader, {
        run: id, to, cwd: context.cwd, platform: platformOf(), ...(agent === undefined ? {} : { agent }), ...(cd === undefined ? {} : { cd }),
        ...(input === undefined ? {} : { input }), ...(actor === undefined ? {} : { actor }),
        ...(callerSession ? { callerSession } : {}),
      }, around(context, raymond));
      meaning = plan.meaning;
      return plan.draft;
    },
  });
  if (!meaning) throw new Error('a plan without a meaning');
  const reply: WorkflowResetReply = { ...planReply(result, { warnings: contextWarnings(context) }), reset: meaning };
  context.out.document(reply);
  if (!context.out.json) { printWarnings(context.out, reply.warnings); printReset(context.out, reply, { agent, cd, input }); }
  return exitCodeOf(reply);
}

function lint(context: Context, values: Values, typed: string): number {
  const workflow = targetOf(context, typed);
  const all = lintWorkflow(diskReader, workflow, platformOf(values));
  const count = (severity: string): number => all.filter((diagnostic) => diagnostic.severity === severity).length;
  const reply: WorkflowLintReply = {
    verb: 'workflow-lint', workflow, diagnostics: atLevel(all, text(values, 'level') ?? 'info'),
    counts: { error: count('error'), warning: count('warning'), info: count('info') }, warnings: contextWarnings(context),
  };
  context.out.document(reply);
  if (!context.out.json) { printWarnings(context.out, reply.warnings); printLint(context.out, reply, context.cwd); }
  return reply.counts.error > 0 ? 1 : 0;
}

function diagram(context: Context, values: Values, typed: string): number {
  const workflow = targetOf(context, typed);
  const { scope, start } = openWorkflow(diskReader, workflow, platformOf(values));
  const reply: WorkflowDiagramReply = { verb: 'workflow-diagram', workflow, mermaid: drawWorkflow(scope, platformOf(values), start), warnings: contextWarnings(context) };
  context.out.document(reply);
  context.out.line(reply.mermaid.trimEnd());
  return 0;
}

function guide(context: Context): number {
  const reply: WorkflowGuideReply = { verb: 'workflow-guide', text: GUIDE, warnings: contextWarnings(context) };
  context.out.document(reply);
  context.out.line(reply.text.trimEnd());
  return 0;
}

export const command: Command = {
  summary: 'workflow runs on disk, raymond\'s own too, and the workflows they follow',
  verbs: {
    list: {
      summary: 'List the runs: where each agent is, and how deep its return stack.',
      usage: '', options, examples: ['loopkeeper workflow list', 'loopkeeper workflow list --json'],
      see: 'The .raymond directory is searched upward to the project\'s .git. Runs of raymond\'s daemon are shown and never changed.',
      run: (context) => Promise.resolve(list(context)),
    },
    show: {
      summary: 'Show a run: agents, state, session, directory, the stack from top to bottom, cost, input, question.',
      usage: 'RUN', options, positionals: runPosition, examples: ['loopkeeper workflow show nightly', 'loopkeeper workflow show nightly --json'],
      run: (context, _values, [id = '']) => Promise.resolve(show(context, id)),
    },
    reset: {
      summary: 'Send an agent of a stopped run to a state with a fresh session; its return stack stays.',
      usage: 'RUN [--agent NAME] --to STATE [--cd DIR] [--input TEXT] [--dry-run] [--expect DIGEST]',
      options: {
        agent: { type: 'string', value: 'NAME', help: 'Which agent; needed where the run has several.' },
        to: { type: 'string', value: 'STATE', help: 'The state to go to: REVIEW, or REVIEW.md.' },
        cd: { type: 'string', value: 'DIR', help: 'The directory to go on in; relative to the one the agent is in.' },
        input: { type: 'string', value: 'TEXT', help: 'What the state finds as its input. The input that waited is dropped.' },
        ...planOptions, ...options,
      },
      positionals: runPosition,
      examples: ['loopkeeper workflow reset nightly --to LOOP --dry-run', "loopkeeper workflow reset nightly --agent main_worker1 --to LOOP --input 'round 3'"],
      see: 'Refused while the run is being executed. `loopkeeper undo PLAN` puts the state file back byte for byte. Go on with `ray --resume RUN`.',
      run: (context, values, [id = '']) => reset(context, values, id),
    },
    lint: {
      summary: 'Check a workflow without running it: what fails, what grows without end, what never returns.',
      usage: 'PATH [--level LEVEL] [--windows]',
      options: { level: { type: 'string', value: 'LEVEL', choices: ['error', 'warning', 'info'], help: 'Show only this severity and worse.' }, windows, ...options },
      positionals: pathPosition, examples: ['loopkeeper workflow lint workflows/review', 'loopkeeper workflow lint review.yaml --level warning --json'],
      see: 'PATH is a folder of states, a YAML workflow, or one state to start at. Exit 1 when there is an error.',
      run: (context, values, [target = '']) => Promise.resolve(lint(context, values, target)),
    },
    diagram: {
      summary: 'Print a workflow as a Mermaid flowchart, returns out of loops with resets included.',
      usage: 'PATH [--windows]', options: { windows, ...options }, positionals: pathPosition, examples: ['loopkeeper workflow diagram workflows/review > review.mmd'],
      run: (context, values, [target = '']) => Promise.resolve(diagram(context, values, target)),
    },
    guide: {
      summary: 'What authors of workflows need to know: what each tag does to session, stack and directory.',
      usage: '', options, examples: ['loopkeeper workflow guide'],
      run: (context) => Promise.resolve(guide(context)),
    },
  },
};
