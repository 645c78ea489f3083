import * as vscode from 'vscode';
import { PlanReply } from '../../protocol/plan';
import { CoreError } from '../coreClient';
import { changesBetween } from '../dialogs/changes';
import type { Dialog } from '../dialogs/dialog';
import type { Outcome } from '../dialogs/outcome';
import type { Place } from '../places';
import { planText } from '../planPreview/planText';
import type { Services } from '../services';
import { unlinked } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { showEventLog } from './openEventLog';
import { undoPlan } from './undo';

/** A verb that is a plan: how it is called, asked about and reported. */
export interface PlannedVerb {
  place: Place;
  /** The command and its options, without `--dry-run` and `--expect`. */
  args: readonly string[];
  /** The question, from the dry run; `changed` is what changed while the last one was read. */
  dialog: (plan: PlanReply, changed: readonly string[]) => Dialog;
  /** Said instead of a question when the plan would change nothing; undefined when it would. */
  nothing: (plan: PlanReply) => string | undefined;
  outcome: (reply: PlanReply) => Outcome;
  /** Title of the dry-run document's tab, its first line, and the title of the progress. */
  documentTitle: string;
  heading: string;
  progress: string;
}

/**
 * Plan, question, apply with the plan's digest, one notification. A plan that is stale by then is asked about anew, with what changed.
 * Show Dry Run opens the plan as a document, which can be applied from there.
 */
export async function askAndApply(services: Services, verb: PlannedVerb): Promise<void> {
  await ask(services, verb, await dryRun(services, verb), []);
}

/** The plan as a read-only document. */
export async function showPlan(services: Services, verb: PlannedVerb, plan?: PlanReply): Promise<void> {
  const shownPlan = plan ?? await dryRun(services, verb);
  const command = services.client.pasteable(verb.place, [...verb.args, '--expect', shownPlan.digest]);
  const nothing = verb.nothing(shownPlan);
  const uri = await services.documents.show(verb.documentTitle, planText(shownPlan, verb.heading, command), nothing === undefined ? {
    apply: async () => {
      if (await ask(services, verb, shownPlan, [])) services.documents.applied(uri, l10n.t('This plan was applied, {0}.', moment(new Date().toISOString())));
    },
  } : undefined);
}

/** True when it was applied. */
async function ask(services: Services, verb: PlannedVerb, first: PlanReply, firstChanges: readonly string[]): Promise<boolean> {
  let plan = first;
  let changed = firstChanges;
  for (;;) {
    const nothing = verb.nothing(plan);
    if (nothing !== undefined) {
      await vscode.window.showInformationMessage(unlinked(nothing));
      return false;
    }
    const dialog = verb.dialog(plan, changed);
    const apply = { title: unlinked(dialog.apply) };
    const show = { title: l10n.t('Show Dry Run') };
    const options = { modal: true, detail: dialog.detail };
    const chosen = await vscode.window.showWarningMessage(dialog.message, options, ...dialog.harmlessFirst ? [show, apply] : [apply, show]);
    if (chosen === show) await showPlan(services, verb, plan);
    if (chosen !== apply) return false;
    try {
      report(services, verb, await run(services, verb, ['--expect', plan.digest], verb.progress));
      return true;
    } catch (error) {
      if (!(error instanceof CoreError) || !error.stale) throw error;
      const next = await dryRun(services, verb);
      changed = changesBetween(plan, next);
      plan = next;
    } finally {
      void services.refresher.refresh();
    }
  }
}

function dryRun(services: Services, verb: PlannedVerb): Promise<PlanReply> {
  return run(services, verb, ['--dry-run'], l10n.t('Looking at what would happen'));
}

async function run(services: Services, verb: PlannedVerb, more: readonly string[], title: string): Promise<PlanReply> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, token) => {
    const abort = new AbortController();
    const listener = token.onCancellationRequested(() => { abort.abort(); });
    let percent = 0;
    try {
      const { reply } = await services.client.run({
        place: verb.place, args: [...verb.args, ...more], schema: PlanReply, signal: abort.signal,
        onProgress: ({ done, total }) => {
          const next = total > 0 ? Math.min(100, done / total * 100) : 0;
          progress.report({ increment: next - percent, message: plural(total, '{1} of {0} step', '{1} of {0} steps', done) });
          percent = next;
        },
      });
      return reply;
    } finally {
      listener.dispose();
    }
  });
}

/** One notification; not awaited, because it stays until the person has seen it. */
function report(services: Services, verb: PlannedVerb, reply: PlanReply): void {
  const outcome = verb.outcome(reply);
  const undo = l10n.t('Undo');
  const log = l10n.t('Open Event Log');
  const buttons = outcome.undoable ? [undo, log] : [log];
  const show = outcome.failed ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  const after = async (): Promise<void> => {
    const chosen = await show(unlinked(outcome.sentence), ...buttons);
    if (chosen === undo) await undoPlan(services, verb.place, reply.plan);
    if (chosen === log) await showEventLog(services, verb.place);
  };
  services.background(after());
}
