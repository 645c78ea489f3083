import path from 'node:path';
import type { AgentView, FrameView, RunView, WorkflowLintReply, WorkflowListReply, WorkflowResetReply, WorkflowShowReply } from '../protocol/workflow';
import type { Terminal } from './output';
import { plain, plural, table } from './output';

const bold = (out: Terminal) => (row: number, _column: number, cell: string): string => (row === 0 ? out.paint('bold', cell) : cell);

function money(run: RunView): string {
  const spent = `$${run.costUsd.toFixed(2)}`;
  return run.budgetUsd === null ? `${spent}, no limit` : `${spent} of $${run.budgetUsd.toFixed(2)}`;
}

function agentRow(run: RunView, agent: AgentView, first: boolean): string[] {
  const stack = agent.depth === 0 ? '-' : `${String(agent.depth)}, returns to ${agent.returnsTo ?? ''}`;
  return [first ? run.id : '', first ? run.workflow : '', agent.name, agent.state, agent.status, stack, agent.session ?? 'none', first ? run.executionSentence : ''];
}

export function printList(out: Terminal, reply: WorkflowListReply, cwd: string): void {
  if (reply.directory === null) { out.line(`No .raymond at or above ${plain(cwd)}, up to the project's .git.`); return; }
  if (reply.runs.length === 0) { out.line(`No workflow runs in ${plain(reply.directory)}; raymond deletes the file of a run that has ended.`); return; }
  const rows = reply.runs.flatMap((run) => {
    if (run.problem !== undefined) return [[run.id, '', '', '', 'unreadable', '', '', run.problem]];
    return run.agents.length === 0 ? [[run.id, run.workflow, '-', '', '', '', '', run.executionSentence]] : run.agents.map((agent, index) => agentRow(run, agent, index === 0));
  });
  for (const line of table([['RUN', 'WORKFLOW', 'AGENT', 'AT', 'STATUS', 'STACK', 'SESSION', ''], ...rows], bold(out))) out.line(line);
  for (const run of reply.runs) for (const { sentence } of run.attention) out.line(`${out.paint('yellow', plain(run.id))}: ${plain(sentence)}`);
}

function sessionText(agent: AgentView): string {
  if (agent.session === null) return 'none; the next turn begins a fresh one';
  return agent.forks ? `${agent.session}, the caller's; the next turn forks it` : agent.session;
}

function printAgent(out: Terminal, agent: AgentView, stack: readonly FrameView[]): void {
  const line = (title: string, text: string): void => { out.line(`  ${title.padEnd(10)} ${plain(text)}`); };
  out.line(`${out.paint('bold', plain(agent.name))} at ${plain(agent.state)}${agent.status === 'active' ? '' : `, ${agent.status}`}`);
  line('session', sessionText(agent));
  line('directory', agent.directory ?? 'where the runner is started');
  if (agent.scope !== null) line('workflow', agent.scope);
  if (agent.taskFolder !== null) line('task', agent.taskFolder);
  line('input', agent.input === null ? 'none' : JSON.stringify(agent.input));
  if (agent.error !== null) line('error', `${agent.error.trim()}${agent.retries > 0 ? ` (${plural(agent.retries, 'try', 'tries')})` : ''}`);
  if (agent.ask) {
    line('asks', agent.ask.prompt);
    line('', `the answer goes to ${agent.ask.next}${agent.ask.since === null ? '' : `; asked ${agent.ask.since}`}${agent.ask.timeout === null ? '' : `; after ${agent.ask.timeout} to ${agent.ask.timeoutNext ?? '?'}`}`);
  }
  line('stack', stack.length === 0 ? 'empty; a result ends the agent' : `${plural(stack.length, 'frame')}, the next return first`);
  printStack(out, stack);
}

function printStack(out: Terminal, stack: readonly FrameView[]): void {
  const rows = stack.map((frame, index) => [String(index + 1), frame.returnsTo, frame.session ?? 'fresh session', frame.directory ?? 'directory as it is then', frame.scope ?? '']);
  for (const row of rows.length === 0 ? [] : table(rows)) out.line(`    ${row}`);
}

export function printShow(out: Terminal, reply: WorkflowShowReply): void {
  const { run } = reply;
  out.line(`${out.paint('bold', plain(run.id))}: ${plain(run.workflow)}, ${money(run)}${run.startedAt === null ? '' : `, started ${plain(run.startedAt)}`}`);
  out.line(`${plain(run.executionSentence)}${run.readOnly ? '; it belongs to raymond\'s daemon and is only shown' : ''}`);
  out.line(out.paint('dim', plain(run.path)));
  run.agents.forEach((agent, index) => {
    out.line();
    printAgent(out, agent, reply.stacks[index] ?? []);
    const states = reply.states[index] ?? [];
    if (states.length > 0) out.line(`  ${'states'.padEnd(10)} ${plain(states.length > 40 ? `${states.slice(0, 40).join(', ')} and ${String(states.length - 40)} more` : states.join(', '))}`);
  });
}

export function printReset(out: Terminal, reply: WorkflowResetReply, given: { agent: string | undefined; cd: string | undefined; input: string | undefined }): void {
  const { run, before, after, stack } = reply.reset;
  const [item] = reply.items;
  if (!item) return;
  const would = reply.dryRun ? 'would go' : 'went';
  const failed = item.errors.length > 0;
  for (const error of item.errors) out.error(`${plain(run)}: ${out.paint('red', 'error')}: ${plain(error.message)}`);
  if (!failed) {
    out.line(`${out.paint('bold', plain(run))}: ${plain(before.name)} ${would} from ${plain(before.state)} to ${plain(after.state)} with a fresh session${before.session === null ? '' : ` (was ${plain(before.session)})`}`);
    out.line(`  input: ${after.input === null ? 'none' : plain(JSON.stringify(after.input))}${before.input === null ? '' : `; ${plain(JSON.stringify(before.input))} is dropped`}`);
    if (after.directory !== before.directory) out.line(`  directory: ${plain(after.directory ?? '')}, was ${plain(before.directory ?? 'where the runner is started')}`);
    for (const kept of item.kept) out.line(out.paint('dim', `  stays: ${plain(kept.what)} (${plain(kept.why)})`));
    printStack(out, stack);
  }
  for (const notice of item.notices) out.line(`  ${out.paint('yellow', 'note')}: ${plain(notice.message)}`);
  if (failed) return;
  const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  const option = (name: string, value: string | undefined): string => (value === undefined ? '' : ` --${name} ${quoted(value)}`);
  out.line();
  out.line(out.paint('dim', reply.dryRun
    ? `Nothing was changed. To apply exactly this: loopkeeper workflow reset ${quoted(run)}${option('agent', given.agent)} --to ${quoted(after.state)}${option('cd', given.cd)}${option('input', given.input)} --expect ${reply.digest}`
    : `Go on with \`ray --resume ${quoted(run)}\`. To take it back: loopkeeper undo ${reply.plan}`));
}

export function printLint(out: Terminal, reply: WorkflowLintReply, cwd: string): void {
  const colour = { error: 'red', warning: 'yellow', info: 'cyan' } as const;
  for (const { file, line, column, severity, check, message } of reply.diagnostics) {
    const relative = path.relative(cwd, file);
    const name = relative === '' || relative.startsWith('..') ? file : relative;
    out.line(`${plain(name)}:${String(line)}:${String(column)}: ${out.paint(colour[severity], severity)}: ${plain(message)} ${out.paint('dim', `[${check}]`)}`);
  }
  const { error, warning, info } = reply.counts;
  out.line(`${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(info, 'note')}`);
}
