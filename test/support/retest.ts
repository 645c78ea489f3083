import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { RetestEvent } from '../../src/protocol/retest';
import { cleanEnv, runCli, type Place, type Ran } from './program';

/** Where the sessions of a working directory are. */
export const retestFolder = (place: Place): string => path.join(place.work, '.the-loop', 'loopkeeper', 'retest');
export const transcriptOf = (place: Place, id: string): string => path.join(retestFolder(place), `${id}.jsonl`);

/** Runs `loopkeeper retest …`; the environment is clean but for `env`. */
export function retest(place: Place, args: readonly string[], env: Record<string, string> = {}, nodeArgs: string[] = []): Promise<Ran> {
  return runCli(['retest', ...args], { cwd: place.work, env: cleanEnv(place.home, env), nodeArgs });
}

/** The same with --json: the code and the one document, checked by its schema when one is given. */
export async function retestJson<T = Record<string, unknown>>(place: Place, args: readonly string[], schema?: { parse(value: unknown): T }, env: Record<string, string> = {}): Promise<{ code: number | null; reply: T }> {
  const ran = await retest(place, [...args, '--json'], env);
  let value: unknown;
  try { value = JSON.parse(ran.stdout); } catch { assert.fail(`no JSON on standard output: ${ran.stdout}\n${ran.stderr}`); }
  return { code: ran.code, reply: schema ? schema.parse(value) : value as T };
}

export const line = (event: RetestEvent): string => `${JSON.stringify(event)}\n`;

/** Puts a transcript there as another program would have. */
export function putTranscript(place: Place, id: string, text: string | Buffer): void {
  fs.mkdirSync(retestFolder(place), { recursive: true });
  fs.writeFileSync(transcriptOf(place, id), text);
}

/** The events of a session that was begun on F-1 and, when given, concluded. */
export function sessionEvents(finding = 'F-1', verdict?: string): RetestEvent[] {
  const events: Omit<RetestEvent, 'seq' | 'ts' | 'actor'>[] = [
    { kind: 'session_started', payload: { finding } },
    { kind: 'state_change', payload: { to: 'idle' } },
    { kind: 'target_set', payload: { endpoints: ['http://lab:3000/rest/user/login'] } },
    { kind: 'plan_updated', payload: { steps: ['Re-check the login endpoint'] } },
    ...(verdict === undefined ? [] : [{ kind: 'verdict', payload: { status: verdict, rationale: 'seen' } }, { kind: 'state_change', payload: { to: 'concluded' } }]),
  ];
  return events.map((event, index) => ({ seq: index + 1, ts: new Date(Date.UTC(2026, 6, 25, 10) + index * 1000).toISOString(), kind: event.kind, actor: 'operator', payload: event.payload }));
}
