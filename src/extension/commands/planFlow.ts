import * as vscode from 'vscode';
import type * as z from 'zod/mini';
import type { PlanReply } from '../../protocol/plan';
import { withOptions } from '../commandLine';
import { CoreError } from '../coreClient';
import { changesBetween } from '../dialogs/changes';
import type { Dialog } from '../dialogs/dialog';
import type { Outcome } from '../dialogs/outcome';
import type { Place } from '../places';
import { planText } from '../planPreview/planText';
import type { Services } from '../services';
import { unlinked } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { showEventLog, showLog } from './openEventLog';
import { undoPlan } from './undo';

/** A verb that is a plan: how it is called, asked about and reported. */
export interface PlannedVerb<Reply extends PlanReply = PlanReply> {
  place: Place;
  /** The command and its options, without `--dry-run` and `--expect`. */
  args: readonly string[];
  /** The verb's reply. */
  schema: z.ZodMiniType<Reply>;
  /** The question, from the dry run; `changed` is what changed while the last one was read. */
  dialog: (plan: Reply, changed: readonly string[]) => Dialog | Promise<Dialog>;
  /** Said instead of a question when the plan would change nothing; undefined when it would. */
  nothing: (plan: Reply) => string | undefined;
  outcome: (reply: Reply) => Outcome;
  /** Called after it was applied. */
  applied?: (reply: Reply) => Promise<void>;
  /** The event log that tells of it, when it is not the loop's own. */
  log?: string;
  /** Title of the dry-run document's tab, its first line, and the title of the progress. */
  documentTitle: string;
  heading: string;
  progress: string;
  /** Another way to apply it, with a button of its own and its own plan: `Prune and Commit`. Left out where that cannot be planned. */
  alternative?: { title: string; args: readonly string[] };
  /** Lines of the dry-run document before its items. */
  document?: (reply: Reply) => readonly string[];
  /** The second button of the notification, instead of Open Event Log. */
  follow?: { title: string; run: (reply: Reply) => Promise<void> };
}

/**
 * Plan, question, apply with the plan's digest, one notification. A plan that is stale by then is asked about anew, with what changed.
 * Show Dry Run opens the plan as a document, which can be applied from there.
 */
export async function askAndApply<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>): Promise<void> {
  await ask(services, verb, await dryRun(services, verb), []);
}

/** Applies without a question what a person has just written themselves and nothing is lost by; one notification. */
export async function applyAtOnce<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>): Promise<void> {
  try {
    report(services, verb, await run(services, verb, [], verb.progress));
  } finally {
    services.background(services.refresher.refresh());
  }
}

/** The plan as a read-only document. */
export async function showPlan<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>, plan?: Reply): Promise<void> {
  const shownPlan = plan ?? await dryRun(services, verb);
  const command = services.client.pasteable(verb.place, withOptions(verb.args, '--expect', shownPlan.digest));
  const nothing = verb.nothing(shownPlan);
  const textWith = (note: string): string => planText(shownPlan, { heading: verb.heading, note, command, more: verb.document?.(shownPlan) });
  const uri = await services.documents.show(verb.documentTitle, textWith(nothing ?? l10n.t('Nothing has been changed. Apply This Plan… is in the title bar; it asks first.')), nothing === undefined ? {
    apply: async () => {
      if (await ask(services, verb, shownPlan, [])) services.documents.applied(uri, textWith(l10n.t('This plan was applied, {0}.', moment(new Date().toISOString()))));
    },
  } : undefined);
}

/** True when it was applied. */
async function ask<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>, first: Reply, firstChanges: readonly string[]): Promise<boolean> {
  let plan = first;
  let changed = firstChanges;
  for (;;) {
    const nothing = verb.nothing(plan);
    if (nothing !== undefined) {
      await vscode.window.showInformationMessage(unlinked(nothing));
      return false;
    }
    const dialog = await verb.dialog(plan, changed);
    const other = await alternativeOf(services, verb);
    const apply = { title: unlinked(dialog.apply) };
    const also = other && { title: unlinked(other.title) };
    const verbs = also ? [apply, also] : [apply];
    const show = { title: l10n.t('Show Dry Run') };
    const options = { modal: true, detail: dialog.detail };
    const chosen = await vscode.window.showWarningMessage(dialog.message, options, ...dialog.whole ? verbs : dialog.harmlessFirst ? [show, ...verbs] : [...verbs, show]);
    if (chosen === show) await showPlan(services, verb, plan);
    if (chosen === undefined || chosen === show) return false;
    const more = other && chosen === also ? [...other.args, '--expect', other.digest] : ['--expect', plan.digest];
    try {
      report(services, verb, await run(services, verb, more, verb.progress));
      return true;
    } catch (error) {
      if (!(error instanceof CoreError) || !error.stale) throw error;
      const next = await dryRun(services, verb);
      changed = changesBetween(plan, next);
      plan = next;
    } finally {
      services.background(services.refresher.refresh());
    }
  }
}

/** The other way to apply, planned now; undefined when there is none, or the program cannot plan it here. */
async function alternativeOf<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>): Promise<{ title: string; args: readonly string[]; digest: string } | undefined> {
  if (!verb.alternative) return undefined;
  try {
    const { digest } = await run(services, verb, [...verb.alternative.args, '--dry-run'], l10n.t('Looking at what would happen'));
    return { ...verb.alternative, digest };
  } catch (error) {
    if (!(error instanceof CoreError) || error.kind === 'cancelled') throw error;
    services.output.info(error.message);
    return undefined;
  }
}

function dryRun<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>): Promise<Reply> {
  return run(services, verb, ['--dry-run'], l10n.t('Looking at what would happen'));
}

async function run<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>, more: readonly string[], title: string): Promise<Reply> {
  // Looking is quick and changes nothing: the status bar tells of it. Applying can be cancelled.
  const location = more.includes('--dry-run') ? vscode.ProgressLocation.Window : vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const abort = new AbortController();
    const listener = token.onCancellationRequested(() => { abort.abort(); });
    let percent = 0;
    try {
      const { reply } = await services.client.run({
        place: verb.place, args: withOptions(verb.args, ...more), schema: verb.schema, signal: abort.signal,
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
function report<Reply extends PlanReply>(services: Services, verb: PlannedVerb<Reply>, reply: Reply): void {
  const outcome = verb.outcome(reply);
  const undo = l10n.t('Undo');
  const follow = verb.follow ?? { title: l10n.t('Open Event Log'), run: () => verb.log === undefined ? showEventLog(services, verb.place) : showLog(verb.log) };
  const buttons = outcome.undoable ? [undo, follow.title] : [follow.title];
  const show = outcome.failed ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  const after = async (): Promise<void> => {
    const chosen = await show(unlinked(outcome.sentence), ...buttons);
    if (chosen === undo) await undoPlan(services, verb.place, reply.plan);
    if (chosen === follow.title) await follow.run(reply);
  };
  services.background(after());
  if (verb.applied) services.background(verb.applied(reply));
}
