import { Failure } from '../core/disk/failure';
import { planTrash } from '../core/plan/store';
import { runPlan } from '../core/plan/engine';
import { gatherReset, type PassedOver } from '../core/sessions/resetFacts';
import { planReset, type ItemFacts } from '../core/sessions/resetPlan';
import type { CheckoutView, ItemReply, PlanReply } from '../protocol/plan';
import { flag, text, texts, type Context, type Values } from './command';
import { plain, plural } from './output';
import { workText } from './workText';
import { exitCodeOf, planReply, printNextStep, printWarnings } from './planReply';
import { actorOf, contextWarnings, gitOf, loadConfig, runDefaults, stateStore, tmuxOf } from './state';

/** What a person is told of an item before it is reset: who ends, which work is in its checkouts, what was asked of it. */
function extrasOf(item: ItemFacts, keptAt: string | null): Partial<ItemReply> {
  const { control, poll } = item.snapshot.sections;
  const checkouts = item.checkouts.filter((checkout) => checkout.moves.length > 0);
  return {
    ...(item.sessions.some(({ ending }) => ending.step) ? { ends: item.sessions.filter(({ ending }) => ending.step).map(({ ending, harness }) => ({ ref: ending.ref, harness, terminal: ending.terminal, open: ending.open })) } : {}),
    ...(checkouts.length > 0 ? { checkouts: checkouts.map((checkout): CheckoutView => ({
      path: checkout.path, uncommitted: checkout.work?.uncommitted ?? null, untracked: checkout.work?.untracked ?? null, ignored: checkout.work?.ignored ?? null,
      nestedRepositories: checkout.work?.nestedRepositories ?? null, unpushed: checkout.work?.unpushed ?? null, branch: checkout.work?.branch ?? null, keptAt: keptAt === null ? null : checkout.moves[0]?.to ?? null,
    })) } : {}),
    ...(control ? { control: { command: control.facts.command, actor: control.facts.actor, requestedAt: control.facts.requestedAt } } : {}),
    ...(poll ? { poll: { seenComments: poll.facts.seenComments } } : {}),
  };
}

/** `sessions reset`. */
export async function reset(context: Context, values: Values): Promise<number> {
  const refs = texts(values, 'work-item');
  const all = flag(values, 'all');
  const usage = (message: string) => new Failure('usage', message, 'See `loopkeeper sessions reset --help`.', 2);
  if (refs.length === 0 && !all) throw usage('Name the work items with --work-item, or ask for all of them with --all; a bare reset never means everything.');
  if (refs.length > 0 && all) throw usage('--work-item and --all exclude each other: name the work items, or ask for all of them.');
  const unknown = texts(values, 'include').find((piece) => piece !== 'graph');
  if (unknown !== undefined) throw usage(`--include takes graph, not ${JSON.stringify(unknown.slice(0, 40))}.`);
  const config = await loadConfig(context, values);
  const store = stateStore(config);
  const keepTrash = !flag(values, 'no-trash');
  const expect = text(values, 'expect');
  let items: ItemFacts[] = [];
  let passedOver: PassedOver[] = [];
  let trash = '';
  const sessionId = context.env['CLAUDE_CODE_SESSION_ID'];
  const result = await runPlan({
    ...await runDefaults(context, config), store, verb: 'reset', dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    lockWaitMs: 10_000 + config.tmux.harnessKillGraceSeconds * 1000,
    build: async (reader, planId) => {
      trash = planTrash(store, planId);
      const gathered = await gatherReset({
        config, selection: all ? 'all' : { refs }, includeGraph: texts(values, 'include').includes('graph'), keepTrash, actor: actorOf(context),
        mayExecute: !flag(values, 'no-exec'), git: gitOf(context, config), env: context.env, tmux: tmuxOf(context),
        caller: { pid: context.pid, ...(sessionId === undefined || sessionId === '' ? {} : { harnessSessionId: sessionId }) },
        trash: { storeDirectory: store.directory, planId }, signal: context.signal,
      }, reader);
      items = gathered.facts.items;
      passedOver = gathered.passedOver;
      return planReset(gathered.facts, reader);
    },
  });
  const extras = new Map(items.map((item) => [item.snapshot.ref.ref, extrasOf(item, keepTrash ? trash : null)]));
  const reply = planReply(result, { stateRoot: config.stateRoot, warnings: contextWarnings(context), extra: (ref) => extras.get(ref) ?? {}, ...(all ? { passedOver } : {}) });
  context.out.document(reply);
  if (!context.out.json) print(context, reply, all, refs, config.stateRoot);
  return exitCodeOf(reply);
}

function printItem(context: Context, item: ItemReply, { dryRun, plan: planId }: PlanReply): void {
  const { out } = context;
  const name = out.paint('bold', plain(item.ref));
  const ended = item.ends ?? [];
  if (ended.length > 0) out.line(`${name}: ${dryRun ? 'would end' : 'ended'} ${plural(ended.length, 'running agent')} (${ended.map((end) => plain(end.ref)).join(', ')})`);
  else if (item.live) out.line(`${name}: ${dryRun ? 'would close' : 'closed'} a live session that has no running terminal`);
  for (const checkout of item.checkouts ?? []) {
    if (!item.removed.includes('workspace')) continue;
    const work = workText(checkout);
    out.line(`${name}: ${dryRun ? 'would remove' : 'removed'} the checkout ${plain(checkout.path)}`);
    if (work === '') continue;
    // The id of a rehearsal is not that of the run.
    const place = checkout.keptAt === null ? '' : plain(dryRun ? checkout.keptAt.replace(planId, 'PLAN') : checkout.keptAt);
    const fate = place === '' ? (dryRun ? 'would be gone for good' : 'gone for good') : `${dryRun ? 'would be kept' : 'kept'} at ${place}`;
    out.line(`${name}: ${out.paint('yellow', work)} in it ${fate}`);
  }
  const others = item.removed.filter((piece) => piece !== 'workspace');
  if (others.length > 0) out.line(`${name}: ${dryRun ? 'would forget' : 'forgot'} ${others.join(', ')}`);
  else if (item.errors.length === 0 && item.removed.length === 0) out.error(`${plain(item.ref)}: nothing to reset`);
  for (const kept of item.kept) if (kept.what !== 'repository') out.line(out.paint('dim', `  stays: ${plain(kept.what)} (${plain(kept.why)})`));
  for (const notice of item.notices) out.line(`  ${out.paint('yellow', 'note')}: ${plain(notice.message)}`);
  if (dryRun) for (const step of item.steps) out.line(out.paint('dim', `  ${step.kind.padEnd(12)} ${plain(step.path ?? '')}  ${plain(step.reason)}${step.undo === 'none' ? ' (cannot be undone)' : ''}`));
  for (const error of item.errors) out.error(`${plain(item.ref)}: ${out.paint('red', 'error')}: ${plain(error.message)}`);
}

function print(context: Context, reply: PlanReply, all: boolean, refs: string[], stateRoot: string): void {
  printWarnings(context.out, reply.warnings);
  for (const item of reply.items) printItem(context, item, reply);
  if (reply.items.length === 0) context.out.error(`Nothing to reset: ${plain(stateRoot)} holds no work item.`);
  for (const passed of reply.passedOver ?? []) context.out.line(context.out.paint('dim', `not reset: ${plain(passed.what)} (${plain(passed.why)})`));
  const quoted = (word: string): string => (/^[\w:/.#-]+$/.test(word) && !word.includes('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  printNextStep(context.out, reply, `loopkeeper sessions reset ${all ? '--all' : refs.map((ref) => `--work-item ${quoted(ref)}`).join(' ')}`);
}
