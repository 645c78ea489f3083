import path from 'node:path';
import { parseSetting, policySettings, type PolicyKey, type PolicyValue } from '../core/config/harnessConfig';
import { shownPath } from '../core/context/artifacts';
import { actionAt, changeOverride, changePolicyFile, readPolicy, type FileChange, type Policy } from '../core/context/policy';
import { planInit, planSet } from '../core/context/policyPlan';
import { isPhase, phases } from '../core/context/phases';
import { Failure } from '../core/disk/failure';
import { diskReader, isInside } from '../core/disk/reader';
import { runPlan, type RunResult } from '../core/plan/engine';
import { isLive, isSessionFileName, readSession } from '../core/workItems/sessionRecord';
import type { ContextInitReply, ContextSetReply, ContextShowReply } from '../protocol/context';
import type { CliConfig } from '../core/config/cliConfig';
import { flag, planOptions, stateOptions, text, type Context, type Values, type Verb } from './command';
import { artifactsOf, eventPlace, folderOf, folderOption, itemOf, itemOptions, type ContextItem } from './contextItem';
import { plain, table } from './output';
import { planReply, printWarnings } from './planReply';
import { actorOf, contextWarnings, loadConfig, runDefaults, stateStore } from './state';

const names: Record<PolicyKey, string> = { enabled: 'Policy', phaseBoundary: 'Phase boundary', taskBoundary: 'Task boundary', midTask: 'Mid-task' };

function shownValue(key: PolicyKey, value: PolicyValue): string {
  return key === 'enabled' ? (value === true ? 'on' : 'off') : String(value);
}

function applies(policy: Policy): ContextShowReply['applies'] {
  if (!policy.known) return null;
  const midTask = actionAt(policy, 'mid-task');
  return { phase: actionAt(policy, 'phase'), task: actionAt(policy, 'task'), midTask: midTask === 'clear' ? 'off' : midTask };
}

async function show(context: Context, values: Values): Promise<number> {
  const item = text(values, 'work-item') === undefined ? undefined : await itemOf(context, values);
  const artifacts = item && artifactsOf(diskReader, item);
  const { policy, repository } = readPolicy(diskReader, item?.folder.checkout ?? folderOf(context, values), artifacts);
  const reply: ContextShowReply = {
    verb: 'context-show', folder: repository, file: policy.file, known: policy.known, values: policy.values, applies: applies(policy), problems: policy.problems,
    item: item ? { ref: item.ref.ref, specs: item.folder.directory } : null, warnings: [...contextWarnings(context), ...(item?.warnings ?? [])],
  };
  context.out.document(reply);
  if (!context.out.json) printShow(context, reply);
  return policy.known ? 0 : 1;
}

function printShow({ out }: Context, reply: ContextShowReply): void {
  printWarnings(out, reply.warnings);
  out.line(`Context policy of ${plain(reply.item ? reply.item.ref : reply.folder)}`);
  const place = (value: ContextShowReply['values'][number]) => value.file === null ? 'default' : `${path.relative(reply.folder, value.file) || value.file}:${String(value.line)}`;
  for (const line of table(reply.values.map((value) => [`  ${names[value.key]}`, shownValue(value.key, value.value), place(value)]), (_row, column, cell) => column === 1 ? out.paint('bold', cell) : cell)) out.line(line);
  for (const problem of reply.problems) out.error(`${out.paint('red', 'error')}: ${plain(`${problem.file}:${String(problem.line)}: ${problem.message}`)}`);
  if (reply.problems.length > 0) out.line('The policy is unknown; nothing acts on it until that is mended.');
  else if (reply.applies && reply.values.some((value) => value.key === 'enabled' && value.value === false)) out.line('It is off: the window is left to the harness.');
}

export const showVerb: Verb = {
  summary: 'Show each value of the context policy and the file and line it comes from.',
  usage: '[--work-item REF] [--folder DIR] [--json]',
  options: { ...itemOptions, ...folderOption, ...stateOptions },
  examples: ['loopkeeper context show', 'loopkeeper context show --work-item github:octo/repo#15'],
  run: show,
};

/** Live items whose checkout is another folder with a policy file of its own: a change here does not reach them. */
function otherCheckouts(config: CliConfig, repository: string): ContextSetReply['otherCheckouts'] {
  return diskReader.list(config.registryDir).filter(isSessionFileName).flatMap((name) => {
    const session = readSession(diskReader, path.join(config.registryDir, name));
    if (session.kind !== 'record' || !isLive(session.record) || !path.isAbsolute(session.record.cwd) || isInside(repository, session.record.cwd)) return [];
    const { policy, repository: folder } = readPolicy(diskReader, session.record.cwd);
    return policy.file === null ? [] : [{ ref: session.record.ref.ref, folder }];
  });
}

async function set(context: Context, values: Values, [keyText = '', valueText = '']: string[]): Promise<number> {
  const { key, value } = parseSetting(keyText, valueText);
  const item = text(values, 'work-item') === undefined ? undefined : await itemOf(context, values);
  if (item && flag(values, 'create')) throw new Failure('usage', '--create makes a policy file; the values of a work item stand in its spec files.', 'Leave out --create or --work-item.', 2);
  const config = item?.config ?? await loadConfig(context, values);
  const start = item?.folder.checkout ?? folderOf(context, values);
  const expect = text(values, 'expect');
  let change: FileChange | undefined;
  let was: PolicyValue | undefined;
  const { repository } = readPolicy(diskReader, start);
  const result = await runPlan({
    ...await runDefaults(context, config), store: stateStore(config), verb: 'context-set', dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    build: (reader) => {
      const artifacts = item && artifactsOf(reader, item);
      was = readPolicy(reader, start, artifacts).policy.values.find((each) => each.key === key)?.value;
      change = artifacts ? changeOverride(reader, artifacts, key, value) : changePolicyFile(reader, start, key, value, flag(values, 'create'));
      return planSet({ item: item?.ref.ref ?? repository, isWorkItem: item !== undefined, repository, change, key, value, was, actor: actorOf(context), eventLog: eventPlace(config) });
    },
  });
  if (!change) throw new Error('no change was planned');
  const reply: ContextSetReply = {
    ...planReply(result, { stateRoot: config.stateRoot, warnings: [...contextWarnings(context), ...(item?.warnings ?? [])] }),
    set: { key, value, was: was ?? null, file: change.file, line: change.line, created: change.before === undefined, changed: change.before !== change.after },
    otherCheckouts: item ? [] : otherCheckouts(config, repository),
  };
  context.out.document(reply);
  if (!context.out.json) printSet(context, reply, repository);
  return reply.items.every((each) => each.errors.length === 0) ? 0 : 1;
}

function printSet({ out }: Context, reply: ContextSetReply, repository: string): void {
  printWarnings(out, reply.warnings);
  const { set: done } = reply;
  const place = `${path.relative(repository, done.file) || done.file}:${String(done.line)}`;
  const failed = reply.items.flatMap((item) => item.errors);
  for (const error of failed) out.error(`${out.paint('red', 'error')}: ${plain(error.message)}`);
  if (failed.length > 0) return;
  if (!done.changed) out.line(`${names[done.key]} is ${shownValue(done.key, done.value)} already (${plain(place)}).`);
  else {
    const from = done.was === null ? '' : `, from ${shownValue(done.key, done.was)}`;
    out.line(`${names[done.key]}: ${reply.dryRun ? 'would be set' : 'set'} to ${out.paint('bold', shownValue(done.key, done.value))}${from} (${plain(place)}${done.created ? ', a new file' : ''}).`);
    out.line(out.paint('dim', reply.dryRun ? `Nothing was changed. To apply exactly this, add --expect ${reply.digest}` : `To take it back: loopkeeper undo ${reply.plan}`));
  }
  if (reply.otherCheckouts.length > 0) out.line(`${String(reply.otherCheckouts.length)} live work ${reply.otherCheckouts.length === 1 ? 'item has its' : 'items have their'} own checkout and ${reply.otherCheckouts.length === 1 ? 'keeps its' : 'keep their'} value: ${reply.otherCheckouts.map((other) => plain(other.ref)).join(', ')}`);
}

export const setVerb: Verb = {
  summary: 'Change one value of the context policy, and nothing else in its file.',
  usage: 'KEY VALUE [--work-item REF | --folder DIR] [--create] [--dry-run] [--expect DIGEST] [--json]',
  options: { ...itemOptions, ...folderOption, create: { type: 'boolean', help: 'Write a new policy file where there is none.' }, ...planOptions, ...stateOptions },
  positionals: [{ name: 'KEY' }, { name: 'VALUE' }],
  examples: [
    `loopkeeper context set enabled false`, 'loopkeeper context set taskBoundary clear --dry-run', "loopkeeper context set phaseBoundary off --work-item 'github:octo/repo#15'",
    `# KEY: ${Object.entries(policySettings).map(([key, { values }]) => `${key} (${values.map(String).join(', ')})`).join('; ')}`,
  ],
  run: set,
};

async function init(context: Context, values: Values): Promise<number> {
  if (text(values, 'work-item') === undefined) throw new Failure('usage', 'Name the work item with --work-item.', 'See `loopkeeper context init --help`.', 2);
  const phase = text(values, 'phase');
  if (phase !== undefined && !isPhase(phase)) throw new Failure('usage', `${JSON.stringify(phase.slice(0, 60))} is no phase.`, `Phases: ${phases.join(', ')}.`, 2);
  const item: ContextItem = await itemOf(context, values);
  const expect = text(values, 'expect');
  let file = '';
  const result: RunResult = await runPlan({
    ...await runDefaults(context, item.config), store: stateStore(item.config), verb: 'context-init', dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    build: (reader) => {
      const draft = planInit(artifactsOf(reader, item, true), item.ref.ref, phase, actorOf(context), eventPlace(item.config));
      file = path.join(item.folder.directory, 'execution-log.md');
      return draft;
    },
  });
  const created = result.plan.steps.length > 0;
  const reply: ContextInitReply = { ...planReply(result, { stateRoot: item.config.stateRoot, warnings: [...contextWarnings(context), ...item.warnings] }), file, created };
  context.out.document(reply);
  if (!context.out.json) {
    printWarnings(context.out, reply.warnings);
    const shown = plain(shownPath(item.folder, file));
    for (const error of reply.items.flatMap((each) => each.errors)) context.out.error(`${context.out.paint('red', 'error')}: ${plain(error.message)}`);
    if (!created) context.out.line(`${shown} is there already; it is left as it is.`);
    else if (reply.dryRun) context.out.line(`${shown} would be written. Nothing was changed.`);
    else if (reply.items.every((each) => each.errors.length === 0)) context.out.line(`${shown} is laid down: the resume anchor for context resets. To take it back: loopkeeper undo ${reply.plan}`);
  }
  return reply.items.every((each) => each.errors.length === 0) ? 0 : 1;
}

export const initVerb: Verb = {
  summary: "Lay down an execution log in the item's spec folder: the resume anchor for context resets.",
  usage: '--work-item REF [--phase PHASE] [--spec NAME] [--folder DIR] [--dry-run] [--expect DIGEST] [--json]',
  options: { ...itemOptions, phase: { type: 'string', value: 'PHASE', help: 'The phase the work is in. Default: that of its graph state, else not-started.' }, ...folderOption, ...planOptions, ...stateOptions },
  examples: ["loopkeeper context init --work-item 'github:octo/repo#15' --phase implementation"],
  run: init,
};
