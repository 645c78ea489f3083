import fs from 'node:fs';
import type { CliConfig } from '../config/cliConfig';
import { pidExists } from '../disk/processes';
import type { Reader } from '../disk/reader';

/** A daemon whose pid file names a process that exists. */
export interface Daemon { name: 'receiver' | 'poller' | 'service'; pid: number; pidfile: string }

/** The pid in a daemon's pid file, or undefined: anything but a positive number is none. A link or folder in its place is none either. */
function pidIn(reader: Reader, file: string): number | undefined {
  let text: string | undefined;
  try {
    text = reader.text(file, 4096);
  } catch {
    return undefined;
  }
  const digits = /^\s*([0-9]{1,10})\s*$/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The daemons that seem to run, by the pid alone: a process of another user counts, a reused pid too
 * (test/cases/reset/README.md, "Warnings"). `inForce` looks for the receiver where the configuration puts its pid file.
 */
export function runningDaemons(reader: Reader, config: Pick<CliConfig, 'pidfiles'>, inForce = false): Daemon[] {
  const { receiver, receiverInForce, poller, service } = config.pidfiles;
  const files = [['receiver', inForce ? receiverInForce : receiver], ['poller', poller], ['service', service]] as const;
  return files.flatMap(([name, pidfile]) => {
    const pid = pidIn(reader, pidfile);
    return pid !== undefined && pidExists(pid) ? [{ name, pid, pidfile }] : [];
  });
}

/**
 * Whether some process holds the lock on a pid file, which is what makes a daemon run in its own eyes (the-loop §1.10).
 * `unknown` where the system does not list its locks.
 */
export function lockHeld(pidfile: string, locks: string = '/proc/locks'): boolean | 'unknown' {
  let table: string;
  try {
    table = fs.readFileSync(locks, 'utf8');
  } catch {
    return 'unknown';
  }
  const stat = fs.statSync(pidfile, { bigint: true, throwIfNoEntry: false });
  if (!stat) return false;
  // The table writes a device as <major>:<minor> in hex; stat packs both into one number (Linux).
  const major = ((stat.dev >> 8n) & 0xfffn) | ((stat.dev >> 32n) & ~0xfffn);
  const minor = (stat.dev & 0xffn) | ((stat.dev >> 12n) & ~0xffn);
  const hex = (part: bigint) => part.toString(16).padStart(2, '0');
  const file = `${hex(major)}:${hex(minor)}:${String(stat.ino)}`;
  return table.split('\n').some((line) => {
    // A line with -> is a process that waits for the lock.
    const [, kind, , , , where] = line.split(/\s+/);
    return kind === 'FLOCK' && where === file;
  });
}
