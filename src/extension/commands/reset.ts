import * as vscode from 'vscode';
import { PlanReply } from '../../protocol/plan';
import type { ItemView } from '../../protocol/sessions';
import { nameOf } from '../dialogs/facts';
import { resetOutcome } from '../dialogs/outcome';
import { resetDialog, resetsSomething, type AllContext } from '../dialogs/resetDialog';
import { isWithin, type Place } from '../places';
import type { Root } from '../roots';
import type { Services } from '../services';
import { shown, withoutIcons } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { byNeed, mostUrgent, stateWord } from '../views/attention';
import { itemLabel } from '../views/workItemRows';
import type { Command, Target } from './command';
import { pickRoot } from './pickRoot';
import { askAndApply, showPlan, type PlannedVerb } from './planFlow';

/** Resets the rows' items, or from the palette those that a person checks. */
export const resetItems: Command = async (services, target) => {
  for (const verb of await chosen(services, target, l10n.t('Reset which work items?'))) await askAndApply(services, verb);
};

/** The dry run of the same as a document, for the rows' items or those that a person checks. */
export const showResetDryRun: Command = async (services, target) => {
  for (const verb of await chosen(services, target, l10n.t('Show the dry run of which work items?'))) await showPlan(services, verb);
};

/** Resets everything that one loop remembers. */
export const resetAll: Command = async (services, target) => {
  const root = await pickRoot(services, target);
  if (!root) return;
  const loaded = (await services.list.get()).find((one) => one.root.stateRoot === root.stateRoot);
  const items = loaded && 'value' in loaded ? loaded.value.items : [];
  await askAndApply(services, {
    ...verbFor(root, ['--all'], []),
    dialog: (plan, changed) => resetDialog(plan, new Date(), { changed, all: allContext(root, items, plan) }),
    nothing: (plan) => resetsSomething(plan) || plan.items.some(({ errors }) => errors.length > 0) ? undefined : l10n.t('No work item is remembered here; there is nothing to reset.'),
    documentTitle: l10n.t('Dry Run of Reset All'), heading: l10n.t('Dry run: reset all work items'), progress: l10n.t('Resetting all work items'),
  });
};

interface Choice { place: Place; ref: string }

/** The verbs to run, one for each loop that has a chosen item. */
async function chosen(services: Services, { rows }: Target, placeHolder: string): Promise<PlannedVerb[]> {
  const items = rows.filter(({ words }) => words.includes('item'));
  const choices = rows.length > 0 ? items.flatMap(({ subject }) => subject.ref === undefined ? [] : [{ place: subject.place, ref: subject.ref }]) : await pickItems(services, placeHolder);
  const byRoot = new Map<string, { place: Place; refs: string[] }>();
  for (const { place, ref } of choices) {
    const group = byRoot.get(place.stateRoot) ?? { place, refs: [] };
    group.refs.push(ref);
    byRoot.set(place.stateRoot, group);
  }
  return [...byRoot.values()].map(({ place, refs }) => verbFor(place, refs.flatMap((ref) => ['--work-item', ref]), refs));
}

async function pickItems({ list }: Services, placeHolder: string): Promise<Choice[]> {
  const loaded = await list.get();
  const picks = loaded.flatMap((one) => 'value' in one ? [...one.value.items].sort(byNeed).map((item) => {
    const urgent = mostUrgent(item.attention);
    return {
      label: withoutIcons(itemLabel(item, true)), description: stateWord(item.state),
      ...(urgent ? { detail: withoutIcons(shown(urgent.sentence)) } : {}), place: one.root, ref: item.ref,
    };
  }) : []);
  if (picks.length === 0) {
    await vscode.window.showInformationMessage(l10n.t('No work item is remembered here; there is nothing to reset.'));
    return [];
  }
  return await vscode.window.showQuickPick(picks, { canPickMany: true, placeHolder, matchOnDescription: true }) ?? [];
}

function verbFor(place: Place, selector: readonly string[], refs: readonly string[]): PlannedVerb {
  const [only] = refs;
  const what = refs.length === 1 && only !== undefined ? nameOf(only) : plural(refs.length, '{0} work item', '{0} work items');
  return {
    place, args: ['sessions', 'reset', ...selector], schema: PlanReply,
    dialog: (plan, changed) => resetDialog(plan, new Date(), { changed }),
    nothing: (plan) => resetsSomething(plan) ? undefined : nothingToReset(plan, what),
    outcome: resetOutcome,
    documentTitle: l10n.t('Dry Run of Reset, {0}', what), heading: l10n.t('Dry run: reset {0}', what), progress: l10n.t('Resetting {0}', what),
  };
}

/** Why a reset would change nothing: the first error, or that nothing is remembered. */
function nothingToReset(plan: PlanReply, what: string): string {
  const failed = plan.items.find(({ errors }) => errors.length > 0);
  const error = failed?.errors[0];
  if (failed && error) return l10n.t('{0} cannot be reset: {1}', nameOf(failed.ref), shown(error.message, 300));
  const kept = plan.items.flatMap((item) => item.kept).find(({ what: piece }) => piece === 'graph');
  return kept ? l10n.t('{0} has phase choices only, which a reset keeps; there is nothing to reset.', what) : l10n.t('Nothing is remembered of {0}; there is nothing to reset.', what);
}

function allContext(root: Root, items: readonly ItemView[], plan: PlanReply): AllContext {
  const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const planned = new Set(plan.items.map(({ ref }) => ref));
  const directoryOf = (item: ItemView): string | undefined => item.session?.cwd ?? item.checkout;
  return {
    stateRoot: root.stateRoot,
    elsewhere: items.filter((item) => {
      const directory = directoryOf(item);
      return planned.has(item.ref) && directory !== undefined && directory !== '' && !open.some((folder) => isWithin(folder, directory));
    }).length,
    choicesOnly: items.filter((item) => !planned.has(item.ref) && item.graph && !item.session && !item.control && !item.poll).length,
  };
}
