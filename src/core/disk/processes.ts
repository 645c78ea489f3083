import fs from 'node:fs';
import os from 'node:os';
import { childProcess } from './builtin';

/** When a process started, as the system tells it (an opaque text): with the pid it names one process for good. Undefined when none runs; a zombie has ended. */
export function startTimeOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (process.platform === 'linux') {
    try {
      const stat = fs.readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
      // The name in parentheses may hold anything, so the fields are counted from the last one.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    const line = childProcess().execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

/** True when that very process still runs, not another that got its pid. */
export function isRunning(pid: number, startTime: string): boolean {
  return startTimeOf(pid) === startTime;
}

/** True when a process of this pid exists, even one of another user (signal 0). */
export function pidExists(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid > 0x7fffffff) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** True when a process of this pid exists but the system does not say which (another user's, where /proc hides those). */
export function isHidden(pid: number): boolean {
  if (process.platform !== 'linux' || !pidExists(pid)) return false;
  try {
    fs.readFileSync(`/proc/${String(pid)}/stat`);
    return false;
  } catch {
    return true;
  }
}

/** Where pids mean the same: host name, machine id and pid namespace; and `boot`, which changes when all of them end. */
export interface PidSpace { host: string; boot: string }

export function pidSpace(): PidSpace {
  const read = (file: string): string => { try { return fs.readFileSync(file, 'utf8').trim(); } catch { return ''; } };
  let namespace = '';
  try { namespace = fs.readlinkSync('/proc/self/ns/pid'); } catch { /* not Linux: one space per host */ }
  return { host: [os.hostname(), read('/etc/machine-id'), namespace].filter((part) => part !== '').join(' '), boot: read('/proc/sys/kernel/random/boot_id') };
}
