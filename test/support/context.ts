import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, root, runCli, writeFiles, type Place, type Ran } from './program';

export const specs = path.join(root, 'test/support/specs');
export const REF = 'github:octo/repo#239';

/** Who commits, and when it is. */
export const person = { GIT_AUTHOR_NAME: 'Dev', GIT_AUTHOR_EMAIL: 'dev@example.org', GIT_COMMITTER_NAME: 'Dev', GIT_COMMITTER_EMAIL: 'dev@example.org', LOOPKEEPER_NOW: '2026-11-30T20:00:00Z' };
export const envOf = (place: Place, more: Record<string, string> = {}): Record<string, string> => cleanEnv(place.home, { ...person, ...more });

/** git in the place's work folder. */
export function git(place: Place, ...args: string[]): string {
  return execFileSync('git', args, { cwd: place.work, env: envOf(place), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/**
 * A repository with the sample policy and a real spec folder in the middle of its work: task 16 open, the last entry that of task 15,
 * everything committed, the loop's own files ignored as the-loop advises.
 */
export function makeRepository(place: Place): void {
  git(place, 'init', '-q', '-b', 'main');
  fs.mkdirSync(path.join(place.work, '.the-loop'));
  fs.copyFileSync(path.join(specs, 'harness-config.yaml'), path.join(place.work, '.the-loop/harness-config.yaml'));
  fs.cpSync(path.join(specs, 'issue-239'), path.join(place.work, 'docs/specs/issue-239'), { recursive: true });
  const change = (name: string, edit: (text: string) => string) => {
    const file = path.join(place.work, 'docs/specs/issue-239', name);
    fs.writeFileSync(file, edit(fs.readFileSync(file, 'utf8')));
  };
  change('tasks.md', (text) => text.replace('- [x] 16.', '- [ ] 16.'));
  change('execution-log.md', (text) => `${text.slice(0, text.indexOf('### 2026-08-16 18:40 UTC')).replace('phase: needs-review', 'phase: implementation')}## Documentation\n\n### 2026-08-16 — entry implementation\n\n- **Node:** implementation\n- **Boundary:** entry\n`);
  fs.rmSync(path.join(place.work, 'docs/specs/issue-239/graph-state.json'));
  writeFiles(place.work, { 'src/a.ts': 'export const a = 1;\n' });
  git(place, 'add', '-A');
  git(place, 'commit', '-q', '-m', 'begin');
}

/** Runs a context verb for a person. */
export function context(place: Place, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return runCli(['context', ...args], { cwd: place.work, env: envOf(place, env) });
}

interface Schema<T> { parse(value: unknown): T }

/** Runs a context verb with --json and checks its reply against the protocol. */
export async function contextJson<T>(place: Place, args: readonly string[], schema: Schema<T>, env: Record<string, string> = {}): Promise<{ code: number | null; reply: T }> {
  const ran = await context(place, [...args, '--json'], env);
  assert.notEqual(ran.stdout, '', ran.stderr);
  return { code: ran.code, reply: schema.parse(JSON.parse(ran.stdout)) };
}

/** The events of one kind in the place's log. */
export function eventsOf(place: Place, kind: string): Record<string, unknown>[] {
  const log = path.join(place.work, '.the-loop/logs/events.jsonl');
  if (!fs.existsSync(log)) return [];
  // A line that a fault tore is no event.
  return fs.readFileSync(log, 'utf8').split('\n').flatMap((line) => { try { return [JSON.parse(line) as Record<string, unknown>]; } catch { return []; } }).filter((event) => event['event'] === kind);
}

/** A Claude Code transcript: one JSON object a line. */
export function transcript(records: readonly Record<string, unknown>[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

export const answer = (tokens: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'assistant', isSidechain: false, timestamp: '2026-11-30T19:00:00.000Z',
  message: { id: 'm', model: 'claude-sonnet-4-5', role: 'assistant', content: [], usage: { input_tokens: 3, cache_creation_input_tokens: 7, cache_read_input_tokens: tokens - 10, output_tokens: 999_999 } }, ...more,
});
