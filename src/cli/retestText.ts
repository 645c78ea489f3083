import type { AuditReply, FindingVerdict, RetestChangeReply, RetestListReply, RetestShowReply, VerdictRecord } from '../protocol/retest';
import type { Terminal } from './output';
import { plain, plural, table } from './output';

const words = (status: string): string => status.replaceAll('_', ' ');
const bold = (out: Terminal) => (row: number, _column: number, cell: string): string => (row === 0 ? out.paint('bold', cell) : cell);

function shown(finding: string | null, verdict: FindingVerdict | null): string {
  if (finding === null) return 'The transcript names no finding.';
  return verdict ? `Finding ${plain(finding)} shows ${words(verdict.status)} (session ${plain(verdict.session)}, ${verdict.actor}, ${plain(verdict.ts)}).` : `Finding ${plain(finding)} has no verdict now.`;
}

export function printList(out: Terminal, reply: RetestListReply): void {
  if (reply.sessions.length === 0) {
    out.line(`No retest sessions in ${plain(reply.stateRoot)}. Begin one with \`loopkeeper retest start\`.`);
    return;
  }
  const determined = new Map(reply.findings.map(({ finding, determination }) => [finding, determination]));
  const rows = reply.sessions.map((row) => [
    row.session, row.finding ?? '-', row.unreadable === undefined ? words(row.status) : 'unreadable',
    row.currentVerdict ? `${words(row.currentVerdict.status)} (${row.currentVerdict.actor})` : row.withdrawn > 0 ? `none, ${String(row.withdrawn)} withdrawn` : 'none',
    row.finding === null ? '-' : words(determined.get(row.finding)?.status ?? 'none'), row.lastActivity ?? '-', row.unreadable ?? row.attention[0]?.sentence ?? '',
  ]);
  for (const line of table([['SESSION', 'FINDING', 'STATUS', 'VERDICT', 'FINDING SHOWS', 'LAST ACTIVITY', ''], ...rows], bold(out))) out.line(line);
}

function historyRow(verdict: VerdictRecord): string[] {
  const withdrawn = verdict.withdrawn ? ` by the ${verdict.withdrawn.actor}, ${verdict.withdrawn.ts}${verdict.withdrawn.reason === null ? '' : `: ${verdict.withdrawn.reason}`}` : '';
  return [String(verdict.seq), words(verdict.status), verdict.kind === 'verdict' ? verdict.actor : `${verdict.actor}, adjudicated`, verdict.ts, verdict.state + withdrawn, verdict.rationale];
}

export function printShow(out: Terminal, reply: RetestShowReply): void {
  out.line(`${plain(reply.session)} is ${out.paint('bold', words(reply.status))}, ${plural(reply.events, 'event')}${reply.endedAt === null ? '' : `, since ${plain(reply.endedAt)}`}.`);
  out.line(shown(reply.finding, reply.determination));
  const evidence = reply.currentVerdict?.evidence;
  if (evidence) out.line(`Evidence: ${plain(evidence.command)} (exit code ${evidence.exit_code === null ? 'unknown' : String(evidence.exit_code)}, event ${String(evidence.seq)}).`);
  for (const [title, entries] of [['Goal', reply.goal], ['Scope', reply.scope]] as const) {
    if (entries.length > 0) out.line(`${title}:`);
    for (const entry of entries) out.line(`  - ${plain(entry)}`);
  }
  if (reply.verdicts.length > 0) {
    out.line('History:');
    for (const line of table([['EVENT', 'VERDICT', 'BY', 'WHEN', 'STATE', 'RATIONALE'], ...reply.verdicts.map(historyRow)], bold(out))) out.line(`  ${line}`);
  }
  for (const problem of reply.problems) {
    out.line(out.paint('yellow', `Line ${String(problem.line)}: ${problem.kind}${problem.expected === undefined ? '' : `, number ${String(problem.expected)} was due and ${String(problem.found)} is there`}`));
  }
  out.line(out.paint('dim', plain(reply.path)));
}

/** What the session is after a command, and what was said or withdrawn by it. */
function consequence(reply: RetestChangeReply): string {
  const event = reply.appended.find(({ kind }) => kind.startsWith('verdict'));
  const state = `${plain(reply.session)} is ${words(reply.after.status)}`;
  if (!event) return `${state}.`;
  const verdict = `${words(String(event.payload.status))}, "${plain(String(event.payload.rationale))}"`;
  return event.kind === 'verdict_cancelled' ? `${state} again. Withdrawn: ${verdict}. It stays in the history.` : `${state} (${event.actor}): ${verdict}.`;
}

export function printChange(out: Terminal, reply: RetestChangeReply, commandLine: string): void {
  const [item] = reply.items;
  const failed = (item?.errors.length ?? 0) > 0;
  if (reply.dryRun) out.line(`Would append ${plural(reply.appended.length, 'event')} (${reply.appended.map(({ kind }) => kind).join(', ')}) to ${plain(reply.path)}. Then:`);
  if (!failed) {
    out.line(consequence(reply));
    const { before, after } = reply.determination;
    if (JSON.stringify(before) !== JSON.stringify(after)) out.line(shown(reply.finding, after));
  }
  for (const notice of item?.notices ?? []) out.line(`  ${plain(notice.message)}`);
  for (const error of item?.errors ?? []) out.error(`${plain(reply.session)}: ${out.paint('red', 'error')}: ${plain(error.message)}`);
  if (!failed && reply.prompt !== undefined) out.line(`\n${printable(reply.prompt)}`);
  if (reply.dryRun) {
    for (const step of item?.steps ?? []) out.line(out.paint('dim', `${step.kind} ${plain(step.path ?? '')}: ${plain(step.reason)}`));
    out.line(out.paint('dim', `Nothing was changed. To apply exactly this: ${commandLine} --expect ${reply.digest}`));
  }
}

/** A prompt keeps its lines and nothing else that could paint the screen. */
export const printable = (prompt: string): string => prompt.split('\n').map(plain).join('\n');

export function printAudit(out: Terminal, reply: AuditReply): void {
  for (const { message } of reply.discrepancies) out.line(`${out.paint('red', 'differs')}: ${plain(message)}`);
  for (const { session, line, kind } of reply.problems) out.line(`${out.paint('yellow', 'transcript')}: session ${plain(session)}, line ${String(line)}: ${kind}`);
  out.line(reply.ok ? `${plural(reply.sessions, 'session')} recomputed: what is stored is what the transcripts say.`
    : `${plural(reply.sessions, 'session')} recomputed, ${plural(reply.discrepancies.length, 'discrepancy', 'discrepancies')}.`);
}
