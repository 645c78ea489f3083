import type { LoopStateChangeReply, LoopStateListReply, PruneDecision, TargetView } from '../protocol/loopState';
import { plain, plural, table, type Terminal } from './output';
import { printNextStep, printWarnings } from './planReply';

const reasons: Record<PruneDecision['reason'], string> = {
  'malformed-entry': 'the entry is no object', pending: 'in flight', 'not-terminal': 'not finished', 'unknown-outcome': 'its outcome is not one that ends',
  'no-clock': 'it has no date', 'unparseable-clock': 'its date cannot be read', recent: 'recent', 'watch-key': 'a watched branch; nothing to cool down', expired: 'expired',
};

const days = (from: Date, at: string): string => plural(Math.max(0, Math.ceil((Date.parse(at) - from.getTime()) / 86_400_000)), 'day');

/** What becomes of an entry, in a few words. */
function fate(entry: { decision: PruneDecision; next: { action: string; at: string } | null }, now: Date): string {
  if (entry.decision.action === 'delete') return 'goes with the next prune';
  if (entry.decision.action === 'cooldown') return 'is cooled down with the next prune';
  if (entry.next !== null) return `${entry.next.action === 'delete' ? 'goes' : 'is cooled down'} in ${days(now, entry.next.at)}`;
  return `kept: ${reasons[entry.decision.reason]}`;
}

function targetFate(target: TargetView, now: Date): string {
  const blocked = target.breaker.open ? `blocked${target.breaker.since === null ? '' : ` since ${target.breaker.since.slice(0, 10)}`}; ` : '';
  const pending = target.pending === null ? fate(target, now) : `kept: pending${target.pending.pr === null ? '' : ` PR ${String(target.pending.pr)}`}`;
  return blocked + pending;
}

const age = (value: number | null): string => (value === null ? '-' : `${String(value)} d`);

/** The list for a person: loops with their targets, then the ledger and the run log by counts. */
export function printList(out: Terminal, reply: LoopStateListReply, now: Date): void {
  printWarnings(out, reply.warnings);
  if (reply.loops.length + reply.ledgers.length === 0 && reply.runLog === null) out.line(`No loop state: ${plain(reply.directory)} has no .loop with state files.`);
  for (const loop of reply.loops) {
    out.line(`${out.paint('bold', plain(loop.loop))}  ${out.paint('dim', plain(loop.ref))}`);
    if (loop.problem !== null) out.line(`  ${out.paint('red', 'cannot be read')}: ${plain(loop.problem.message)}`);
    else if (loop.targets.length === 0) out.line('  no targets');
    for (const row of table(loop.targets.map((target) => [`  ${target.key}`, target.outcome ?? '-', age(target.ageDays), targetFate(target, now)]))) out.line(row);
  }
  for (const ledger of reply.ledgers) {
    out.line(`${out.paint('bold', 'run ledger')}  ${out.paint('dim', plain(ledger.ref))}`);
    out.line(ledger.problem === null ? `  ${plural(ledger.runs.length, 'run')}, ${goes(count(ledger.runs))}` : `  ${out.paint('red', 'cannot be read')}: ${plain(ledger.problem.message)}`);
  }
  if (reply.runLog !== null) {
    out.line(`${out.paint('bold', 'run log')}  ${out.paint('dim', plain(reply.runLog.ref))}`);
    out.line(reply.runLog.problem === null ? `  ${plural(reply.runLog.entries.length, 'entry', 'entries')}, ${goes(count(reply.runLog.entries))}` : `  ${out.paint('red', 'cannot be read')}: ${plain(reply.runLog.problem.message)}`);
  }
  if (reply.knowledge !== null) out.line(out.paint('dim', knowledge(reply.knowledge)));
  for (const { attention } of reply.attention) {
    out.line();
    out.line(out.paint('yellow', plain(attention.sentence)));
    out.line(`  ${plain(attention.command)}`);
  }
}

const goes = (number: number): string => `${number === 1 ? '1 of them goes' : `${String(number)} of them go`} with the next prune`;
const count = (entries: readonly { decision: PruneDecision }[]): number => entries.filter(({ decision }) => decision.action === 'delete').length;

function knowledge(known: NonNullable<LoopStateListReply['knowledge']>): string {
  const commit = known.commit === null ? 'no commit yet' : `as of ${known.commit.slice(0, 10)}${known.committedAt === null ? '' : ` of ${known.committedAt.slice(0, 10)}`}`;
  const behind = known.behind === null ? '' : known.behind === 0 ? `, level with ${known.upstream ?? ''}` : `, ${plural(known.behind, 'commit')} behind ${known.upstream ?? ''}`;
  const fetched = known.behind === null || known.fetchedAt === null ? '' : ` (fetched ${known.fetchedAt.slice(0, 16).replace('T', ' ')})`;
  const own = known.uncommitted.length === 0 ? '' : `; ${plural(known.uncommitted.length, 'file')} with uncommitted changes`;
  return `This checkout: ${commit}${behind}${fetched}${own}`;
}

/** A ledger can lose hundreds of runs at once; --json names them all. */
const shown = 20;

/** What a change did or would do. */
export function printChange(out: Terminal, reply: LoopStateChangeReply, line: readonly string[]): void {
  printWarnings(out, reply.warnings);
  const words = reply.dryRun ? { delete: 'would delete', cooldown: 'would cool down', write: 'would write' } : { delete: 'deleted', cooldown: 'cooled down', write: 'wrote' };
  for (const item of reply.items) {
    const gone = reply.pruned.filter(({ ref }) => ref === item.ref);
    const written = reply.written.filter(({ ref }) => ref === item.ref);
    for (const { key } of written) out.line(`${plain(item.ref)}: ${words.write} ${plain(key)}`);
    for (const { key, action } of gone.slice(0, shown)) out.line(`${plain(item.ref)}: ${words[action]} ${plain(key)}`);
    if (gone.length > shown) out.line(`${plain(item.ref)}: and ${String(gone.length - shown)} more of the ${plural(gone.length, 'entry', 'entries')} that ${reply.dryRun ? 'would go' : 'went'}`);
    for (const notice of item.notices) out.line(`${plain(item.ref)}: ${plain(notice.message)}`);
    for (const error of item.errors) out.error(`${out.paint('red', 'error')}: ${plain(error.message)}`);
  }
  if (reply.pruned.length + reply.written.length === 0) out.line('Nothing to change.');
  if (reply.committed !== null && ['planned', 'done'].includes(reply.committed.status)) out.line(`${reply.dryRun ? 'Would commit' : 'Committed'} ${plural(reply.committed.paths.length, 'state file')}.`);
  if (reply.pushed !== null) out.line(`Pushed ${reply.pushed.commit.slice(0, 10)} to ${plain(`${reply.pushed.remote}/${reply.pushed.branch}`)}${reply.pushed.attempts > 1 ? ` at the ${String(reply.pushed.attempts)}. attempt` : ''}.`);
  // Only what is kept in the trash can be taken back here; the write paths have git for it.
  if (reply.dryRun || reply.items.some(({ steps }) => steps.some(({ undo }) => undo === 'restore'))) printNextStep(out, reply, line.map(quoted).join(' '));
}

const quoted = (part: string): string => (/^[\w./:=@%+-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`);
