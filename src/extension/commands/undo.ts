import * as vscode from 'vscode';
import { PlanReply, UndoListReply, type PlanSummary } from '../../protocol/plan';
import { undoOutcome } from '../dialogs/outcome';
import { planState, planTitle, undoDialog } from '../dialogs/undoDialog';
import type { Place } from '../places';
import type { Services } from '../services';
import { unlinked, visible, withoutIcons } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { nameOf } from '../dialogs/facts';
import type { Command, Target } from './command';
import { pickRoot } from './pickRoot';
import { askAndApply } from './planFlow';

/** Lists what was done, the latest first; the person picks what to take back. Nothing is guessed. */
export const undo: Command = async (services, target) => {
  const places = await placesOfPlans(services, target);
  if (!places) return;
  const plans = await plansOf(services, places);
  if (plans.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('Nothing has been done here that could be undone.'));
    return;
  }
  const picks = plans.map(({ plan, place }) => ({
    plan, place,
    label: withoutIcons(planTitle(plan)),
    description: moment(plan.createdAt),
    detail: withoutIcons(plan.items.length > 1 ? `${itemNames(plan)}: ${planState(plan)}` : planState(plan)),
  }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Undo which?'), matchOnDescription: true, matchOnDetail: true });
  if (picked) await askUndo(services, picked.place, picked.plan);
};

/** The loop that is meant, and what keeps its own plans beside it: workflow runs, loop state, without a loop the folders. Undefined when a person picked none. */
async function placesOfPlans(services: Services, target: Target): Promise<Place[] | undefined> {
  const roots = await services.roots.get();
  const root = roots.length === 0 ? undefined : await pickRoot(services, { ...target, rows: target.rows.filter(({ subject }) => roots.some(({ stateRoot }) => stateRoot === subject.place.stateRoot)) });
  if (roots.length > 0 && !root) return undefined;
  const others = [...await services.runs.get(), ...await services.loopState.get(), ...root ? [] : await services.policies.get()].map((one): Place => one.root);
  const places = new Map([...root ? [root] : [], ...others].map((place) => [`${place.cwd}\0${place.config ?? ''}`, place] as const));
  return [...places.values()];
}

/** Their plans, the latest first, each once. */
async function plansOf(services: Services, places: readonly Place[]): Promise<{ plan: PlanSummary; place: Place }[]> {
  const found = new Map<string, { plan: PlanSummary; place: Place }>();
  for (const place of places) {
    const { reply } = await services.client.run({ place, args: ['undo', '--list'], schema: UndoListReply });
    for (const plan of reply.plans) if (!found.has(plan.plan)) found.set(plan.plan, { plan, place });
  }
  return [...found.values()].sort((a, b) => (a.plan.createdAt < b.plan.createdAt ? 1 : -1));
}

/** Asks about taking back one plan, known by its id, and does it. */
export async function undoPlan(services: Services, place: Place, id: string): Promise<void> {
  const { reply } = await services.client.run({ place, args: ['undo', '--list'], schema: UndoListReply });
  const plan = reply.plans.find((one) => one.plan === id);
  if (plan) await askUndo(services, place, plan);
  else await vscode.window.showWarningMessage(l10n.t('The plan {0} is not known here any more.', visible(id)));
}

async function askUndo(services: Services, place: Place, plan: PlanSummary): Promise<void> {
  if (plan.state !== 'undoable') {
    await vscode.window.showInformationMessage(unlinked(l10n.t('"{0}" {1}.', planTitle(plan), planState(plan))));
    return;
  }
  const title = planTitle(plan);
  await askAndApply(services, {
    place, args: ['undo', plan.plan], schema: PlanReply,
    dialog: (reply, changed) => undoDialog(reply, plan, { changed }),
    nothing: (reply) => reply.items.every(({ steps, errors }) => steps.length === 0 && errors.length === 0) ? l10n.t('There is nothing left to undo of "{0}".', title) : undefined,
    outcome: undoOutcome,
    documentTitle: l10n.t('Dry Run of Undo'), heading: l10n.t('Dry run of undoing "{0}"', title), progress: l10n.t('Undoing "{0}"', title),
  });
}

function itemNames({ items }: PlanSummary): string {
  const some = items.slice(0, 4).map(nameOf).join(', ');
  return items.length > 4 ? plural(items.length - 4, '{1} and {0} more', '{1} and {0} more', some) : some;
}
