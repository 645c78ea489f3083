import type { LogEntryView, LoopStateListReply, RunView, TargetView } from '../../protocol/loopState';
import { tildePath, type Place } from '../places';
import { shown, visible } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { fateWords, runPage, targetName, targetPage, targetWords } from '../text/loopStateWords';
import type { Link, Row, RowWord } from './row';
import type { Surroundings } from './topRows';

type LoopView = LoopStateListReply['loops'][number];
type LedgerView = LoopStateListReply['ledgers'][number];
type RunLogView = NonNullable<LoopStateListReply['runLog']>;
interface Around extends Surroundings { place: Place; web: string | null }

/** The files of one folder's loop state: a row for each loop, the run ledger and the run log. What is in them is asked for with `entryRows`. */
export function loopStateRows(reply: LoopStateListReply, place: Place, surroundings: Surroundings): Row[] {
  const around = { ...surroundings, place, web: reply.knowledge?.web ?? null };
  return [
    ...[...reply.loops].sort((a, b) => blockedIn(b) - blockedIn(a)).map((loop) => loopRow(loop, around, reply.loops.length === 1)),
    ...reply.ledgers.map((ledger) => fileRow({ ...ledger, icon: 'book', label: l10n.t('Run ledger'), counts: [plural(ledger.runs.length, '{0} run', '{0} runs'), ...goes(ledger.runs)], size: ledger.runs.length }, around)),
    ...reply.runLog === null ? [] : [fileRow({ ...reply.runLog, icon: 'output', label: l10n.t('Run log'), counts: [plural(reply.runLog.entries.length, '{0} entry', '{0} entries'), ...goes(reply.runLog.entries)], size: reply.runLog.entries.length }, around)],
  ];
}

/** The rows below one of them, by its file; empty when it is not there any more. */
export function entryRows(reply: LoopStateListReply, { subject, id }: Row, surroundings: Surroundings): Row[] {
  const around = { ...surroundings, place: subject.place, web: reply.knowledge?.web ?? null };
  const ofFile = ({ path }: { path: string }): boolean => path === subject.path;
  const loop = reply.loops.find(ofFile);
  if (loop) return targetRows(loop, id, around);
  const ledger = reply.ledgers.find(ofFile);
  if (ledger) return ledger.runs.map((run) => runRow(run, ledger, id, around));
  const { runLog } = reply;
  return runLog && ofFile(runLog) ? [...runLog.entries].reverse().map((entry) => logRow(entry, runLog, id, around)) : [];
}

const blockedIn = ({ targets }: LoopView): number => targets.filter(({ breaker }) => breaker.open).length;

function goes(entries: readonly Pick<TargetView, 'decision'>[]): string[] {
  const count = entries.filter(({ decision }) => decision.action === 'delete').length;
  return count === 0 ? [] : [plural(count, '{0} goes', '{0} go')];
}

function loopRow(loop: LoopView, around: Around, expanded: boolean): Row {
  const blocked = blockedIn(loop);
  const cooled = loop.targets.filter(({ decision }) => decision.action === 'cooldown').length;
  const counts = [
    plural(loop.targets.length, '{0} target', '{0} targets'),
    ...blocked === 0 ? [] : [plural(blocked, '{0} blocked', '{0} blocked')], ...goes(loop.targets),
    ...cooled === 0 ? [] : [plural(cooled, '{0} cools down', '{0} cool down')],
  ];
  return { ...fileRow({ ...loop, icon: 'sync', label: shown(loop.loop, 80), counts, size: loop.targets.length, words: ['loop'], loop: loop.loop }, around), expanded: expanded || blocked > 0 };
}

interface FileParts { path: string; ref: string; problem: LoopView['problem']; icon: string; label: string; counts: string[]; size: number; words?: RowWord[]; loop?: string }

function fileRow({ path, ref, problem, icon, label, counts, size, words = [], loop }: FileParts, { place, home }: Around): Row {
  const description = problem ? l10n.t('cannot be read') : counts.join(' · ');
  return {
    id: `file:${ref}`, label, description, icon: problem ? 'error' : icon, ...problem ? { colour: 'list.errorForeground' } : {}, words: [...words, 'entry'],
    spoken: l10n.t('{0}, {1}', label, (problem ? visible(problem.message) : description).replaceAll(' · ', ', ')),
    tooltip: { sentence: problem ? problem.message : l10n.t('{0}: {1}', label, description), facts: [], paths: [tildePath(path, home)], links: [openFile()] },
    ...problem || size === 0 ? {} : { children: 'later' as const },
    subject: { place, path, ...loop === undefined ? {} : { loop } },
  };
}

const openFile = (): Link => ({ title: l10n.t('Open File'), command: 'loopkeeper.openFile' });
const showOnForge = (): Link => ({ title: l10n.t('Show on the Forge'), command: 'loopkeeper.showOnForge' });

function targetRows(loop: LoopView, parent: string, around: Around): Row[] {
  const names = loop.targets.map(({ key }) => targetName(key));
  const rows = loop.targets.map((target, index) => {
    const name = names[index] ?? '';
    // Two keys with one name are told apart by the whole key.
    return targetRow(target, names.indexOf(name) === names.lastIndexOf(name) ? name : shown(target.key, 100), loop, parent, around);
  });
  return rows.sort((a, b) => Number(b.words.includes('blocked')) - Number(a.words.includes('blocked')));
}

interface EntryParts {
  key: string; line: number; label: string; description: string; icon: string; colour?: string; words: RowWord[]; sentence: string;
  facts: { name: string; value: string }[]; page: string | undefined; path: string; parent: string; loop?: string;
}

function entryRow({ key, line, label, description, icon, colour, words, sentence, facts, page, path, parent, loop }: EntryParts, { place, home }: Around): Row {
  return {
    id: `${parent}/${key}`, label, description, icon, ...colour === undefined ? {} : { colour },
    words: [...words, 'entry', ...page === undefined ? [] : ['forge' as const]],
    spoken: sentence,
    tooltip: { sentence, facts, paths: [`${tildePath(path, home)}:${String(line)}`], links: [openFile(), ...page === undefined ? [] : [showOnForge()]] },
    subject: { place, path, line, key, ...loop === undefined ? {} : { loop }, ...page === undefined ? {} : { url: page } },
    opens: 'loopkeeper.openFile',
  };
}

function targetRow(target: TargetView, label: string, loop: LoopView, parent: string, around: Around): Row {
  const blocked = target.breaker.open;
  const description = targetWords(target, around.now);
  const isPull = target.kind === 'pull-request';
  return entryRow({
    key: target.key, line: target.line, label, description, icon: blocked ? 'stop-circle' : isPull ? 'git-pull-request' : 'git-branch',
    ...blocked ? { colour: 'list.warningForeground' } : {}, words: blocked ? ['target', 'blocked', 'attention'] : ['target'],
    sentence: l10n.t('{0} of {1}, {2}', label, shown(loop.loop, 80), description),
    facts: facts([
      [l10n.t('Target'), target.key], [l10n.t('Outcome'), target.outcome], [l10n.t('Last run'), target.lastRun && moment(target.lastRun)], [l10n.t('Cursor'), target.lastSha],
      [l10n.t('Failures in a row'), target.consecutiveFailures && String(target.consecutiveFailures)], [l10n.t('Waits for'), target.pending && pendingWords(target.pending)],
      [l10n.t('Rejected because'), target.rejectReason], [l10n.t('Then'), fateWords(target, around.now)],
    ]),
    page: targetPage(around.web, target), path: loop.path, parent, loop: loop.loop,
  }, around);
}

function pendingWords({ pr, url }: NonNullable<TargetView['pending']>): string {
  return pr === null ? url ?? l10n.t('a pull request that the file does not name') : l10n.t('PR {0}', pr);
}

/** Only the facts that are there. */
function facts(pairs: readonly (readonly [string, string | number | null | undefined])[]): { name: string; value: string }[] {
  return pairs.flatMap(([name, value]) => value === null || value === undefined || value === '' || value === 0 ? [] : [{ name, value: String(value) }]);
}

const joined = (...parts: (string | null)[]): string => parts.filter((part) => part !== null && part !== '').join(' · ');

function runRow(run: RunView, ledger: LedgerView, parent: string, around: Around): Row {
  const label = shown(run.key, 40);
  const description = joined(run.workflow && shown(run.workflow, 40), run.outcome && shown(run.outcome, 40), fateWords(run, around.now));
  return entryRow({
    key: run.key, line: run.line, label, description, icon: 'play', words: [], sentence: l10n.t('Run {0}, {1}', label, description.replaceAll(' · ', ', ')),
    facts: facts([[l10n.t('Recorded'), run.updatedAt && moment(run.updatedAt)], [l10n.t('Commit'), run.headSha], [l10n.t('Rejected'), run.rejectCount]]),
    page: runPage(around.web, run.key), path: ledger.path, parent,
  }, around);
}

function logRow(entry: LogEntryView, log: RunLogView, parent: string, around: Around): Row {
  const label = shown(entry.loop ?? entry.key, 60);
  const description = joined(entry.outcome && shown(entry.outcome, 40), entry.skipReason && shown(entry.skipReason, 60), fateWords(entry, around.now));
  return entryRow({
    key: entry.key, line: entry.line, label, description, icon: 'note', words: [], sentence: l10n.t('Log entry of {0}, {1}', label, description.replaceAll(' · ', ', ')),
    facts: facts([[l10n.t('Run'), entry.runId], [l10n.t('Age'), entry.ageDays === null ? null : plural(entry.ageDays, '{0} day', '{0} days')]]),
    page: runPage(around.web, entry.runId ?? ''), path: log.path, parent,
  }, around);
}

