import path from 'node:path';
import type { Reader } from '../disk/reader';
import { isObject, membersOf, readJson, textOr, type JsonObject } from './jsonFile';
import { terminalText, tryRef, type WorkItemRef } from './ref';

export type SessionStatus = 'active' | 'paused' | 'closed';

/** One conversation: of the work item itself, or of a pull request of it. */
export interface Endpoint {
  ref: WorkItemRef;
  harness: string;
  /** Empty while a pull request has no conversation of its own. */
  sessionId: string;
  cwd: string;
  status: SessionStatus;
  createdAt: string;
  lastEventAt: string | null;
  /** The terminal's name as tmux has it; empty until one was started. */
  terminal: string;
  url?: string;
}

/** `local/<slug>.json`: which conversation works on a work item, on this machine. */
export interface SessionRecord extends Endpoint {
  pullRequests: Endpoint[];
}

export type SessionFile =
  | { kind: 'absent' }
  | { kind: 'unsafe'; why: string }
  /** `ref` is set when at least the ref in it can be read. */
  | { kind: 'unreadable'; cause: 'io' | 'too-large' | 'format'; why: string; ref?: WorkItemRef }
  | { kind: 'record'; record: SessionRecord; text: string };

/** Live means `active` or `paused` (design §1). */
export function isLive(endpoint: Pick<Endpoint, 'status'>): boolean {
  return endpoint.status !== 'closed';
}

/** The names that count as session records; anything else in the folder is a stranger's. */
export function isSessionFileName(name: string): boolean {
  return /^[A-Za-z0-9._-]+-[0-9]+\.json$/.test(name);
}

export function sessionPath(registryDir: string, slug: string): string {
  return `${registryDir}${path.sep}${slug}.json`;
}

function statusOf(value: unknown): SessionStatus {
  if (value === undefined || value === null || value === 'active') return 'active';
  // A status of a later version is not one that the-loop would resume or deliver to.
  return value === 'paused' ? 'paused' : 'closed';
}

/** The endpoint in `value`, or why it is none. */
function endpointOf(value: unknown): Endpoint | { why: string; ref?: WorkItemRef } {
  if (!isObject(value)) return { why: 'it is no JSON object' };
  const workItem = value['workItem'];
  const ref = tryRef(isObject(workItem) ? workItem['ref'] : undefined);
  if (!ref) return { why: 'it names no work item (workItem.ref)' };
  const { harness, harnessSessionId, cwd } = value;
  const missing = typeof harness !== 'string' ? 'harness' : typeof harnessSessionId !== 'string' ? 'harnessSessionId' : typeof cwd !== 'string' ? 'cwd' : undefined;
  if (missing !== undefined) return { why: `it has no ${missing}`, ref };
  const url = value['url'];
  const endpoint: Endpoint = {
    ref,
    harness: textOr(harness, ''),
    sessionId: textOr(harnessSessionId, ''),
    cwd: textOr(cwd, ''),
    status: statusOf(value['status']),
    createdAt: textOr(value['createdAt'], ''),
    lastEventAt: textOr(value['lastEventAt'], null),
    terminal: terminalText(textOr(value['tmuxTarget'], '')),
  };
  if (typeof url === 'string' && url !== '') endpoint.url = url;
  return endpoint;
}

/** The pull requests in a record. A bad entry is passed over, as the-loop does; one level only. */
function pullRequestsOf(value: JsonObject): Endpoint[] {
  const entries = value['pullRequests'];
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) => {
    const endpoint = endpointOf(entry);
    return 'why' in endpoint ? [] : [endpoint];
  });
}

/** Reads one session record (the-loop §1.4). Whose it is, is for the caller to compare: two refs can make one file name. */
export function readSession(reader: Reader, file: string): SessionFile {
  const found = readJson(reader, file);
  if (found.kind !== 'json') return found;
  const endpoint = endpointOf(found.value);
  if ('why' in endpoint) return { kind: 'unreadable', cause: 'format', ...endpoint };
  return { kind: 'record', text: found.text, record: Object.assign(endpoint, { pullRequests: isObject(found.value) ? pullRequestsOf(found.value) : [] }) };
}

/** The text of a record with its status `closed`, every other byte as it was. `text` must be that of a readable record. */
export function withStatusClosed(text: string): string {
  const members = membersOf(text);
  // Of two, the last one counts.
  const status = members.findLast((member) => member.key === 'status');
  if (status) return `${text.slice(0, status.valueStart)}"closed"${text.slice(status.valueEnd)}`;
  const last = members.at(-1);
  if (!last) return text;
  const indent = /\r?\n[ \t]*$/.exec(text.slice(0, last.start))?.[0] ?? ' ';
  return `${text.slice(0, last.valueEnd)},${indent}"status": "closed"${text.slice(last.valueEnd)}`;
}
