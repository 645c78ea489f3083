import * as vscode from 'vscode';
import type { Attention } from '../protocol/plan';
import { Owner } from './lifecycle';
import type { Roots } from './roots';
import { setting } from './settings';
import { shown, unlinked } from './text/foreign';
import { l10n, plural } from './text/l10n';
import { shortRef } from './text/refs';

/** What is worth a word by itself; the rest is said by the badge and the rows. */
const urgent: readonly Attention['kind'][] = ['asks-you', 'failed', 'terminal-died'];

/**
 * Speaks up when something newly needs a person: one message at a time, never about what was so when the window opened, never twice about the
 * same. `loopkeeper.notifications` turns it off.
 */
export class Notifier extends Owner {
  private known: Set<string> | undefined;
  private waiting: string[] = [];
  private speaking = false;

  constructor(private readonly roots: Roots) {
    super();
    this.own(roots.onDidLook(() => { this.look(); }));
  }

  private look(): void {
    const now = new Map<string, string>();
    for (const { stateRoot, status } of this.roots.current) {
      for (const { ref, attention } of status.attention) {
        if (urgent.includes(attention.kind)) now.set([stateRoot, ref, attention.kind, attention.since].join('\0'), l10n.t('{0}: {1}', shown(shortRef(ref)), shown(attention.sentence, 200)));
      }
    }
    const before = this.known;
    this.known = new Set(now.keys());
    if (!before || setting<string>('notifications', 'needsYou') === 'off') return;
    for (const [key, sentence] of now) if (!before.has(key)) this.waiting.push(sentence);
    void this.speak();
  }

  private async speak(): Promise<void> {
    if (this.speaking || this.waiting.length === 0) return;
    this.speaking = true;
    const [first = '', ...rest] = this.waiting.splice(0);
    const sentence = rest.length === 0 ? first : plural(rest.length, '{1} And {0} more entry needs you.', '{1} And {0} more entries need you.', first);
    const show = l10n.t('Show Work Items');
    const chosen = await vscode.window.showWarningMessage(unlinked(sentence), show);
    this.speaking = false;
    if (this.isDisposed) return;
    if (chosen === show) await vscode.commands.executeCommand('loopkeeper.workItems.focus');
    await this.speak();
  }
}
