import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { writeAll } from './durable';
import { codeOf, Failure } from './failure';
import { isHidden, isRunning, pidSpace, startTimeOf } from './processes';

const LockFile = z.object({
  pid: z.number(), startTime: z.string(), host: z.string(), boot: z.string(), verb: z.string(), since: z.string(), nonce: z.string(),
});
export type LockHolder = z.infer<typeof LockFile>;

export interface Lock { release(): void }

export interface LockRequest {
  /** The lock's own path; its folder must exist. */
  file: string;
  verb: string;
  /** RFC 3339, real time. */
  since: string;
  /** A text no other attempt ever uses. */
  nonce: string;
  /** How long to wait for a living holder. */
  waitMs: number;
  signal?: AbortSignal;
}

/** Who holds the lock now: undefined = nobody, null = a file that cannot be read as a lock. */
export function lockHolder(file: string): LockHolder | null | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    return null;
  }
  try {
    return LockFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** `dead`: ended for certain, on this host. `elsewhere`: of another host or pid namespace, so nothing can be said. */
export function holderState(holder: LockHolder): 'alive' | 'dead' | 'elsewhere' {
  const here = pidSpace();
  if (holder.host !== here.host) return 'elsewhere';
  if (holder.boot !== here.boot) return 'dead';
  // Of one that is hidden it cannot be told: it counts as alive, since a lock is never taken from who lives.
  return isRunning(holder.pid, holder.startTime) || isHidden(holder.pid) ? 'alive' : 'dead';
}

/** Claims `file` by link(2) of a finished file: it is there whole or not at all, and only one of many succeeds. */
function claim(file: string, holder: LockHolder): boolean {
  const own = `${file}.${String(holder.pid)}.${holder.nonce}`;
  const fd = fs.openSync(own, 'wx', 0o600);
  try {
    try { writeAll(fd, Buffer.from(JSON.stringify(holder) + '\n')); } finally { fs.closeSync(fd); }
    fs.linkSync(own, file);
    return true;
  } catch (error) {
    // ENOENT: a sweeper took our copy for a dead one's; the caller tries again.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
    throw error;
  } finally {
    fs.rmSync(own, { force: true });
  }
}

/**
 * Takes the lock of a dead holder away. The right to do so is a second lock named by the dead one's nonce, and by a number that goes up
 * when its own holder died too: each is claimed once, so two recoverers cannot both remove, and a lock that was taken anew is never touched.
 * Gives who else has that right, or undefined when there was nobody.
 */
function removeDead(file: string, dead: LockHolder, self: LockHolder): LockHolder | undefined {
  for (let attempt = 0; ; attempt += 1) {
    const takeover = `${file}.takeover.${dead.nonce}.${String(attempt)}`;
    if (!claim(takeover, self)) {
      const other = lockHolder(takeover);
      if (other && holderState(other) === 'dead') continue;
      return other ?? undefined;
    }
    if (lockHolder(file)?.nonce === dead.nonce) fs.unlinkSync(file);
    for (let done = attempt; done >= 0; done -= 1) fs.rmSync(`${file}.takeover.${dead.nonce}.${String(done)}`, { force: true });
    return undefined;
  }
}

/**
 * Waits for the lock and takes it. A dead holder of this host is taken over.
 * Failure `locked` (exit 2) names a holder that lives, or is of another host; `lock-unreadable` a lock file that says nothing.
 */
export async function takeLock(request: LockRequest): Promise<Lock> {
  const { file } = request;
  const here = pidSpace();
  const self: LockHolder = { pid: process.pid, startTime: startTimeOf(process.pid) ?? '', ...here, verb: request.verb, since: request.since, nonce: request.nonce };
  const deadline = performance.now() + request.waitMs;
  for (;;) {
    if (claim(file, self)) {
      return { release: () => { if (lockHolder(file)?.nonce === self.nonce) fs.unlinkSync(file); } };
    }
    let holder = lockHolder(file);
    if (holder && holderState(holder) === 'dead') {
      // Who else takes it over may have been stopped on the way: that is waited for like any holder.
      const other = removeDead(file, holder, self);
      if (other === undefined) continue;
      holder = other;
    }
    if (performance.now() >= deadline) throw lockedFailure(file, holder);
    // Uneven waits keep many waiters from meeting again and again.
    await sleep(10 + Math.random() * 30, undefined, { signal: request.signal }).catch(() => { throw new Failure('aborted', 'Stopped while waiting for the lock; nothing was changed.', 'Run the command again.', 2); });
  }
}

function lockedFailure(file: string, holder: LockHolder | null | undefined): Failure {
  if (!holder) {
    return new Failure('lock-unreadable', `${file} is there but does not say who holds it.`, 'If no Loopkeeper runs anywhere on this state, run `loopkeeper doctor --unlock`.', 2);
  }
  const elsewhere = holderState(holder) === 'elsewhere';
  return new Failure('locked', `Another Loopkeeper (${holder.verb}, pid ${String(holder.pid)}${elsewhere ? ` on ${holder.host.split(' ')[0] ?? ''}` : ''}) works on this state since ${holder.since}.`,
    elsewhere ? 'If it does not run any more, run `loopkeeper doctor --unlock` here.' : 'Wait for it to end, then try again.', 2, holder);
}

/** Removes a lock that is not of a living process of this host (`doctor --unlock`). Gives whether one was removed. Failure `locked` when it is alive here. */
export function breakLock(file: string): boolean {
  const holder = lockHolder(file);
  if (holder === undefined) return false;
  if (holder && holderState(holder) === 'alive') throw lockedFailure(file, holder);
  fs.unlinkSync(file);
  return true;
}

/** Files that a killed program left beside the lock: its unclaimed copies and finished takeovers. Called by the holder. */
export function sweepLockFiles(file: string): void {
  const prefix = `${path.basename(file)}.`;
  for (const name of fs.readdirSync(path.dirname(file))) {
    if (!name.startsWith(prefix)) continue;
    const other = path.join(path.dirname(file), name);
    const holder = lockHolder(other);
    if (!holder || holderState(holder) === 'dead') fs.rmSync(other, { force: true });
  }
}
