import type { ContextShowReply } from '../../protocol/context';
import { fileAndLine, policyName, policyWord } from '../text/contextWords';
import { shown, visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';

/** The policy of one folder of the window. */
export interface FolderPolicy { name: string; reply: ContextShowReply }

/** A live session of the window: its name, the share of its window in percent, and whether its checkpoint is there (undefined: not known). */
export interface MeasuredSession { name: string; percent: number | null; usage: string; checkpoint: boolean | undefined }

export interface ContextFacts {
  policies: readonly FolderPolicy[];
  sessions: readonly MeasuredSession[];
  /** `loopkeeper.context.warnAt`, in percent. */
  warnAt: number;
  trusted: boolean;
}

/** What a click does: toggle the one policy, open the line that is wrong, or open the menu. */
export type ContextClick = { kind: 'toggle'; policy: FolderPolicy } | { kind: 'open'; file: string; line: number } | { kind: 'menu' };

/** The status bar item, as data. */
export interface ContextStatus {
  text: string;
  background?: 'warning' | 'error';
  /** What a screen reader says. */
  spoken: string;
  /** Lines of the tooltip, in paragraphs. */
  tooltip: readonly (readonly string[])[];
}

/** The policies of a window, each repository once. */
export function distinctPolicies(policies: readonly FolderPolicy[]): FolderPolicy[] {
  const seen = new Map<string, FolderPolicy>();
  for (const policy of policies) if (!seen.has(policy.reply.file ?? policy.reply.folder)) seen.set(policy.reply.file ?? policy.reply.folder, policy);
  return [...seen.values()];
}

/** True when the policy is on; undefined when it is unknown. */
export function isOn({ known, values }: ContextShowReply): boolean | undefined {
  const value = known ? values.find(({ key }) => key === 'enabled')?.value : undefined;
  return typeof value === 'boolean' ? value : undefined;
}

/** What a click on the item, or Toggle Context Policy, does. Nothing is guessed: with none or several policies, and where nothing may be changed, a person chooses. */
export function contextClick({ policies, trusted }: Pick<ContextFacts, 'policies' | 'trusted'>): ContextClick {
  const distinct = distinctPolicies(policies);
  const [only] = distinct.filter(({ reply }) => reply.file !== null || reply.problems.length > 0);
  const problem = only?.reply.problems[0];
  if (distinct.length === 1 && problem) return { kind: 'open', file: problem.file, line: problem.line };
  if (distinct.filter(({ reply }) => reply.file !== null).length !== 1 || !only || only.reply.file === null || !trusted || isOn(only.reply) === undefined || distinct.some(({ reply }) => !reply.known)) return { kind: 'menu' };
  return { kind: 'toggle', policy: only };
}

/** The item in the status bar; undefined when it is hidden, which it is without a policy file and without a live session. */
export function contextStatus(facts: ContextFacts): ContextStatus | undefined {
  const policies = distinctPolicies(facts.policies);
  if (facts.sessions.length === 0 && policies.every(({ reply }) => reply.file === null && reply.problems.length === 0)) return undefined;
  return { ...headline(policies, facts), tooltip: tooltipOf(policies, facts) };
}

type Headline = Pick<ContextStatus, 'text' | 'background' | 'spoken'>;

function headline(policies: readonly FolderPolicy[], { sessions, warnAt }: ContextFacts): Headline {
  const broken = policies.find(({ reply }) => !reply.known);
  if (broken) return { text: l10n.t('$(error) Context Policy Invalid'), background: 'error', spoken: l10n.t('Context policy: invalid, {0}', shown(broken.reply.problems[0]?.message ?? '')) };
  const states = new Set(policies.map(({ reply }) => isOn(reply)));
  const measured = sessions.filter(({ percent }) => percent !== null).sort((a, b) => (b.percent ?? 0) - (a.percent ?? 0));
  const bare = measured.find(({ percent, checkpoint }) => (percent ?? 0) >= warnAt && checkpoint === false);
  const [highest] = measured;
  const percent = highest?.percent ?? 0;
  const warning = percent >= warnAt ? { background: 'warning' as const } : {};
  if (states.size > 1) return { text: l10n.t('$(layers) Context Mixed'), ...warning, spoken: l10n.t('Context policy: on in some folders, off in others') };
  if (states.has(false)) return { text: l10n.t('$(circle-slash) Context Off'), spoken: l10n.t('Context policy: off') };
  if (bare) {
    return { text: l10n.t('$(warning) Context {0}%, No Checkpoint', bare.percent ?? 0), background: 'warning', spoken: l10n.t('Context policy: on. The window of {0} is {1} percent full, and it has no checkpoint', bare.name, bare.percent ?? 0) };
  }
  if (highest) return { text: l10n.t('$(layers) Context {0}%', percent), ...warning, spoken: l10n.t('Context policy: on. The window of {0} is {1} percent full', highest.name, percent) };
  return { text: l10n.t('$(layers) Context On'), spoken: l10n.t('Context policy: on') };
}

const sessionLimit = 5;

function tooltipOf(policies: readonly FolderPolicy[], { sessions }: ContextFacts): string[][] {
  const several = policies.length > 1;
  const blocks = policies.map((policy) => policyLines(policy, several));
  const live = [...sessions].sort((a, b) => (b.percent ?? -1) - (a.percent ?? -1));
  const lines = live.slice(0, sessionLimit).map(({ name, usage, checkpoint }) =>
    [l10n.t('{0}: {1}', name, usage), ...checkpoint === undefined ? [] : [checkpoint ? l10n.t('checkpoint complete') : l10n.t('no checkpoint')]].join(' · '));
  if (live.length > sessionLimit) lines.push(plural(live.length - sessionLimit, '{0} more session', '{0} more sessions'));
  if (lines.length > 0) blocks.push(lines);
  blocks.push([l10n.t('On: agents that follow the guide, and `context boundary`, act; Loopkeeper never acts by itself.')]);
  return blocks;
}

function policyLines({ name, reply }: FolderPolicy, several: boolean): string[] {
  const prefix = several ? `${visible(name)}: ` : '';
  const [problem] = reply.problems;
  if (problem) return [l10n.t('{0}invalid, {1} ({2})', prefix, shown(problem.message, 200), fileAndLine(problem.file, problem.line))];
  const on = reply.values.find(({ key }) => key === 'enabled');
  const where = on?.file ? fileAndLine(on.file, on.line) : reply.file === null ? l10n.t('default, no policy file') : l10n.t('default');
  return [
    l10n.t('{0}Context policy {1} ({2})', prefix, policyWord(on?.value ?? true), where),
    reply.values.filter(({ key }) => key !== 'enabled').map(({ key, value }) => l10n.t('{0}: {1}', policyName(key), policyWord(value))).join(' · '),
  ];
}
