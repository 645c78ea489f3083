import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { ContextShowReply } from '../protocol/context';
import { LoopStateListReply } from '../protocol/loopState';
import { ListReply } from '../protocol/sessions';
import { Badge } from './badge';
import { showFailure } from './commands/command';
import { contributedIds, registerCommands } from './commands/register';
import { contextKeys } from './contextKeys';
import { CoreClient } from './coreClient';
import { Folders, loopPlace, loopStatePlace, type FolderPlace } from './folders';
import { ItemDetails } from './itemDetails';
import { Lint } from './lint';
import { Notifier } from './notifier';
import { Documents } from './planPreview/documents';
import { Presence } from './presence';
import { Refresher } from './refresher';
import { Roots } from './roots';
import { RunPlaces } from './runPlaces';
import type { Services } from './services';
import type { SettingKey } from './settingKeys';
import { setting } from './settings';
import { Source } from './source';
import { ContextItem } from './statusBar/contextItem';
import { useTranslator } from './text/l10n';
import { Transcripts } from './transcripts';
import { retestSource, retestsView, watchRetests } from './views/retests';
import { Usage } from './usage';
import type { RowView } from './views/rowView';
import { runSource, runsView, watchRuns } from './views/runs';
import { LoopStateWatch, loopStateView } from './views/loopState';
import { PolicyWatch, policyView } from './views/policy';
import { sessionsView } from './views/sessions';
import { workItemsView } from './views/workItems';

/** Builds everything and asks the program for the first time; nothing here waits for it. */
export function activate(context: vscode.ExtensionContext): void {
  const started = performance.now();
  useTranslator(vscode.l10n.t, vscode.env.language);
  const output = vscode.window.createOutputChannel('Loopkeeper', { log: true });
  const client = new CoreClient(() => ({
    node: process.execPath,
    program: path.join(context.extensionPath, 'dist', 'cli.js'),
    mayExecute: vscode.workspace.isTrusted,
    environment: { ...variable('LOOPKEEPER_TMUX', 'tmuxPath', 'tmux'), ...variable('LOOPKEEPER_GIT', 'gitPath', 'git'), ...variable('CLAUDE_CONFIG_DIR', 'claudeConfigDir', '') },
  }), output);
  const roots = new Roots(client, output);
  const list = new Source<ListReply>(roots, async (root) => (await client.run({ place: root, args: ['sessions', 'list'], schema: ListReply })).reply);
  const details = new ItemDetails(client, output, list);
  const documents = new Documents();
  const transcripts = new Transcripts();
  const retests = retestSource(client, roots);
  const runPlaces = new RunPlaces();
  const runs = runSource(client, runPlaces);
  const lint = new Lint(client, output);
  const folders = new Folders((folder) => loopPlace(folder, homedir()));
  const policies = new Source<ContextShowReply, FolderPlace>(folders, async (place) => (await client.run({ place, args: ['context', 'show', '--folder', place.folder], schema: ContextShowReply })).reply);
  const usage = new Usage(client, roots, list, folders, output);
  const stateFolders = new Folders(loopStatePlace);
  const loopState = new Source<LoopStateListReply, FolderPlace>(stateFolders, async (place) => (await client.run({ place, args: ['loop-state', 'list'], schema: LoopStateListReply })).reply);
  const views = new Map<string, RowView>([
    ['loopkeeper.workItems', workItemsView(list, roots, details)],
    ['loopkeeper.sessions', sessionsView(list, usage)],
    ['loopkeeper.contextPolicy', policyView(policies)],
    ['loopkeeper.loopState', loopStateView(loopState)],
    ['loopkeeper.retests', retestsView(retests, client)],
    ['loopkeeper.workflowRuns', runsView(runs, client)],
  ]);
  const refresher = new Refresher(roots, list, [list], () => [...views.values()].some(({ tree }) => tree.visible));
  const services: Services = {
    client, roots, list, details, policies, usage, loopState, retests, transcripts, runs, lint, refresher, documents, output, views, extension: context.extension,
    background: (work) => { work.catch((error: unknown) => showFailure(services, error)); },
  };
  context.subscriptions.push(output, client, roots, list, details, documents, ...views.values(), refresher, new Notifier(roots), ...registerCommands(services, contributedIds(context.extension.packageJSON)));
  context.subscriptions.push(
    transcripts, retests, watchRetests(retests, roots, transcripts), runPlaces, runs, watchRuns(runs), lint,
    new Presence(retests, contextKeys.hasRetests, (one) => 'value' in one && one.value.sessions.length > 0),
    new Presence(runs, contextKeys.hasRuns, (one) => 'error' in one || one.value.runs.length > 0),
    list.onDidLoad(() => { void vscode.commands.executeCommand('setContext', contextKeys.listed, true); }),
    refresher.onDidAsk(() => {
      retests.invalidate();
      runs.invalidate();
      policies.invalidate();
      usage.invalidate();
      loopState.invalidate();
    }),
  );
  const contextItem = new ContextItem(policies, usage);
  context.subscriptions.push(
    folders, policies, new PolicyWatch(policies, folders), usage, contextItem, stateFolders, loopState, new LoopStateWatch(loopState, stateFolders),
    new Presence(loopState, contextKeys.hasLoopState, (one) => 'error' in one || one.value.loops.length + one.value.ledgers.length > 0 || one.value.runLog !== null),
  );
  const workItems = views.get('loopkeeper.workItems');
  if (workItems) context.subscriptions.push(new Badge(workItems.tree, roots));
  for (const { tree } of views.values()) context.subscriptions.push(tree.onDidChangeVisibility(() => { refresher.schedulePoll(); }));
  // Starting the program is not part of waking up.
  setImmediate(() => { services.background(Promise.all([roots.get(), runs.get(), loopState.get(), contextItem.update()])); });
  // Read by the tests, and by whoever profiles a window.
  performance.measure('loopkeeper.activate', { start: started });
}

/** A setting as a variable for the program; one that is as it comes leaves the loop's own configuration in force. */
function variable(name: string, key: SettingKey, fallback: string): Record<string, string> {
  const value = setting(key, fallback);
  return value === fallback || value === '' ? {} : { [name]: value };
}
