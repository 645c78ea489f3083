import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, runCli, type Place, type Ran } from './program';

/** State files as raymond wrote them, and one of an older form. */
export const sampleDirectory = path.join(__dirname, 'raymond-states');
export const sampleNames = fs.readdirSync(sampleDirectory).sort().map((name) => name.replace(/\.json$/, ''));
export const sampleText = (name: string): string => fs.readFileSync(path.join(sampleDirectory, `${name}.json`), 'utf8');

export const raymondOf = (place: Place): string => path.join(place.work, '.raymond');
export const runFileOf = (place: Place, id: string): string => path.join(raymondOf(place), 'state', `${id}.json`);

/** Puts state files there as raymond would have, in a project of its own. */
export function putRuns(place: Place, runs: Record<string, string>, pool = 'state'): void {
  fs.mkdirSync(path.join(place.work, '.git'), { recursive: true });
  fs.mkdirSync(path.join(raymondOf(place), pool), { recursive: true, mode: 0o700 });
  for (const [id, text] of Object.entries(runs)) fs.writeFileSync(path.join(raymondOf(place), pool, `${id}.json`), text, { mode: 0o600 });
}

/** A run of one agent, in raymond's form. */
export function runText(agent: Record<string, unknown>, run: Record<string, unknown> = {}): string {
  const whole = { workflow_id: 'w1', scope_dir: '/flows/wf', total_cost_usd: 0, budget_usd: 0, started_at: '2026-11-30T18:01:30Z', agents: [{ id: 'main', current_state: 'LOOP.md', session_id: 'S9', stack: [], ...agent, ask_entered_at: '0001-01-01T00:00:00Z' }], ...run };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** Runs `loopkeeper workflow …` in the project, or deeper in it. */
export function workflow(place: Place, args: readonly string[], cwd = place.work, env: Record<string, string> = {}): Promise<Ran> {
  return runCli(['workflow', ...args], { cwd, env: cleanEnv(place.home, env) });
}

/** The same with --json: the code and the one document, checked by its schema. */
export async function workflowJson<T>(place: Place, args: readonly string[], schema: { parse(value: unknown): T }, cwd = place.work, env: Record<string, string> = {}): Promise<{ code: number | null; reply: T }> {
  const ran = await workflow(place, [...args, '--json'], cwd, env);
  let value: unknown;
  try { value = JSON.parse(ran.stdout); } catch { assert.fail(`no JSON on standard output: ${ran.stdout}\n${ran.stderr}`); }
  return { code: ran.code, reply: schema.parse(value) };
}

/** The text raymond's form has after the reset of one agent, made by editing lines, not by the program's own writer. */
export function resetText(text: string, agent: number, to: string): string {
  let index = -1;
  return text.split('\n').flatMap((line) => {
    if (line === '    {') index += 1;
    const own = line.replace('"stack": null', '"stack": []');
    if (index !== agent || !line.startsWith('      "')) return [own];
    if (/^ {6}"(pending_result|pending_ask_id|status|retry_count|error|ask_(?!entered_at)\w+)":/.test(line)) return [];
    return [own.replace(/^( {6}"current_state": )".*"/, `$1${JSON.stringify(to)}`).replace(/^( {6}"session_id": ).*,$/, '$1null,').replace(/^( {6}"ask_entered_at": )".*"/, '$1"0001-01-01T00:00:00Z"')];
  }).join('\n');
}
