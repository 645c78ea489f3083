import path from 'node:path';
import type { AgentView, FrameView, RunView, WorkflowListReply } from '../../protocol/workflow';
import { tildePath, type Place } from '../places';
import { shown, visible } from '../text/foreign';
import { l10n, moment, money, plural } from '../text/l10n';
import { attentionWords, mostUrgent } from './attention';
import type { Row, RowWord, Tooltip } from './row';
import type { Surroundings } from './topRows';

/** The rows of one `.raymond`: a run, its agents below, in the program's order. Names that several runs share are told apart by their ids. */
export function runRows(reply: WorkflowListReply, place: Place, around: Surroundings): Row[] {
  const names = reply.runs.map(({ workflow }) => workflow);
  return reply.runs.map((run) => runRow(run, place, around, names.filter((name) => name === run.workflow).length > 1));
}

/** `REVIEW` of `REVIEW.md`. */
export function stateName(state: string): string {
  return shown(state.replace(/\.(md|sh|ps1|bat)$/i, ''), 80);
}

function runRow(run: RunView, place: Place, around: Surroundings, several: boolean): Row {
  const label = run.problem === undefined ? shown(run.workflow, 80) : visible(run.id);
  const urgent = mostUrgent(run.attention);
  const depth = Math.max(0, ...run.agents.map((agent) => agent.depth));
  const parts = run.problem === undefined ? [
    ...several ? [visible(run.id)] : [],
    ...urgent ? [attentionWords(urgent.kind)] : [],
    l10n.t('stack {0}', depth), money(run.costUsd),
    executionWord(run),
  ] : [l10n.t('unreadable')];
  const spoken = run.problem === undefined
    ? l10n.t('Workflow run {0}: {1}', several ? `${label} ${run.id}` : label, [...parts.slice(several ? 1 : 0)].join(', '))
    : l10n.t('Workflow run {0}: unreadable', label);
  return {
    id: `run:${run.readOnly ? 'serve/' : ''}${run.id}`,
    label,
    description: parts.join(' · '),
    ...runIcon(run),
    words: runWords(run),
    spoken: urgent ? l10n.t('{0}. Needs you: {1}', spoken, visible(urgent.sentence)) : spoken,
    tooltip: runTooltip(run, around),
    ...run.agents.length > 0 ? { children: run.agents.map((agent) => agentRow(agent, run, place, around)), expanded: true } : {},
    subject: {
      place, ref: run.id, path: run.path, arguments: ['workflow', 'show', run.id],
      ...(run.scope === '' ? {} : { scope: run.scope }), ...(run.agents.length === 1 && run.agents[0] ? { agent: run.agents[0].name } : {}),
    },
  };
}

function runTooltip(run: RunView, around: Surroundings): Tooltip {
  const urgent = mostUrgent(run.attention);
  const facts: Tooltip['facts'][number][] = [];
  if (urgent) facts.push({ name: l10n.t('Needs you'), value: urgent.sentence });
  facts.push({ name: l10n.t('Run'), value: run.id });
  if (run.startedAt !== null) facts.push({ name: l10n.t('Started'), value: moment(run.startedAt) });
  facts.push({ name: l10n.t('Cost'), value: run.budgetUsd === null ? money(run.costUsd) : l10n.t('{0} of {1}', money(run.costUsd), money(run.budgetUsd)) });
  return {
    sentence: run.problem ?? l10n.t('{0}: {1}.', run.workflow, run.executionSentence),
    facts,
    paths: [run.path, ...run.scope === '' ? [] : [run.scope]].map((file) => tildePath(file, around.home)),
    links: [{ title: l10n.t('Open State File'), command: 'loopkeeper.openStateFile' }, ...run.scope === '' ? [] : [{ title: l10n.t('Show Diagram'), command: 'loopkeeper.showDiagram' }]],
  };
}

function agentRow(agent: AgentView, run: RunView, place: Place, around: Surroundings): Row {
  const label = l10n.t('{0} at {1}', shown(agent.name, 60), stateName(agent.state));
  const parts = [
    ...agent.status === 'active' ? [] : [agentStatus(agent.status)],
    plural(agent.depth, '{0} frame', '{0} frames'),
    agent.session === null ? l10n.t('fresh session') : agent.forks ? l10n.t('forks {0}', shortSession(agent.session)) : shortSession(agent.session),
  ];
  const facts: Tooltip['facts'][number][] = [{ name: l10n.t('State'), value: agent.state }];
  if (agent.ask) facts.push({ name: l10n.t('Asks'), value: agent.ask.prompt });
  if (agent.error !== null) facts.push({ name: l10n.t('Error'), value: agent.error });
  facts.push(
    { name: l10n.t('Session'), value: agent.session ?? l10n.t('none; the next turn begins a fresh one') },
    { name: l10n.t('Directory'), value: agent.directory === null ? l10n.t('where the runner is started') : tildePath(agent.directory, around.home) },
  );
  if (agent.input !== null) facts.push({ name: l10n.t('Waiting input'), value: agent.input === '' ? l10n.t('an empty text') : agent.input });
  facts.push({ name: l10n.t('Stack'), value: agent.returnsTo === null ? l10n.t('empty; a result ends the agent') : l10n.t('{0} deep; the next result returns to {1}', agent.depth, agent.returnsTo) });
  const scope = agent.scope ?? run.scope;
  return {
    id: `run:${run.readOnly ? 'serve/' : ''}${run.id}/${agent.name}`,
    label,
    description: parts.join(' · '),
    ...agentIcon(agent, run),
    words: ['agent', ...statusWords(agent.status), ...readOnlyWords(run), ...scope === '' ? [] : ['workflow' as const]],
    spoken: l10n.t('Agent {0}: {1}', label, parts.join(', ')),
    tooltip: { sentence: l10n.t('{0} of {1} is at {2}.', agent.name, run.workflow, agent.state), facts, paths: [], links: [{ title: l10n.t('Open State File'), command: 'loopkeeper.openStateFile' }] },
    ...agent.depth > 0 ? { children: 'later' as const } : {},
    subject: { place, ref: run.id, agent: agent.name, path: run.path, arguments: ['workflow', 'show', run.id], ...(scope === '' ? {} : { scope, state: agent.state }) },
  };
}

/** The return stack below an agent, its top first: what the next result goes back to, then what that one goes back to. */
export function frameRows(stack: readonly FrameView[], run: RunView, agent: string, place: Place, around: Surroundings): Row[] {
  return stack.map((frame, index) => {
    const label = l10n.t('returns to {0}', shown(frame.returnsTo, 80));
    const parts = [
      frame.session === null ? l10n.t('fresh session') : shortSession(frame.session),
      frame.directory === null ? l10n.t('same directory') : visible(tildePath(frame.directory, around.home)),
    ];
    const scope = frame.scope ?? run.scope;
    return {
      id: `run:${run.readOnly ? 'serve/' : ''}${run.id}/${agent}/${String(stack.length - index)}`,
      label,
      description: parts.join(' · '),
      icon: 'debug-stackframe',
      words: ['frame', ...scope === '' ? [] : ['workflow' as const]],
      spoken: l10n.t('Frame {0} of {1}: {2}, {3}', index + 1, stack.length, label, parts.join(', ')),
      tooltip: {
        sentence: index === 0 ? l10n.t('The next result goes back to {0}.', frame.returnsTo) : l10n.t('After the frames above it, a result goes back to {0}.', frame.returnsTo),
        facts: [
          { name: l10n.t('Session'), value: frame.session ?? l10n.t('none; a fresh one begins there') },
          { name: l10n.t('Directory'), value: frame.directory === null ? l10n.t('the one the agent is in') : tildePath(frame.directory, around.home) },
        ],
        paths: scope === '' ? [] : [tildePath(scope, around.home)], links: [],
      },
      subject: { place, ref: run.id, path: run.path, ...(scope === '' ? {} : { scope, state: frame.returnsTo }) },
    };
  });
}

/** Enough of a session's id to tell it from others. */
function shortSession(id: string): string {
  return l10n.t('session {0}', shown(id, 12));
}

export function agentStatus(status: AgentView['status']): string {
  switch (status) {
    case 'active': return l10n.t('active');
    case 'paused': return l10n.t('paused');
    case 'asking': return l10n.t('asks you');
    case 'failed': return l10n.t('failed');
  }
}

function executionWord(run: RunView): string {
  switch (run.execution) {
    case 'loopkeeper': return l10n.t('running');
    case 'raymond': return l10n.t('running in raymond');
    case 'stopped': return l10n.t('stopped');
    case 'unknown': return l10n.t('running or stopped: unknown');
  }
}

const isExecuted = ({ execution }: RunView): boolean => execution === 'loopkeeper' || execution === 'raymond';

function runIcon(run: RunView): { icon: string; colour?: string } {
  if (run.problem !== undefined) return { icon: 'error', colour: 'list.errorForeground' };
  switch (mostUrgent(run.attention)?.kind) {
    case 'asks-you': return { icon: 'question', colour: 'list.warningForeground' };
    case 'failed': return { icon: 'error', colour: 'list.errorForeground' };
    default:
  }
  if (isExecuted(run)) return { icon: 'play-circle', colour: 'charts.green' };
  return { icon: run.execution === 'stopped' ? 'debug-pause' : 'circle-slash' };
}

function agentIcon(agent: AgentView, run: RunView): { icon: string; colour?: string } {
  switch (agent.status) {
    case 'asking': return { icon: 'question', colour: 'list.warningForeground' };
    case 'paused': return agent.error === null ? { icon: 'debug-pause' } : { icon: 'error', colour: 'list.errorForeground' };
    case 'failed': return { icon: 'error', colour: 'list.errorForeground' };
    case 'active': return isExecuted(run) ? { icon: 'play-circle', colour: 'charts.green' } : { icon: 'circle-filled' };
  }
}

function statusWords(status: AgentView['status']): RowWord[] {
  return status === 'active' ? [] : [status];
}

function readOnlyWords(run: RunView): RowWord[] {
  return run.readOnly ? ['readonly'] : isExecuted(run) ? ['executed'] : ['resettable'];
}

function runWords(run: RunView): RowWord[] {
  if (run.problem !== undefined) return ['run', 'unreadable', 'attention'];
  const statuses = new Set(run.agents.map(({ status }) => status));
  return [
    'run', ...[...statuses].flatMap(statusWords), ...run.agents.length === 0 && !isExecuted(run) ? [] : readOnlyWords(run),
    ...run.scope === '' ? [] : ['workflow' as const], ...run.attention.length > 0 ? ['attention' as const] : [],
  ];
}

/** The file of a row's state in its workflow; a YAML workflow is one file. */
export function fileOfState(scope: string, state: string | undefined): string {
  return /\.ya?ml$/i.test(scope) || state === undefined ? scope : path.join(scope, path.basename(state));
}
