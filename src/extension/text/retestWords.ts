import type { Actor, RetestStatus, VerdictStatus } from '../../protocol/retest';
import { l10n } from './l10n';

/** What a verdict says of the finding. */
export function verdictWord(status: VerdictStatus): string {
  switch (status) {
    case 'fixed': return l10n.t('fixed');
    case 'still_open': return l10n.t('still open');
    case 'inconclusive': return l10n.t('inconclusive');
  }
}

export function actorWord(actor: Actor): string {
  switch (actor) {
    case 'agent': return l10n.t('agent');
    case 'operator': return l10n.t('operator');
    case 'system': return l10n.t('system');
  }
}

export function retestStatusWord(status: RetestStatus): string {
  switch (status) {
    case 'idle': return l10n.t('idle');
    case 'working': return l10n.t('working');
    case 'awaiting_command': return l10n.t('a command waits for you');
    case 'awaiting_operator': return l10n.t('waits for you');
    case 'stopped': return l10n.t('stopped');
    case 'concluded': return l10n.t('concluded');
    case 'ended': return l10n.t('ended');
    case 'error': return l10n.t('failed');
  }
}

/** Takes commands: neither concluded nor ended nor failed. */
export function isLiveRetest(status: RetestStatus): boolean {
  return status !== 'concluded' && status !== 'ended' && status !== 'error';
}
