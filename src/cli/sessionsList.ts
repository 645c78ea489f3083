import fs from 'node:fs';
import { Failure } from '../core/disk/failure';
import { diskReader } from '../core/disk/reader';
import type { CliConfig } from '../core/config/cliConfig';
import { openQuestions, type Question } from '../core/events/eventLog';
import { terminalOpenCommand } from '../core/harness/terminal';
import { inspectTerminals } from '../core/harness/tmux';
import { unfinishedPlans } from '../core/plan/journal';
import { listReply } from '../core/sessions/list';
import { inspectItem, showReply } from '../core/sessions/show';
import { channelBindings } from '../core/workItems/channels';
import { parseRef } from '../core/workItems/ref';
import { snapshotAll, snapshotItem, type ItemSnapshot } from '../core/workItems/snapshot';
import type { ItemView, ListReply, ShowReply } from '../protocol/sessions';
import { flag, stateOptions, text, type Context, type Option, type Values, type Verb } from './command';
import { plain, plural, table, type Style, type Terminal } from './output';
import { printWarnings } from './planReply';
import { contextWarnings, gitOf, loadConfig, stateStore, tmuxOf } from './state';
import { workText } from './workText';

/** Who waits for an answer, by ref; a log that cannot be read tells nothing. */
function questionsOf(config: CliConfig): ReadonlyMap<string, Question> {
  try {
    return openQuestions(config.eventLog.path);
  } catch (error) {
    if (error instanceof Failure) return new Map();
    throw error;
  }
}

/** By ref: when a plan of it was begun that is not finished. */
function unfinishedItems(config: CliConfig): ReadonlyMap<string, string> {
  return new Map(unfinishedPlans(stateStore(config)).flatMap(({ plan }) => (plan ? plan.items.map((item): [string, string] => [item.ref, plan.createdAt]) : [])));
}

/** The list as `sessions list` and `status` use it. Starts no program. */
export function loadList(context: Context, config: CliConfig): ListReply {
  return listReply(diskReader, { config, snapshot: snapshotAll(diskReader, config), questions: questionsOf(config), unfinished: unfinishedItems(config), warnings: contextWarnings(context) });
}

const stateStyles: Partial<Record<ItemView['state'], Style>> = { live: 'green', paused: 'yellow', armed: 'cyan', unreadable: 'red', collided: 'red' };

/** Who and when, in few words. */
function controlText(item: ItemView): string {
  return item.control ? `${item.control.command} by ${item.control.actor || item.control.source}` : '-';
}

function printList(out: Terminal, reply: ListReply): void {
  printWarnings(out, reply.warnings);
  if (reply.items.length === 0) { out.line(`No work items are remembered at ${plain(reply.stateRoot)}.`); return; }
  const rows = reply.items.map((item) => [item.ref, item.state + (item.armed && item.state !== 'armed' ? ', armed' : ''), item.session?.harness ?? '-', controlText(item), item.lastActivity ?? '-', item.title ?? '']);
  const lines = table([['WORK ITEM', 'STATE', 'HARNESS', 'CONTROL', 'LAST ACTIVITY', 'TITLE'], ...rows], (row, column, cell) => {
    if (row === 0) return out.paint('bold', cell);
    const style = stateStyles[reply.items[row - 1]?.state ?? 'closed'];
    return column === 1 && style ? out.paint(style, cell) : cell;
  });
  for (const line of lines) out.line(line);
  const needing = reply.items.filter((item) => item.attention.length > 0);
  if (needing.length > 0) {
    out.line();
    out.line(out.paint('bold', `${plural(needing.length, 'item')} ${needing.length === 1 ? 'needs' : 'need'} a person:`));
    for (const { ref, attention } of needing) for (const one of attention) out.line(`  ${plain(ref)}: ${plain(one.sentence)}${one.command === '' ? '' : out.paint('dim', `  ${plain(one.command)}`)}`);
  }
}

export const listVerb: Verb = {
  summary: 'Show what is remembered of every work item, what needs a person first.',
  usage: '[--status STATE] [--config PATH] [--json]',
  options: { status: { type: 'string', value: 'STATE', help: 'Only items in this state.', choices: ['live', 'paused', 'armed', 'closed', 'remembered', 'unreadable', 'collided'] }, ...stateOptions },
  examples: ['loopkeeper sessions list', 'loopkeeper sessions list --status live --json'],
  async run(context, values) {
    const status = text(values, 'status');
    const choices: readonly string[] = (listVerb.options['status'] as Option).choices ?? [];
    if (status !== undefined && !choices.includes(status)) throw new Failure('usage', `${JSON.stringify(status.slice(0, 40))} is no state.`, `It is one of ${choices.join(', ')}.`, 2);
    const reply = loadList(context, await loadConfig(context, values));
    if (status !== undefined) reply.items = reply.items.filter((item) => item.state === status);
    context.out.document(reply);
    if (!context.out.json) printList(context.out, reply);
    return 0;
  },
};

/** What tmux says of the terminals of an item and its pull requests; unknown where it may not be asked or cannot answer. */
async function terminalsOf(context: Context, item: ItemSnapshot, mayExecute: boolean): Promise<ShowReply['terminals']> {
  const record = item.session.kind === 'record' && item.collisions.length === 0 ? item.session.record : undefined;
  const named = record ? [record, ...record.pullRequests].filter((endpoint) => endpoint.terminal !== '') : [];
  if (named.length === 0) return [];
  const tmux = tmuxOf(context);
  const inspection = mayExecute ? await inspectTerminals(named, tmux, { signal: context.signal }) : undefined;
  return named.map(({ ref, terminal }) => {
    const found = inspection?.terminals.get(terminal);
    const state = found?.state ?? 'unknown';
    const there = state === 'live' || state === 'dead';
    return { ref: ref.ref, terminal, state, command: found?.panes.find((pane) => !pane.dead)?.command ?? null, open: there ? terminalOpenCommand(terminal, tmux) : null };
  });
}

function printShow(out: Terminal, reply: ShowReply): void {
  printWarnings(out, reply.warnings);
  const { item } = reply;
  const row = (name: string, value: string | undefined | null): void => { if (value !== undefined && value !== null && value !== '') out.line(`${out.paint('dim', name.padEnd(14))} ${plain(value)}`); };
  out.line(`${out.paint('bold', plain(item.ref))}  ${item.state}${item.title === undefined ? '' : `  ${plain(item.title)}`}`);
  row('url', item.url);
  row('problem', item.problem);
  if (item.session) {
    row('session', `${item.session.harness} ${item.session.sessionId}, ${item.session.status}, since ${item.session.createdAt || 'unknown'}`);
    row('directory', item.session.cwd);
    for (const pull of item.session.pullRequests) row('pull request', `${pull.ref}, ${pull.status}`);
  }
  for (const terminal of reply.terminals) row('terminal', `${terminal.terminal}: ${terminal.state}${terminal.command === null ? '' : ` (${terminal.command})`}${terminal.open === null ? '' : `; ${terminal.open}`}`);
  if (item.control) row('control', `${item.control.command} by ${item.control.actor || item.control.source}, ${item.control.requestedAt}${item.control.note === '' ? '' : `, ${item.control.note}`}`);
  if (item.poll) row('poll', `${plural(item.poll.seenComments, 'comment')} seen, last ${item.poll.lastPolledAt || 'never'}`);
  if (item.graph) row('phase choices', `${item.graph.loop}, ${plural(item.graph.nodes, 'node')}, spec ${item.graph.workItem}`);
  for (const checkout of reply.checkouts) row('checkout', `${checkout.path}${checkout.branch === null ? '' : ` on ${checkout.branch}`}: ${checkout.uncommitted === null ? 'what is uncommitted is unknown' : workText(checkout) || 'nothing uncommitted'}`);
  for (const channel of reply.channels) row('channel', `${plural(channel.threads, 'thread')} in ${channel.path}`);
  for (const file of item.paths) row('file', file);
  for (const one of item.attention) out.line(`${out.paint('yellow', 'needs you')}: ${plain(one.sentence)}${one.command === '' ? '' : `  ${plain(one.command)}`}`);
}

async function show(context: Context, values: Values, given: string): Promise<number> {
  const ref = parseRef(given);
  const config = await loadConfig(context, values);
  const item = snapshotItem(diskReader, config, ref);
  const mayExecute = !flag(values, 'no-exec');
  const { checkouts, warnings } = await inspectItem(diskReader, config, item, { git: mayExecute ? gitOf(context, config) : null, env: context.env, signal: context.signal });
  const question = questionsOf(config).get(ref.ref);
  const unfinishedSince = unfinishedItems(config).get(ref.ref);
  const reply = showReply(diskReader, {
    config, item, checkouts, terminals: await terminalsOf(context, item, mayExecute), channels: channelBindings(diskReader, config).get(ref.ref) ?? [],
    ...(question ? { question } : {}), ...(unfinishedSince === undefined ? {} : { unfinishedSince }), warnings: [...contextWarnings(context), ...warnings],
  });
  if (reply.item.paths.length === 0) throw new Failure('not-found', `Nothing is remembered of ${ref.ref} at ${config.stateRoot}.`, 'See `loopkeeper sessions list`; letter case counts.', 1);
  context.out.document(reply);
  if (!context.out.json) printShow(context.out, reply);
  return 0;
}

export const showVerb: Verb = {
  summary: 'Show everything that is remembered of one work item, its terminals and what is in its checkout.',
  usage: '(REF | --work-item REF) [--no-exec] [--config PATH] [--json]',
  options: { 'work-item': { type: 'string', value: 'REF', help: 'The item, as it is named to reset.' }, ...stateOptions },
  positionals: [{ name: 'REF', optional: true }],
  examples: ["loopkeeper sessions show 'github:octo/repo#15'"],
  run(context, values, [positional]) {
    const named = text(values, 'work-item');
    const ref = positional ?? named;
    if (ref === undefined || (positional !== undefined && named !== undefined)) throw new Failure('usage', 'Name one work item.', 'See `loopkeeper sessions show --help`.', 2);
    return show(context, values, ref);
  },
};

/** True when the state root is there. */
export function stateExists(config: CliConfig): boolean {
  return fs.existsSync(config.stateRoot);
}
