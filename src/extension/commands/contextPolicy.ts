import * as vscode from 'vscode';
import { ContextSetReply, type ContextShowReply, type PolicyValueView } from '../../protocol/context';
import { setDialog, setOutcome } from '../dialogs/contextDialogs';
import type { FolderPlace } from '../folders';
import type { Services } from '../services';
import { contextClick, isOn } from '../statusBar/contextStatus';
import { knownPolicies } from '../statusBar/contextItem';
import { fileAndLine, policyKeys, policyMeaning, policyName, policyValues, policyWord } from '../text/contextWords';
import { shown, visible, withoutIcons } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Command, Target } from './command';
import { applyAtOnce, askAndApply, type PlannedVerb } from './planFlow';

type PolicyKey = PolicyValueView['key'];
type PolicyValue = PolicyValueView['value'];
interface Known { root: FolderPlace; value: ContextShowReply }

/** Toggles the policy where exactly one policy file is there; shows the line that is wrong; else opens a menu. Also what a click on the status bar does. */
export const toggleContextPolicy: Command = async (services) => {
  services.policies.invalidate();
  const known = await loaded(services);
  const click = contextClick({ policies: knownPolicies(services.policies), trusted: vscode.workspace.isTrusted });
  if (click.kind === 'open') return openAt(click.file, click.line);
  if (click.kind === 'menu') return menu(services, known);
  const one = known.find(({ value }) => value === click.policy.reply);
  if (one) await setValue(services, one, 'enabled', isOn(one.value) !== true);
};

/** Asks which value of the policy of which folder, and changes it. */
export const changeContextPolicy: Command = async (services, target) => {
  const known = await pickFolder(services, target);
  const problem = known?.value.problems[0];
  if (!known) return;
  if (problem) return openAt(problem.file, problem.line);
  const picks = known.value.values.filter(({ key }) => policyKeys.includes(key)).map((value) => ({
    label: policyName(value.key), description: policyWord(value.value), detail: value.file === null ? l10n.t('default') : withoutIcons(fileAndLine(value.file, value.line)), key: value.key,
  }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Change which value of {0}?', visible(known.root.name)) });
  if (picked) await changeValue(services, known, picked.key);
};

/** Changes the value of a row. */
export const changePolicyValue: Command = async (services, target) => {
  const known = await pickFolder(services, target);
  const key = policyKeys.find((one) => one === target.rows[0]?.subject.key);
  if (known && key) await changeValue(services, known, key);
};

async function changeValue(services: Services, known: Known, key: PolicyKey): Promise<void> {
  const now = known.value.values.find((one) => one.key === key)?.value;
  const picks = policyValues[key].map((value) => ({
    label: policyWord(value), description: value === now ? l10n.t('as it is') : '', detail: policyMeaning(key, value), value,
  }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: policyName(key) });
  if (picked && picked.value !== now) await setValue(services, known, key, picked.value);
}

/** Sets one value: at once where there is a policy file, since Undo brings it back; a file is made only after a question. */
async function setValue(services: Services, { root, value: reply }: Known, key: PolicyKey, value: PolicyValue): Promise<void> {
  const isNew = reply.file === null;
  const what = visible(root.name);
  const verb: PlannedVerb<ContextSetReply> = {
    place: root, args: ['context', 'set', key, String(value), '--folder', root.folder, ...isNew ? ['--create'] : []], schema: ContextSetReply,
    dialog: (plan, changed) => setDialog(plan, root.name, changed),
    nothing: (plan) => plan.set.changed || plan.items.some(({ errors }) => errors.length > 0) ? undefined : l10n.t('{0} is {1} already.', policyName(key), policyWord(value)),
    outcome: (done) => setOutcome(done, root.name),
    follow: { title: l10n.t('Open File'), run: ({ set }) => openAt(set.file, set.line) },
    documentTitle: l10n.t('Dry Run of the Context Policy, {0}', what), heading: l10n.t('Dry run: change the context policy of {0}', what), progress: l10n.t('Changing the context policy of {0}', what),
  };
  await (isNew ? askAndApply(services, verb) : applyAtOnce(services, verb));
}

async function openAt(file: string, line: number): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection: new vscode.Range(Math.max(0, line - 1), 0, Math.max(0, line - 1), 0) });
}

async function loaded({ policies }: Services): Promise<Known[]> {
  return (await policies.get()).flatMap((one) => 'value' in one ? [one] : []);
}

/** What can be done with each folder's policy, for a person to choose. */
async function menu(services: Services, known: readonly Known[]): Promise<void> {
  const trusted = vscode.workspace.isTrusted;
  const picks = known.map((one): vscode.QuickPickItem & { run: () => Promise<unknown> } => {
    const name = withoutIcons(visible(one.root.name));
    const { file, values } = one.value;
    const [problem] = one.value.problems;
    const on = isOn(one.value);
    const line = values.find(({ key }) => key === 'enabled')?.line ?? null;
    if (problem) return { label: l10n.t('Open {0} of {1}', withoutIcons(fileAndLine(problem.file, problem.line)), name), description: l10n.t('invalid'), detail: withoutIcons(shown(problem.message)), run: () => openAt(problem.file, problem.line) };
    if (!trusted) return { label: l10n.t('Open the Policy of {0}', name), description: policyWord(on ?? true), run: async () => { if (file !== null) await openAt(file, line ?? 1); } };
    if (file === null) return { label: l10n.t('Create a Policy File in {0}…', name), description: l10n.t('the defaults are in force'), run: () => changeValueOfNone(services, one) };
    return {
      label: on === true ? l10n.t('Turn Off in {0}', name) : l10n.t('Turn On in {0}', name), description: policyWord(on ?? true), detail: withoutIcons(fileAndLine(file, line)),
      run: () => setValue(services, one, 'enabled', on !== true),
    };
  });
  const more = [
    { label: l10n.t('Show Context Policy'), run: () => vscode.commands.executeCommand('loopkeeper.contextPolicy.focus') },
    ...trusted ? [] : [{ label: l10n.t('Manage Workspace Trust'), detail: l10n.t('In Restricted Mode nothing is changed.'), run: () => vscode.commands.executeCommand('workbench.trust.manage') }],
  ];
  const picked = await vscode.window.showQuickPick([...picks, ...more], { placeHolder: l10n.t('Context Policy'), matchOnDescription: true });
  await picked?.run();
}

/** A new file says whether the policy is on; the other values are changed later. */
async function changeValueOfNone(services: Services, known: Known): Promise<void> {
  const picks = policyValues.enabled.map((value) => ({ label: policyWord(value), detail: policyMeaning('enabled', value), value }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: policyName('enabled') });
  if (picked) await setValue(services, known, 'enabled', picked.value);
}

/** The row's folder, the only one, or the one a person picks. */
async function pickFolder(services: Services, { rows }: Target): Promise<Known | undefined> {
  const named = rows[0]?.subject.place;
  const known = await loaded(services);
  // The row holds the place that its source was asked about.
  if (named) return known.find(({ root }) => root === named) ?? known.find(({ root }) => root.cwd === named.cwd);
  if (known.length < 2) return known[0];
  const picks = known.map((one) => ({ label: withoutIcons(visible(one.root.name)), description: withoutIcons(shown(one.root.folder)), one }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: l10n.t('Change the context policy of which folder?') }))?.one;
}
