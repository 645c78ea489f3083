import { statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { WorkflowDiagramReply, WorkflowResetReply, WorkflowShowReply } from '../../protocol/workflow';
import { runResetDialog, runResetOutcome } from '../dialogs/runResetDialog';
import { shown, withoutIcons } from '../text/foreign';
import { l10n, plural } from '../text/l10n';
import { agentStatus, fileOfState, stateName } from '../views/runRows';
import type { Command } from './command';
import { askAndApply } from './planFlow';

/** Sends an agent of a stopped run to a state with a fresh session, its return stack kept. */
export const resetAgent: Command = async (services, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.ref === undefined) return;
  const { place, ref } = subject;
  const { reply } = await services.client.run({ place, args: ['workflow', 'show', ref], schema: WorkflowShowReply });
  const { run, states } = reply;
  const name = subject.agent ?? await pickAgent(reply);
  const index = run.agents.findIndex((agent) => agent.name === name);
  const agent = run.agents[index];
  if (name === undefined || !agent) return;
  const to = await pickState(name, agent.state, states[index] ?? [], agent.scope ?? run.scope);
  if (to === undefined) return;
  const what = l10n.t('{0} of {1}', shown(name, 60), shown(run.workflow, 60));
  await askAndApply(services, {
    // Names as `--name=value`: one that begins with a dash is still a value.
    place, args: ['workflow', 'reset', ref, `--agent=${name}`, `--to=${to}`], schema: WorkflowResetReply,
    dialog: (plan, changed) => runResetDialog(plan, run.workflow, changed),
    nothing: () => undefined,
    outcome: (done) => runResetOutcome(done, run.workflow),
    log: path.join(reply.directory, 'loopkeeper', 'events.jsonl'),
    documentTitle: l10n.t('Dry Run of Reset, {0}', what), heading: l10n.t('Dry run: reset {0} to {1}', what, shown(to, 80)), progress: l10n.t('Resetting {0}', what),
  });
};

async function pickAgent({ run }: WorkflowShowReply): Promise<string | undefined> {
  const picks = run.agents.map((agent) => ({
    label: withoutIcons(l10n.t('{0} at {1}', shown(agent.name, 60), stateName(agent.state))), description: agentStatus(agent.status), name: agent.name,
  }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Reset which agent?') }))?.name;
}

/** The workflow's states; where the workflow is not to be found from here, the name of the state's file. */
async function pickState(agent: string, current: string, states: readonly string[], scope: string): Promise<string | undefined> {
  if (states.length === 0) {
    return vscode.window.showInputBox({
      title: l10n.t('Reset {0} to which state?', shown(agent, 60)),
      prompt: l10n.t('The states of {0} cannot be read from here. Name the file of the state, with its extension.', shown(scope, 200)), value: current, ignoreFocusOut: true,
    });
  }
  const picks = states.map((state) => ({ label: withoutIcons(shown(state, 120)), state, ...(state === current ? { description: l10n.t('where it is now') } : {}) }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Reset {0} to which state? Its return stack stays.', shown(agent, 60)) }))?.state;
}

/** The state of the row in its workflow; of a run the workflow itself: its file, or its folder in the explorer. */
export const openWorkflow: Command = async (_, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.scope === undefined) return;
  const { scope } = subject;
  const file = fileOfState(scope, subject.state);
  for (const candidate of [file, scope]) {
    const kind = kindOf(candidate);
    if (kind === 'file') {
      await vscode.window.showTextDocument(vscode.Uri.file(candidate), { preview: true });
      return;
    }
    if (kind === 'directory') {
      await openFolder(vscode.Uri.file(candidate));
      return;
    }
  }
  await vscode.window.showInformationMessage(l10n.t('The workflow {0} is not here.', shown(scope, 300)));
};

async function openFolder(folder: vscode.Uri): Promise<void> {
  if (vscode.workspace.getWorkspaceFolder(folder)) await vscode.commands.executeCommand('revealInExplorer', folder);
  else await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: true });
}

function kindOf(file: string): 'file' | 'directory' | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? 'file' : found?.isDirectory() ? 'directory' : undefined;
}

/** The workflow as a Mermaid flowchart, in a read-only document. */
export const showDiagram: Command = async ({ client, documents }, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.scope === undefined) return;
  const { reply } = await client.run({ place: subject.place, args: ['workflow', 'diagram', subject.scope], schema: WorkflowDiagramReply });
  await documents.show(`${path.basename(subject.scope).replace(/\.ya?ml$/i, '')}.mmd`, reply.mermaid);
};

/** Checks the workflow; what is wrong is in the Problems view, on its files. */
export const lintWorkflow: Command = async (services, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.scope === undefined) return;
  const counts = await services.lint.check(subject.place, subject.scope);
  services.background(tellCounts(shown(path.basename(subject.scope), 80), counts));
};

async function tellCounts(name: string, { error, warning, info }: { error: number; warning: number; info: number }): Promise<void> {
  if (error + warning + info === 0) {
    await vscode.window.showInformationMessage(l10n.t('Nothing is wrong with the workflow {0}.', name));
    return;
  }
  const said = [[error, plural(error, '{0} error', '{0} errors')], [warning, plural(warning, '{0} warning', '{0} warnings')], [info, plural(info, '{0} note', '{0} notes')]] as const;
  const showProblems = l10n.t('Show Problems');
  const chosen = await vscode.window.showInformationMessage(l10n.t('The workflow {0}: {1}.', name, said.filter(([count]) => count > 0).map(([, words]) => words).join(', ')), showProblems);
  if (chosen === showProblems) await vscode.commands.executeCommand('workbench.actions.view.problems');
}
