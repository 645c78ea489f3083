import fs from 'node:fs';
import path from 'node:path';
import type { CliConfig } from '../core/config/cliConfig';
import { messageOf } from '../core/disk/failure';
import { holderState, lockHolder } from '../core/disk/lock';
import type { Reader } from '../core/disk/reader';
import { isSafeTerminal, terminalOpenCommand, type Tmux } from '../core/harness/terminal';
import { inspectTerminals, listPanes } from '../core/harness/tmux';
import { closedPlan, closedPlanIds, failedPlans, unfinishedPlans } from '../core/plan/journal';
import { journalDirectory, lockFile, type Store } from '../core/plan/store';
import { listTrash } from '../core/plan/trash';
import { lockHeld, runningDaemons } from '../core/workItems/daemons';
import { unsafePlaces } from '../core/workItems/places';
import { isLive } from '../core/workItems/sessionRecord';
import { snapshotAll, type StateSnapshot } from '../core/workItems/snapshot';
import type { DoctorReply } from '../protocol/sessions';
import { plural } from './output';

type Finding = DoctorReply['findings'][number];
const OLD_TRASH_DAYS = 30;

/** What our own directory says of itself: locks, plans that are not finished, trash. `now`: RFC 3339. */
export function storeFindings(store: Store, now: string): Finding[] {
  const findings: Finding[] = [];
  const lock = lockFile(store);
  const holder = lockHolder(lock);
  if (holder === null) findings.push({ kind: 'lock-unreadable', level: 'error', message: 'The lock is there but does not say who holds it.', hint: 'If no Loopkeeper runs anywhere on this state: loopkeeper doctor --unlock', path: lock });
  else if (holder) {
    const state = holderState(holder);
    const who = `${holder.verb}, pid ${String(holder.pid)}, since ${holder.since}`;
    if (state === 'alive') findings.push({ kind: 'locked', level: 'info', message: `Another Loopkeeper works here (${who}).`, hint: 'Nothing to do: it ends by itself.', path: lock });
    else if (state === 'dead') findings.push({ kind: 'lock-of-dead', level: 'info', message: `A Loopkeeper that was stopped left its lock (${who}).`, hint: 'Nothing to do: the next command takes it over.', path: lock });
    else findings.push({ kind: 'locked-elsewhere', level: 'warning', message: `The lock is held from another host or container (${who}, ${holder.host}).`, hint: 'If that one does not run any more: loopkeeper doctor --unlock', path: lock });
  }
  for (const { id, plan, problem } of unfinishedPlans(store)) {
    const level = holder && holderState(holder) === 'alive' ? 'info' : 'warning';
    findings.push({ kind: 'unfinished-plan', level, message: plan ? `The plan ${id} (${plan.verb} of ${plural(plan.items.length, 'item')}) was begun and not finished.` : `The unfinished plan ${id} cannot be read: ${problem ?? ''}`, hint: 'The next changing command finishes it, e.g. the same one again.', path: path.join(journalDirectory(store), `${id}.json`) });
  }
  for (const { id, reason, plan } of failedPlans(store)) {
    findings.push({ kind: 'failed-plan', level: 'error', message: `The plan ${id}${plan ? ` (${plan.verb} of ${plan.items.map((item) => item.ref).join(', ')})` : ''} could not be finished: ${reason}`, hint: 'Look at its items, run the verb again for them, then move the file away.', path: path.join(journalDirectory(store), 'failed', `${id}.json`) });
  }
  for (const id of closedPlanIds(store)) {
    const closed = closedPlan(store, id);
    if (!closed) { findings.push({ kind: 'unreadable-plan', level: 'warning', message: `The finished plan ${id} cannot be read, so it cannot be undone.`, hint: 'Its trash is still there: loopkeeper trash list', path: store.directory }); continue; }
    const interrupted = closed.outcome.steps.flatMap((step, index) => (step.status === 'interrupted' ? [closed.plan.steps[index]?.reason ?? ''] : []));
    if (interrupted.length > 0) findings.push({ kind: 'interrupted', level: 'warning', message: `In the plan ${id} it is not known whether this happened: ${interrupted.join('; ')}.`, hint: 'Look for yourself, and repeat it by hand if it is missing.', path: store.directory });
  }
  const trash = listTrash(store, now);
  if (trash.length > 0) {
    const bytes = trash.reduce((sum, entry) => sum + entry.bytes, 0);
    const old = trash.filter((entry) => entry.ageDays >= OLD_TRASH_DAYS);
    findings.push({
      kind: old.length > 0 ? 'old-trash' : 'trash', level: 'info', path: path.join(store.directory, 'trash'),
      message: `The trash holds ${plural(trash.length, 'plan')} in ${String(Math.ceil(bytes / 1024))} KB, the oldest of ${plural(trash[0]?.ageDays ?? 0, 'day')} ago${old.length > 0 ? `; ${String(old.length)} older than ${String(OLD_TRASH_DAYS)} days` : ''}.`,
      hint: old.length > 0 ? `loopkeeper trash purge --older-than ${String(OLD_TRASH_DAYS)}` : 'Nothing to do: it keeps what undo needs.',
    });
  }
  return findings;
}

/** Records that cannot be read, belong to others, or stand under a wrong name; and the older layout. */
export function recordFindings(config: CliConfig, snapshot: StateSnapshot): Finding[] {
  const findings: Finding[] = [];
  for (const bad of [...snapshot.strays, ...snapshot.items.flatMap((item) => item.bad)]) {
    const hint = bad.cause === 'unsafe' ? 'Look at it and move it away by hand; it is not followed.' : bad.ref ? `loopkeeper sessions reset --work-item '${bad.ref.ref}' removes it, to the trash.` : 'Look at it; a reset that names its item removes it, to the trash.';
    findings.push({ kind: bad.cause === 'unsafe' ? 'unsafe-path' : 'unreadable-record', level: 'warning', message: `${bad.path} cannot be read as a record: ${bad.why}.`, hint, path: bad.path });
  }
  for (const place of unsafePlaces(config)) findings.push({ kind: 'unsafe-path', level: 'warning', message: `${place.why}.`, hint: 'A reset leaves what is there alone. Put a folder in its place, or name the other one in the configuration.', path: place.path });
  for (const item of snapshot.items) {
    for (const collision of item.collisions) findings.push({ kind: 'collision', level: 'warning', message: `${item.ref.ref} and ${collision.ref.ref} make the same file name; the ${collision.piece} record there is of ${collision.ref.ref}.`, hint: 'Only one of the two can be remembered at a time; rename a repository, or reset the one that has the record.', path: collision.path });
  }
  for (const { path: file, ref } of snapshot.misplaced) findings.push({ kind: 'misplaced-record', level: 'warning', message: `${file} holds ${ref.ref} but is not named after it, so no loop finds it.`, hint: `Rename it to ${ref.slug}.json, or move it away.`, path: file });
  if (fs.existsSync(config.legacy.directory)) findings.push({ kind: 'legacy', level: 'info', message: 'There is a tree of the older layout; it is read where a record does not say, and never written.', hint: 'Keep it while a seal or null in portable/ refers to it.', path: config.legacy.directory });
  for (const problem of snapshot.legacyProblems) findings.push({ kind: 'legacy-unreadable', level: 'warning', message: problem, hint: 'Look at the file.' });
  return findings;
}

/** Daemons that seem to run, and whether they hold their lock. */
export function daemonFindings(reader: Reader, config: CliConfig): Finding[] {
  return runningDaemons(reader, config, true).map(({ name, pid, pidfile }): Finding => {
    const held = lockHeld(pidfile);
    const certain = held === true ? 'it holds its lock' : held === false ? 'nobody holds its lock, so the pid may be another program' : 'whether its lock is held cannot be told here';
    return { kind: 'daemon', level: 'info', message: `The ${name} ${held === false ? 'seems to run' : 'runs'} (pid ${String(pid)}): ${certain}.`, hint: held === false ? `If it does not run, remove ${pidfile}.` : 'Stop it before a reset for a clean slate: it may write back what it holds in memory.', path: pidfile };
  });
}

/** Live records whose agent has gone, closed ones whose terminal runs on, and terminals of loops that no record names. */
export async function terminalFindings(config: CliConfig, snapshot: StateSnapshot, tmux: Tmux, signal: AbortSignal): Promise<Finding[]> {
  const records = snapshot.items.flatMap((item) => (item.session.kind === 'record' ? [item.session.record] : []));
  const endpoints = records.flatMap((record) => [record, ...record.pullRequests]);
  const live = endpoints.filter((endpoint) => isLive(endpoint) && endpoint.terminal !== '');
  const findings: Finding[] = [];
  try {
    const inspection = await inspectTerminals(live, tmux, { signal });
    for (const endpoint of live) {
      const state = inspection.terminals.get(endpoint.terminal)?.state;
      if (state === 'dead' || state === 'absent') findings.push({ kind: 'terminal-died', level: 'warning', message: `${endpoint.ref.ref} is recorded as ${endpoint.status}, but its terminal ${endpoint.terminal} is ${state === 'dead' ? 'only a last screen' : 'gone'}.`, hint: 'Start it again with the loop, or reset the item.' });
    }
    const named = new Set(endpoints.map((endpoint) => endpoint.terminal));
    const { panes } = await listPanes(tmux, { signal });
    const running = new Set(panes.filter((pane) => !pane.dead).map((pane) => pane.terminal));
    // An agent that would not end when its session was closed. Where the configuration leaves agents running at a close, there is nothing wrong.
    const { keepSessionOnClose, killHarnessOnClose } = config.tmux;
    const level = keepSessionOnClose && !killHarnessOnClose ? 'info' : 'warning';
    const liveTerminals = new Set(live.map((endpoint) => endpoint.terminal));
    for (const endpoint of endpoints) {
      if (isLive(endpoint) || !running.has(endpoint.terminal) || liveTerminals.has(endpoint.terminal) || !isSafeTerminal(endpoint.terminal)) continue;
      findings.push({ kind: 'closed-but-running', level, message: `${endpoint.ref.ref} is recorded as closed, but something runs in its terminal ${endpoint.terminal}.`, hint: `Look at it: ${terminalOpenCommand(endpoint.terminal, tmux)}. A reset of the item leaves it running.` });
    }
    for (const terminal of running) {
      if (isSafeTerminal(terminal) && !named.has(terminal) && !terminal.startsWith('loop-standing-')) {
        findings.push({ kind: 'orphan-terminal', level: 'warning', message: `The terminal ${terminal} runs, and no record here names it.`, hint: `Look at it: ${terminalOpenCommand(terminal, tmux)}. It may be of another loop folder.` });
      }
    }
  } catch (error) {
    findings.push({ kind: 'tmux', level: 'info', message: `Terminals could not be looked at: ${messageOf(error)}`, hint: 'Without tmux everything else works.' });
  }
  return findings;
}

/** The snapshot, or the finding that says why there is none. */
export function trySnapshot(reader: Reader, config: CliConfig): StateSnapshot | Finding {
  try {
    return snapshotAll(reader, config);
  } catch (error) {
    return { kind: 'state-unreadable', level: 'error', message: messageOf(error), hint: 'Check the folder and its permissions.', path: config.stateRoot };
  }
}
