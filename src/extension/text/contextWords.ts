import type { CheckpointPart, PolicyValueView, UsageView } from '../../protocol/context';
import { shown } from './foreign';
import { day, l10n, plural } from './l10n';

type PolicyKey = PolicyValueView['key'];
type PolicyValue = PolicyValueView['value'];

/** The four settings of the policy, in the order they are shown, each with its legal values. */
export const policyValues: Record<PolicyKey, readonly PolicyValue[]> = {
  enabled: [true, false], phaseBoundary: ['clear', 'compact', 'off'], taskBoundary: ['clear', 'compact', 'off'], midTask: ['compact', 'off'],
};
export const policyKeys: readonly PolicyKey[] = ['enabled', 'phaseBoundary', 'taskBoundary', 'midTask'];

export function policyName(key: PolicyKey): string {
  switch (key) {
    case 'enabled': return l10n.t('Policy');
    case 'phaseBoundary': return l10n.t('Phase boundary');
    case 'taskBoundary': return l10n.t('Task boundary');
    case 'midTask': return l10n.t('In mid-task');
  }
}

/** The word for a value; `clear` and `compact` are the words of the file. */
export function policyWord(value: PolicyValue): string {
  switch (value) {
    case true: return l10n.t('on');
    case false: case 'off': return l10n.t('off');
    case 'clear': return l10n.t('clear');
    case 'compact': return l10n.t('compact');
  }
}

/** What a value means, in a few words. */
export function policyMeaning(key: PolicyKey, value: PolicyValue): string {
  if (key === 'enabled') return value === true ? l10n.t('the values below are in force') : l10n.t('the window is left to the agent');
  switch (value) {
    case 'clear': return l10n.t('a fresh window that starts from the checkpoint');
    case 'compact': return l10n.t('the conversation is summarized');
    default: return l10n.t('nothing happens to the window');
  }
}

/** `200k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_500 ? `${String(Math.round(count / 1000))}k` : `${String(Math.round(count / 100_000) / 10)}M`;
}

/** The share of the window in whole percent; null when it is unknown. */
export function percentOf({ share }: Pick<UsageView, 'share'>): number | null {
  return share === null ? null : Math.round(share * 100);
}

/** `71 % of 200k`; a window whose size is only assumed is marked by `~`. */
export function usageWords(usage: Pick<UsageView, 'share' | 'window' | 'windowFrom' | 'reason'>): string {
  const percent = percentOf(usage);
  if (percent !== null) return l10n.t('{0} % of {1}', percent, `${usage.windowFrom === 'assumed' ? '~' : ''}${tokens(usage.window)}`);
  return usage.reason === 'after-boundary' ? l10n.t('window unknown until its next answer') : l10n.t('window unknown');
}

/** `4 min`, `3 h`, or the day: how long ago. */
export function ago(timestamp: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(timestamp)) / 60_000);
  if (Number.isNaN(minutes) || minutes >= 24 * 60) return day(timestamp, now);
  if (minutes < 60) return plural(Math.max(0, minutes), '{0} min', '{0} min');
  return plural(Math.floor(minutes / 60), '{0} h', '{0} h');
}

/** What a session does: `working`, `idle 4 min`, `last active Aug 4`. */
export function activityWords({ running, lastActive }: Pick<UsageView, 'running' | 'lastActive'>, now: Date): string {
  if (!running) return l10n.t('last active {0}', ago(lastActive, now));
  return running.status === 'busy' ? l10n.t('working') : l10n.t('idle {0}', ago(lastActive, now));
}

export function partName(part: CheckpointPart['part']): string {
  switch (part) {
    case 'checkmarks': return l10n.t('checkmarks');
    case 'log': return l10n.t('log entry');
    case 'phase': return l10n.t('phase');
    case 'work': return l10n.t('work in progress');
  }
}

/** `tasks.md:31` */
export function fileAndLine(file: string, line: number | null): string {
  const name = shown(file.split(/[/\\]/).at(-1) ?? file, 60);
  return line === null ? name : `${name}:${String(line)}`;
}
