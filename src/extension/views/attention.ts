import type { Attention } from '../../protocol/plan';
import type { ItemState, ItemView } from '../../protocol/sessions';
import { l10n } from '../text/l10n';

/** What needs a person, the most urgent first (editor.md). */
const urgency: readonly Attention['kind'][] = [
  'asks-you', 'failed', 'terminal-died', 'unreadable', 'unfinished-plan', 'no-checkpoint', 'armed-without-session', 'breaker-open',
];
/** Then the states, those that go on by themselves first. */
const stateOrder: readonly ItemState[] = ['live', 'paused', 'armed', 'closed', 'remembered', 'unreadable', 'collided'];

/** The most urgent of them, or undefined. */
export function mostUrgent(attention: readonly Attention[]): Attention | undefined {
  return [...attention].sort((a, b) => urgency.indexOf(a.kind) - urgency.indexOf(b.kind))[0];
}

/** Order of rows: what needs a person by urgency, then by state, each by last activity (latest first), then by ref. */
export function byNeed(a: ItemView, b: ItemView): number {
  return rank(a) - rank(b)
    || stateOrder.indexOf(a.state) - stateOrder.indexOf(b.state)
    || (Date.parse(b.lastActivity ?? '') || 0) - (Date.parse(a.lastActivity ?? '') || 0)
    || (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : 0);
}

function rank({ attention }: ItemView): number {
  const first = mostUrgent(attention);
  return first ? urgency.indexOf(first.kind) : urgency.length;
}

/** Two or three words for a row. */
export function attentionWords(kind: Attention['kind']): string {
  switch (kind) {
    case 'asks-you': return l10n.t('asks you');
    case 'failed': return l10n.t('failed');
    case 'terminal-died': return l10n.t('terminal died');
    case 'unreadable': return l10n.t('unreadable');
    case 'unfinished-plan': return l10n.t('unfinished plan');
    case 'no-checkpoint': return l10n.t('no checkpoint');
    case 'armed-without-session': return l10n.t('armed, no session');
    case 'breaker-open': return l10n.t('breaker open');
  }
}

export function stateWord(state: ItemState): string {
  switch (state) {
    case 'live': return l10n.t('live');
    case 'paused': return l10n.t('paused');
    case 'armed': return l10n.t('armed');
    case 'closed': return l10n.t('closed');
    case 'remembered': return l10n.t('remembered');
    case 'unreadable': return l10n.t('unreadable');
    case 'collided': return l10n.t('record of another item');
  }
}

interface Icon { icon: string; colour?: string }

/** The icon of an item or session: what needs a person wins over the state. Never by colour alone. */
export function stateIcon(state: ItemState, attention: readonly Attention[]): Icon {
  switch (mostUrgent(attention)?.kind) {
    case 'asks-you': return { icon: 'question', colour: 'list.warningForeground' };
    case 'failed': case 'unreadable': return { icon: 'error', colour: 'list.errorForeground' };
    case 'terminal-died': return { icon: 'debug-disconnect', colour: 'list.warningForeground' };
    default:
  }
  switch (state) {
    case 'live': return { icon: 'circle-filled', colour: 'charts.green' };
    case 'paused': return { icon: 'debug-pause' };
    case 'armed': return { icon: 'zap', colour: 'charts.yellow' };
    case 'closed': case 'remembered': return { icon: 'circle-outline' };
    case 'unreadable': case 'collided': return { icon: 'error', colour: 'list.errorForeground' };
  }
}
