import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { pidExists, startTimeOf } from '../disk/processes';
import { isInside } from '../disk/reader';
import { readTail, type TranscriptTail } from './claudeTranscript';

/** Where Claude Code keeps its sessions: `CLAUDE_CONFIG_DIR`, else `~/.claude`. Undefined without a home. */
export function claudeDirectory(given: string | undefined, env: Record<string, string | undefined>, home: string): string | undefined {
  const configured = given ?? env['CLAUDE_CONFIG_DIR'];
  if (configured !== undefined && configured !== '') return path.resolve(configured);
  return home === '' ? undefined : path.join(home, '.claude');
}

/** A process that has a conversation open now. */
export interface RunningSession { pid: number; status: string | null }

/** One Claude Code session, from its transcript. */
export interface ClaudeSession {
  id: string;
  transcript: string;
  /** When the transcript was last written, RFC 3339. */
  modifiedAt: string;
  tail: TranscriptTail;
  running: RunningSession | null;
}

const sessionId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function isSessionId(text: string): boolean {
  return sessionId.test(text);
}

export interface FindOptions {
  /** Claude Code's own directory. */
  directory: string;
  /** Only sessions that work in one of these folders or below; absolute. Empty = all. */
  folders: readonly string[];
  /** Only this session. */
  id?: string;
}

export interface FoundSessions { sessions: ClaudeSession[]; bytesRead: number }

/**
 * The sessions of the given folders, the last active first, each measured from at most 64 KB of its transcript. The name of a project's folder
 * is only a hint for where to look; what a session belongs to is the folder in its records. Reading only; what cannot be read is left out.
 */
export function findSessions(options: FindOptions): FoundSessions {
  const projects = path.join(options.directory, 'projects');
  const folders = options.folders.flatMap((folder) => [folder, realOf(folder)]);
  const running = runningSessions(path.join(options.directory, 'sessions'));
  const sessions: ClaudeSession[] = [];
  let bytesRead = 0;
  for (const project of namesIn(projects)) {
    const directory = path.join(projects, project);
    const names = namesIn(directory).filter((name) => name.endsWith('.jsonl') && (options.id === undefined || name === `${options.id}.jsonl`));
    if (names.length === 0) continue;
    // Another project's transcripts are not read one by one: its newest tells where it works.
    if (folders.length > 0 && !folders.some((folder) => couldBe(project, folder)) && names.length > 1) {
      const newest = newestOf(directory, names);
      const tail = newest === undefined ? undefined : readTail(newest);
      bytesRead += tail?.bytesRead ?? 0;
      if (!tail || !belongs(tail.cwd, folders)) continue;
    }
    for (const name of names) {
      const file = path.join(directory, name);
      const stat = fs.statSync(file, { throwIfNoEntry: false });
      const tail = stat?.isFile() ? readTail(file) : undefined;
      if (!stat || !tail) continue;
      bytesRead += tail.bytesRead;
      if (folders.length > 0 && !(tail.cwd === null ? folders.some((folder) => couldBe(project, folder)) : belongs(tail.cwd, folders))) continue;
      const id = name.slice(0, -'.jsonl'.length);
      sessions.push({ id, transcript: file, modifiedAt: stat.mtime.toISOString(), tail, running: running.get(id) ?? null });
    }
  }
  sessions.sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : a.modifiedAt > b.modifiedAt ? -1 : a.id < b.id ? -1 : 1));
  return { sessions, bytesRead };
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function realOf(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}

/** True when a project's folder name can be that of `folder` or of one below it. */
function couldBe(project: string, folder: string): boolean {
  const name = folder.replace(/[^A-Za-z0-9]/g, '-');
  return project === name || project.startsWith(`${name}-`) || (name.length > 200 && project.startsWith(name.slice(0, 200)));
}

function belongs(cwd: string | null, folders: readonly string[]): boolean {
  return cwd !== null && folders.some((folder) => isInside(folder, cwd));
}

function newestOf(directory: string, names: readonly string[]): string | undefined {
  let newest: { file: string; at: number } | undefined;
  for (const name of names) {
    const file = path.join(directory, name);
    const at = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (!newest || at > newest.at) newest = { file, at };
  }
  return newest?.file;
}

const Live = z.looseObject({ pid: z.number(), sessionId: z.string(), status: z.optional(z.string()), procStart: z.optional(z.unknown()) });

/** The small file that each running Claude Code keeps, by session id. A leftover of an ended process does not count. */
function runningSessions(directory: string): Map<string, RunningSession> {
  const found = new Map<string, RunningSession>();
  for (const name of namesIn(directory)) {
    if (!/^\d+\.json$/.test(name)) continue;
    try {
      const live = Live.safeParse(JSON.parse(fs.readFileSync(path.join(directory, name), 'utf8')));
      if (!live.success || !pidExists(live.data.pid)) continue;
      // On Linux it is the start time the kernel tells; a text of another form cannot be compared and is let pass.
      const started = live.data.procStart;
      if (typeof started === 'string' && /^\d+$/.test(started) && process.platform === 'linux' && startTimeOf(live.data.pid) !== started) continue;
      found.set(live.data.sessionId, { pid: live.data.pid, status: live.data.status ?? null });
    } catch { /* half written, or gone */ }
  }
  return found;
}
