import { Failure } from '../../core/disk/failure';
import { runPlan } from '../../core/plan/engine';
import type { Store } from '../../core/plan/store';
import { listPlans, planToUndo, planUndo } from '../../core/plan/undo';
import { isPrune, planPruneUndo } from '../../core/retention/undoPrune';
import type { PlanSummary, UndoListReply } from '../../protocol/plan';
import { flag, planOptions, stateOptions, text, type Command, type Context, type Values } from '../command';
import { plain, table } from '../output';
import { exitCodeOf, planReply, printNextStep, printWarnings } from '../planReply';
import { actorOf, contextWarnings, loadConfig, runDefaults, storesHere } from '../state';

const stateWords: Record<PlanSummary['state'], string> = {
  undoable: 'can be undone', undone: 'undone', purged: 'its trash is gone', irreversible: 'nothing to undo', unfinished: 'not finished: the next command finishes it', failed: 'could not be finished: see doctor',
};

function list(context: Context, stores: Store[]): number {
  const plans = stores.flatMap(listPlans).sort((a, b) => (a.plan < b.plan ? 1 : -1));
  const reply: UndoListReply = { verb: 'undo-list', plans, warnings: contextWarnings(context) };
  context.out.document(reply);
  if (plans.length === 0) context.out.line('No plans yet: nothing was changed by Loopkeeper here.');
  else {
    const rows = plans.map((plan) => [plan.plan, plan.verb, plan.createdAt, stateWords[plan.state], plan.items.length > 3 ? `${plan.items.slice(0, 3).join(', ')} and ${String(plan.items.length - 3)} more` : plan.items.join(', ')]);
    for (const row of table([['PLAN', 'VERB', 'WHEN', 'STATE', 'ITEMS'], ...rows], (index, _, cell) => (index === 0 ? context.out.paint('bold', cell) : cell))) context.out.line(row);
  }
  return 0;
}

async function undo(context: Context, values: Values, id: string): Promise<number> {
  const config = await loadConfig(context, values);
  const stores = storesHere(context, config);
  const found = stores.flatMap((store) => { const closed = planToUndo(store, id); return closed ? [{ store, closed }] : []; })[0];
  if (!found) throw new Failure('no-such-plan', `There is no finished plan ${id} here.`, 'See `loopkeeper undo --list`.', 1);
  const { store, closed } = found;
  const expect = text(values, 'expect');
  const result = await runPlan({
    ...await runDefaults(context), store, verb: 'undo', dryRun: flag(values, 'dry-run'), ...(expect === undefined ? {} : { expect }),
    build: (reader) => (isPrune(closed) ? planPruneUndo(store, closed, reader) : planUndo(store, closed, reader, actorOf(context))),
  });
  const reply = planReply(result, { warnings: contextWarnings(context) });
  context.out.document(reply);
  if (!context.out.json) {
    printWarnings(context.out, reply.warnings);
    for (const item of reply.items) {
      if (item.removed.length > 0) context.out.line(`${plain(item.ref)}: ${reply.dryRun ? 'would bring back' : 'brought back'} ${item.removed.join(', ')}`);
      else if (item.errors.length === 0) context.out.line(`${plain(item.ref)}: ${item.found ? 'files as they were' : 'nothing to bring back'}`);
      for (const notice of item.notices) context.out.line(`  ${plain(notice.message)}`);
      for (const error of item.errors) context.out.error(`${plain(item.ref)}: ${context.out.paint('red', 'error')}: ${plain(error.message)}`);
    }
    printNextStep(context.out, reply, `loopkeeper undo ${id}`);
  }
  return reply.items.some((item) => item.errors.length > 0) ? exitCodeOf(reply) : 0;
}

export const command: Command = {
  summary: 'take back what a plan did',
  verbs: {
    '': {
      summary: 'Put back what a plan removed or rewrote, byte for byte, where nobody has changed it since.',
      usage: '[PLAN | --list] [--dry-run] [--expect DIGEST]',
      options: { list: { type: 'boolean', help: 'List the plans and whether they can be undone (also without PLAN).' }, ...planOptions, ...stateOptions },
      positionals: [{ name: 'PLAN', optional: true }],
      examples: ['loopkeeper undo --list', 'loopkeeper undo 20261130T192742Z-1a2b3c4d --dry-run', 'loopkeeper undo 20261130T192742Z-1a2b3c4d'],
      async run(context, values, [id]) {
        if (id !== undefined && flag(values, 'list')) throw new Failure('usage', 'Name a plan or ask for the list, not both.', 'See `loopkeeper undo --help`.', 2);
        // Which plan is meant is never guessed.
        return id === undefined ? list(context, storesHere(context, await loadConfig(context, values))) : undo(context, values, id);
      },
    },
  },
};
