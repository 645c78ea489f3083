import * as vscode from 'vscode';
import { Owner } from '../lifecycle';
import { affects, setting } from '../settings';
import { usageWords, percentOf } from '../text/contextWords';
import { markdown, shown } from '../text/foreign';
import { l10n } from '../text/l10n';
import { shortRef } from '../text/refs';
import type { Usage } from '../usage';
import type { Policies } from '../views/policy';
import { contextStatus, type ContextFacts, type ContextStatus, type FolderPolicy } from './contextStatus';

/** The policies that are known, in the order of the folders. */
export function knownPolicies(policies: Policies): FolderPolicy[] {
  return policies.current.flatMap((one) => 'value' in one ? [{ name: one.root.name, reply: one.value }] : []);
}

/** The status bar item of the context policy: kept up while every view is hidden. */
export class ContextItem extends Owner {
  private readonly item = this.own(vscode.window.createStatusBarItem('loopkeeper.context', vscode.StatusBarAlignment.Left, 50));
  private running = false;
  private again = false;

  constructor(private readonly policies: Policies, private readonly usage: Usage) {
    super();
    this.item.name = l10n.t('Context Policy');
    this.item.command = 'loopkeeper.toggleContextPolicy';
    const update = (): void => { void this.update(); };
    this.own(policies.onDidChange(update));
    this.own(usage.onDidChange(update));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(update));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => { if (affects(event, 'context.warnAt')) update(); }));
  }

  /** What is drawn, for the tests. */
  get drawn(): ContextStatus | undefined {
    return this.status;
  }

  private status: ContextStatus | undefined;

  async update(): Promise<void> {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    try {
      await this.policies.get();
      const { sessions } = await this.usage.get();
      const warnAt = setting('context.warnAt', 70);
      await this.usage.lookAtCheckpoints(warnAt);
      const live = sessions.filter(({ running }) => running !== null);
      this.draw({
        policies: knownPolicies(this.policies), warnAt, trusted: vscode.workspace.isTrusted,
        sessions: live.map((one) => ({
          name: one.ref === null ? shown(one.title ?? l10n.t('a conversation without a title'), 60) : shown(shortRef(one.ref), 60),
          percent: percentOf(one), usage: usageWords(one), checkpoint: this.usage.checkpointOf(one.id),
        })),
      });
    } finally {
      this.running = false;
      if (this.again && !this.isDisposed) {
        this.again = false;
        void this.update();
      }
    }
  }

  private draw(facts: ContextFacts): void {
    if (this.isDisposed) return;
    this.status = contextStatus(facts);
    if (!this.status) {
      this.item.hide();
      return;
    }
    const { text, background, spoken } = this.status;
    this.item.text = text;
    this.item.backgroundColor = background && new vscode.ThemeColor(`statusBarItem.${background}Background`);
    this.item.accessibilityInformation = { label: spoken, role: 'button' };
    this.item.tooltip = tooltipOf(this.status);
    this.item.show();
  }
}

const links = ['loopkeeper.changeContextPolicy', 'loopkeeper.checkpoint', 'loopkeeper.contextPolicy.focus'];

function tooltipOf({ tooltip }: ContextStatus): vscode.MarkdownString {
  const titles = [l10n.t('Change Context Policy…'), l10n.t('Checkpoint…'), l10n.t('Show Context Policy')];
  const blocks = tooltip.map((lines) => lines.map((line) => markdown(line)).join('  \n'));
  const text = new vscode.MarkdownString([...blocks, links.map((command, index) => `[${markdown(titles[index] ?? '')}](command:${command})`).join(' · ')].join('\n\n'));
  text.isTrusted = { enabledCommands: links };
  return text;
}
