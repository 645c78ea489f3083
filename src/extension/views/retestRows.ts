import type { Actor, FindingVerdict, RetestListReply, RetestRow, RetestShowReply, RetestStatus, VerdictRecord, VerdictStatus } from '../../protocol/retest';
import type { Attention } from '../../protocol/plan';
import { tildePath, type Place } from '../places';
import { shown, visible } from '../text/foreign';
import { day, l10n, moment, plural } from '../text/l10n';
import { actorWord, isLiveRetest, retestStatusWord, verdictWord } from '../text/retestWords';
import { attentionWords, mostUrgent } from './attention';
import type { Row, RowWord, Tooltip } from './row';
import type { Surroundings } from './topRows';

/** Findings are opened at first sight when there are no more than these. */
const openedFindings = 20;

/** A row for each finding, its sessions below, in the program's order: what needs a person first. Sessions without a finding come last, by themselves. */
export function retestRows(reply: RetestListReply, place: Place, around: Surroundings): Row[] {
  const sessions = new Map(reply.sessions.map((row) => [row.session, row]));
  const expanded = reply.findings.length <= openedFindings;
  const findings = reply.findings.map(({ finding, determination, sessions: ids }) => {
    const below = ids.flatMap((id) => sessions.get(id) ?? []);
    return findingRow(finding, determination, below, place, around, expanded);
  });
  return [...findings, ...reply.sessions.filter(({ finding }) => finding === null).map((row) => sessionRow(row, place, around))];
}

function findingRow(finding: string, determination: FindingVerdict | null, sessions: readonly RetestRow[], place: Place, around: Surroundings, expanded: boolean): Row {
  const label = shown(finding);
  const live = sessions.filter(({ status }) => isLiveRetest(status)).length;
  const parts = [
    determination ? verdictLine(determination, around.now) : l10n.t('no verdict'),
    ...live > 0 ? [plural(live, '{0} session open', '{0} sessions open')] : [],
  ];
  const urgent = mostUrgent(sessions.flatMap(({ attention }) => attention));
  const facts: Tooltip['facts'][number][] = [];
  if (determination) facts.push({ name: l10n.t('Rationale'), value: determination.rationale }, { name: l10n.t('Given'), value: l10n.t('{0}, {1}, in session {2}', actorWord(determination.actor), moment(determination.ts), determination.session) });
  if (urgent) facts.push({ name: l10n.t('Needs you'), value: urgent.sentence });
  return {
    id: `finding:${finding}`,
    label,
    description: parts.join(' · '),
    ...verdictIcon(determination?.status),
    words: ['finding'],
    spoken: withNeed(l10n.t('Finding {0}: {1}', label, parts.join(', ')), urgent),
    tooltip: {
      sentence: determination ? l10n.t('{0}: the latest verdict that stands is "{1}".', finding, verdictWord(determination.status)) : l10n.t('{0}: no verdict stands.', finding),
      facts, paths: [], links: [{ title: l10n.t('Start Retest Session…'), command: 'loopkeeper.startRetest' }],
    },
    children: sessions.map((row) => sessionRow(row, place, around)),
    expanded,
    subject: { place, finding },
  };
}

function sessionRow(row: RetestRow, place: Place, around: Surroundings): Row {
  const label = shown(row.session, 100);
  const urgent = mostUrgent(row.attention);
  const status = row.unreadable === undefined ? retestStatusWord(row.status) : l10n.t('unreadable');
  const parts = [status];
  if (row.currentVerdict) parts.push(row.adjudicated ? l10n.t('{0} ({1}, adjudicated)', verdictWord(row.currentVerdict.status), actorWord(row.currentVerdict.actor)) : l10n.t('{0} ({1})', verdictWord(row.currentVerdict.status), actorWord(row.currentVerdict.actor)));
  if (row.withdrawn > 0) parts.push(plural(row.withdrawn, '{0} verdict withdrawn', '{0} verdicts withdrawn'));
  if (row.lastActivity !== null) parts.push(day(row.lastActivity, around.now));
  if (urgent && urgent.kind !== 'asks-you' && row.status !== 'error') parts.push(attentionWords(urgent.kind));
  const words: RowWord[] = ['retest', ...row.unreadable === undefined ? retestWords(row.status) : ['unreadable' as const]];
  if (row.currentVerdict && row.status === 'concluded' && row.unreadable === undefined) words.push('verdict');
  if (urgent) words.push('attention');
  return {
    id: `retest:${row.session}`,
    label,
    description: parts.join(' · '),
    ...sessionIcon(row),
    words,
    spoken: withNeed(l10n.t('Retest session {0}: {1}', label, parts.join(', ')), urgent),
    tooltip: sessionTooltip(row, urgent, around),
    // A session that only began has no verdict to show.
    ...(row.unreadable === undefined && (row.currentVerdict !== null || row.withdrawn > 0 || row.problems.length > 0) ? { children: 'later' as const } : {}),
    subject: { place, ref: row.session, path: row.path, arguments: ['retest', 'show', row.session], ...(row.finding === null ? {} : { finding: row.finding }) },
    opens: 'loopkeeper.openTranscript',
  };
}

function sessionTooltip(row: RetestRow, urgent: Attention | undefined, around: Surroundings): Tooltip {
  const facts: Tooltip['facts'][number][] = [];
  if (urgent) facts.push({ name: l10n.t('Needs you'), value: urgent.sentence });
  if (row.currentVerdict) {
    facts.push({ name: l10n.t('Verdict'), value: l10n.t('{0} ({1})', verdictWord(row.currentVerdict.status), actorWord(row.currentVerdict.actor)) }, { name: l10n.t('Rationale'), value: row.currentVerdict.rationale });
    if (row.currentVerdict.evidence) facts.push({ name: l10n.t('Rests on'), value: evidenceWords(row.currentVerdict.evidence) });
  }
  if (row.startedAt !== null) facts.push({ name: l10n.t('Started'), value: moment(row.startedAt) });
  if (row.endedAt !== null) facts.push({ name: l10n.t('Ended'), value: moment(row.endedAt) });
  facts.push({ name: l10n.t('Transcript'), value: plural(row.events, '{0} event', '{0} events') });
  return {
    sentence: l10n.t('{0}: {1}.', row.session, row.unreadable ?? statusSentence(row.status)),
    facts,
    paths: [tildePath(row.path, around.home)],
    links: [{ title: l10n.t('Open Transcript'), command: 'loopkeeper.openTranscript' }],
  };
}

function evidenceWords({ command, exit_code: exitCode }: { command: string; exit_code: number | null }): string {
  return exitCode === null ? shown(command) : l10n.t('{0}, exit code {1}', shown(command), exitCode);
}

/** The rows below a session: its verdicts, the latest first, then what is wrong with its transcript. */
export function historyRows(reply: RetestShowReply, place: Place, around: Surroundings): Row[] {
  const verdicts = [...reply.verdicts].reverse().map((verdict): Row => {
    const label = verdictWord(verdict.status);
    const parts = [actorWord(verdict.actor), day(verdict.ts, around.now), stateWords(verdict, around.now)];
    return {
      id: `retest:${reply.session}/${String(verdict.seq)}`,
      label,
      description: parts.join(' · '),
      ...(verdict.state === 'current' ? verdictIcon(verdict.status) : { icon: verdict.state === 'withdrawn' ? 'discard' : 'history' }),
      words: ['past'],
      spoken: l10n.t('Verdict {0}: {1}', label, parts.join(', ')),
      tooltip: {
        sentence: verdict.kind === 'verdict_adjudicated' ? l10n.t('Adjudicated as "{0}".', label) : l10n.t('Concluded as "{0}".', label),
        facts: [
          { name: l10n.t('Rationale'), value: verdict.rationale },
          { name: l10n.t('Given'), value: l10n.t('{0}, {1}', actorWord(verdict.actor), moment(verdict.ts)) },
          ...verdict.withdrawn ? [{ name: l10n.t('Withdrawn'), value: withdrawnWords(verdict.withdrawn) }] : [],
        ],
        paths: [], links: [{ title: l10n.t('Open Transcript'), command: 'loopkeeper.openTranscript' }],
      },
      subject: { place, ref: reply.session, path: reply.path, seq: verdict.seq },
      opens: 'loopkeeper.openTranscript',
    };
  });
  const problems = reply.problems.map((problem, index): Row => {
    const label = problemWords(problem.kind);
    const description = l10n.t('line {0}', problem.line);
    return {
      id: `retest:${reply.session}/problem/${String(index)}`, label, description, icon: 'warning', colour: 'list.warningForeground', words: ['past'],
      spoken: l10n.t('{0}, {1}', label, description), subject: { place, ref: reply.session, path: reply.path }, opens: 'loopkeeper.openTranscript',
    };
  });
  return [...verdicts, ...problems];
}

function stateWords({ state, withdrawn, kind }: VerdictRecord, now: Date): string {
  switch (state) {
    case 'current': return kind === 'verdict_adjudicated' ? l10n.t('stands, adjudicated') : l10n.t('stands');
    case 'superseded': return l10n.t('superseded');
    case 'withdrawn': return withdrawn ? l10n.t('withdrawn {0}', day(withdrawn.ts, now)) : l10n.t('withdrawn');
  }
}

function withdrawnWords({ actor, ts, reason }: { actor: Actor; ts: string; reason: string | null }): string {
  const who = l10n.t('{0}, {1}', actorWord(actor), moment(ts));
  return reason === null ? who : l10n.t('{0}: {1}', who, shown(reason, 250));
}

function problemWords(kind: RetestShowReply['problems'][number]['kind']): string {
  switch (kind) {
    case 'gap': return l10n.t('Events are missing');
    case 'duplicate': return l10n.t('An event number twice');
    case 'not-json': return l10n.t('A line that is no JSON');
    case 'not-an-event': return l10n.t('A line that is no event');
    case 'torn-tail': return l10n.t('The last line was cut');
  }
}

/** `fixed (agent) · 4 Aug` */
export function verdictLine({ status, actor, ts }: Pick<FindingVerdict, 'status' | 'actor' | 'ts'>, now: Date): string {
  return `${l10n.t('{0} ({1})', verdictWord(status), actorWord(actor))} · ${day(ts, now)}`;
}

/** The badge of a verdict; its word is always beside it. */
function verdictIcon(status: VerdictStatus | undefined): { icon: string; colour?: string } {
  switch (status) {
    case 'fixed': return { icon: 'pass-filled', colour: 'charts.green' };
    case 'still_open': return { icon: 'bug', colour: 'charts.red' };
    case 'inconclusive': return { icon: 'unverified', colour: 'charts.yellow' };
    case undefined: return { icon: 'circle-outline' };
  }
}

function sessionIcon(row: RetestRow): { icon: string; colour?: string } {
  if (row.unreadable !== undefined || row.status === 'error') return { icon: 'error', colour: 'list.errorForeground' };
  if (row.attention.some(({ kind }) => kind === 'asks-you')) return { icon: 'question', colour: 'list.warningForeground' };
  switch (row.status) {
    case 'working': return { icon: 'play-circle', colour: 'charts.green' };
    case 'concluded': return verdictIcon(row.currentVerdict?.status);
    case 'stopped': return { icon: 'debug-pause' };
    case 'ended': return { icon: 'circle-outline' };
    default: return { icon: 'circle-filled' };
  }
}

/** What its commands depend on. */
function retestWords(status: RetestStatus): RowWord[] {
  if (status === 'concluded') return ['concluded'];
  return isLiveRetest(status) ? ['open', ...(status === 'idle' ? ['idle' as const] : [])] : ['over'];
}

function statusSentence(status: RetestStatus): string {
  switch (status) {
    case 'idle': return l10n.t('no agent is at work in it');
    case 'working': return l10n.t('its agent is at work');
    case 'awaiting_command': return l10n.t('its agent wants to run a command and waits for your approval');
    case 'awaiting_operator': return l10n.t('its agent handed back and waits for you');
    case 'stopped': return l10n.t('it was stopped');
    case 'concluded': return l10n.t('it is concluded; Reopen withdraws its verdict');
    case 'ended': return l10n.t('it has ended');
    case 'error': return l10n.t('it has failed');
  }
}

function withNeed(sentence: string, urgent: Attention | undefined): string {
  return urgent ? l10n.t('{0}. Needs you: {1}', sentence, visible(urgent.sentence)) : sentence;
}
