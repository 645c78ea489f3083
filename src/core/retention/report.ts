import type { LoopStateListReply, LogEntryView, RunView, TargetView } from '../../protocol/loopState';
import { messageOf, Failure } from '../disk/failure';
import { assertInside } from '../disk/reader';
import type { Reader } from '../disk/reader';
import { cutoffAt, dateExpiry, instantExpiry, retentionDays, timestamp } from './clock';
import type { Cutoff } from './clock';
import { isObject, own, readClock } from './decision';
import type { Decision } from './decision';
import { readEntries } from './jsonText';
import type { Member } from './jsonText';
import { decideRun } from './runLedger';
import { decideLine, logLines, parseLogLine } from './runLog';
import { stateFiles } from './stateFiles';
import type { StateFile } from './stateFiles';
import { breakerThreshold, counterField, decideTarget, isPullRequestKey } from './targets';
import { skipSentence } from './unreadable';

type Files = Pick<LoopStateListReply, 'loops' | 'ledgers' | 'runLog' | 'attention'>;
type Problem = { kind: string; message: string } | null;

/**
 * Everything that is remembered below a working directory: each entry with what it is, its age, and what the prune makes of it now (by the same
 * decisions as the prune). Reading only. A file that cannot be read or understood is shown with its problem.
 */
export function reportState(reader: Reader, directory: string, now: Date): Files {
  const report: Files = { loops: [], ledgers: [], runLog: null, attention: [] };
  const cutoff = cutoffAt(now);
  for (const file of stateFiles(reader, directory)) {
    const at = { path: file.path, ref: file.ref };
    const { text, problem } = readFile(reader, directory, file);
    if (file.kind === 'loop') {
      const { entries, problem: unread } = entriesOf(text, problem, file, 'targets', (key, value, line) => targetView(key, value, line, cutoff, now));
      const loop = file.loop ?? file.ref;
      report.loops.push({ ...at, loop, problem: unread, targets: entries });
      report.attention.push(...entries.filter(({ breaker }) => breaker.open).map((target) => breakerAttention(loop, target)));
    } else if (file.kind === 'ledger') {
      const { entries, problem: unread } = entriesOf(text, problem, file, 'runs', (key, value, line) => runView(key, value, line, cutoff, now));
      report.ledgers.push({ ...at, problem: unread, runs: entries });
    } else {
      report.runLog = { ...at, problem, entries: logLines(text ?? '').map((line) => logView(decideLine(line, cutoff), parseLogLine(line.text), line.number, now)) };
    }
  }
  return report;
}

function readFile(reader: Reader, directory: string, file: StateFile): { text: string | undefined; problem: Problem } {
  try {
    assertInside(directory, file.path);
    return { text: reader.text(file.path), problem: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { text: undefined, problem: { kind: error.kind, message: messageOf(error) } };
  }
}

function entriesOf<T>(
  text: string | undefined, problem: Problem, file: StateFile, field: 'targets' | 'runs', view: (key: string, value: unknown, line: number) => T,
): { entries: T[]; problem: Problem } {
  if (text === undefined) return { entries: [], problem };
  const lineAt = lineCounter(text);
  const read = readEntries(text, field, (key, value, member: Member) => view(key, value, lineAt(member.keyStart)));
  if ('problem' in read) return { entries: [], problem: { kind: read.problem, message: `${file.ref}: ${skipSentence(read.problem, field)}` } };
  return { entries: read.entries, problem: null };
}

/** The line of each position, asked for in ascending order. */
function lineCounter(text: string): (position: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (position) => {
    while (next >= 0 && next < position) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}

const textIn = (entry: Record<string, unknown>, field: string): string | null => { const value = own(entry, field); return typeof value === 'string' ? value : null; };
const numberIn = (entry: Record<string, unknown>, field: string): number | null => { const value = own(entry, field); return typeof value === 'number' ? value : null; };

function ageDays(clock: unknown, now: Date): number | null {
  const instant = readClock(clock);
  return typeof instant === 'string' ? null : Math.floor((now.getTime() / 1000 - instant.seconds) / 86_400);
}

function targetView(key: string, value: unknown, line: number, cutoff: Cutoff, now: Date): TargetView {
  const entry = isObject(value) ? value : {};
  const { action, reason } = decideTarget(key, value, cutoff);
  const failures = numberIn(entry, counterField);
  const open = failures !== null && failures >= breakerThreshold;
  const pending = own(entry, 'pending');
  const isPullRequest = isPullRequestKey(key);
  const clock = readClock(own(entry, 'last_run'));
  // What a prune will do once the entry is old: ask it with a cutoff that is late enough.
  const later = reason === 'recent' ? decideTarget(key, value, { instant: { seconds: Infinity, fraction: '' }, day: Infinity }).action : 'keep';
  return {
    key, line, kind: isPullRequest ? 'pull-request' : 'watch',
    outcome: textIn(entry, 'outcome'), lastRun: textIn(entry, 'last_run'), ageDays: ageDays(own(entry, 'last_run'), now), lastSha: textIn(entry, 'last_sha'),
    consecutiveFailures: failures, breaker: { open, since: open ? textIn(entry, 'last_run') : null },
    pending: pending === undefined || pending === null ? null : { pr: isObject(pending) ? numberIn(pending, 'pr') : null, url: isObject(pending) ? textIn(pending, 'pr_url') : null },
    rejectReason: textIn(entry, 'last_reject_reason'),
    decision: { action, reason },
    next: later === 'keep' || typeof clock === 'string' ? null : { action: later, at: timestamp(dateExpiry(clock, retentionDays)) },
  };
}

function runView(key: string, value: unknown, line: number, cutoff: Cutoff, now: Date): RunView {
  const entry = isObject(value) ? value : {};
  const { action, reason } = decideRun(key, value, cutoff);
  const clock = readClock(own(entry, 'updated_at'));
  return {
    key, line, outcome: textIn(entry, 'outcome'), ageDays: ageDays(own(entry, 'updated_at'), now), decision: { action, reason },
    next: reason !== 'recent' || typeof clock === 'string' ? null : { action: 'delete', at: timestamp(instantExpiry(clock)) },
    workflow: textIn(entry, 'workflow_name'), headSha: textIn(entry, 'head_sha'), updatedAt: textIn(entry, 'updated_at'), rejectCount: numberIn(entry, 'reject_count'),
  };
}

function logView(decision: Decision, entry: Record<string, unknown> = {}, line: number, now: Date): LogEntryView {
  const clock = readClock(own(entry, 'run_id'));
  return {
    key: decision.key, line, outcome: textIn(entry, 'outcome'), ageDays: ageDays(own(entry, 'run_id'), now), decision: { action: decision.action, reason: decision.reason },
    next: decision.reason !== 'recent' || typeof clock === 'string' ? null : { action: 'delete', at: timestamp(dateExpiry(clock)) },
    // `pattern` is the older name of the loop.
    loop: textIn(entry, 'loop_name') ?? textIn(entry, 'pattern'), runId: textIn(entry, 'run_id'), skipReason: textIn(entry, 'skip_reason'),
  };
}

function breakerAttention(loop: string, target: TargetView): LoopStateListReply['attention'][number] {
  return {
    item: target.key, loop,
    attention: {
      kind: 'breaker-open', since: target.breaker.since, sentence: `${loop} skips ${target.key}: it failed ${String(target.consecutiveFailures)} times.`,
      command: `loopkeeper loop-state unblock --loop ${loop} ${target.key.startsWith('-') ? '-- ' : ''}${/^[\w:./@-]+$/.test(target.key) ? target.key : `'${target.key.replaceAll("'", `'\\''`)}'`}`,
    },
  };
}
