import fs from 'node:fs';
import { appendOnce, endOf } from '../disk/append';
import { writeFileDurably } from '../disk/durable';
import { formatEvent } from '../disk/eventLine';
import { Failure } from '../disk/failure';
import { assertInside, diskReader, unsafePath } from '../disk/reader';
import { eventsFile, type Outcome } from './journal';
import type { EventTemplate, Plan, PlanItem } from './plan';
import type { Store } from './store';

/** What is written to the log, decided once: a crash between here and the append changes neither lines nor place. */
interface EventRecord { logs: { log: string; root: string; offset: number; text: string }[] }

function lineOf(template: EventTemplate, planId: string, item: PlanItem | undefined, result: Outcome['items'][number] | undefined, envelope: { ts: string; pid: number }): string {
  const errors = result?.errors ?? [];
  const fields: Record<string, unknown> = { ...template.fields };
  if (template.piecesAs !== undefined) fields[template.piecesAs] = result?.removed ?? [];
  // The-loop's order of the fields: was_live stands between the pieces and found.
  if (item?.live && template.withFound) fields['was_live'] = true;
  if (template.withFound) fields['found'] = (result?.removed.length ?? 0) > 0 || (item?.live ?? false) || errors.length > 0;
  if (errors.length > 0) fields['error'] = errors.map((error) => error.message).join('; ');
  fields['plan'] = planId;
  return formatEvent({ ts: envelope.ts, source: template.source, event: template.event, level: errors.length > 0 ? 'warning' : 'info', pid: envelope.pid, ...fields });
}

/** Looks before anything is changed whether the events can go where they have to. Failure `unsafe-path`: a link or no file is in the log's place. */
export function assertLogs(plan: Pick<Plan, 'events'>): void {
  for (const [log, root] of new Map(plan.events.map((template) => [template.log, template.root]))) {
    assertInside(root, log);
    const kind = diskReader.kind(log);
    if (kind !== 'file' && kind !== 'absent') throw unsafePath(log, kind === 'link' ? 'a symbolic link' : 'no regular file');
  }
}

/**
 * Appends one line per event template, exactly once per plan: the lines and their place are flushed to the journal first. Called again after a
 * crash it finishes what was decided. Failures: those of the file system, `unsafe-path`.
 */
export async function appendEvents(store: Store, plan: Plan, outcome: Outcome, envelope: { ts: string; pid: number }): Promise<void> {
  if (plan.events.length === 0) return;
  const file = eventsFile(store, plan.id);
  let record: EventRecord;
  if (fs.existsSync(file)) {
    record = JSON.parse(fs.readFileSync(file, 'utf8')) as EventRecord;
  } else {
    const byLog = new Map<string, { root: string; lines: string[] }>();
    const items = new Map(plan.items.map((item) => [item.ref, item]));
    const results = new Map(outcome.items.map((result) => [result.ref, result]));
    for (const template of plan.events) {
      const entry = byLog.get(template.log) ?? { root: template.root, lines: [] };
      entry.lines.push(lineOf(template, plan.id, items.get(template.item), results.get(template.item), envelope));
      byLog.set(template.log, entry);
    }
    record = { logs: [...byLog].map(([log, { root, lines }]) => {
      assertInside(root, log);
      const end = endOf(log);
      return { log, root, offset: end.size, text: `${end.endsWithNewline ? '' : '\n'}${lines.join('\n')}\n` };
    }) };
    await writeFileDurably(file, JSON.stringify(record) + '\n');
  }
  for (const { log, root, offset, text } of record.logs) {
    assertInside(root, log);
    // A log that was rotated since starts anew; the lines then go to the new one.
    const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    appendOnce({ file: log, offset: Math.min(offset, size), bytes: Buffer.from(text) });
  }
}

/** The failure said when the steps are done but the log could not be written. */
export function eventFailure(error: unknown): Failure {
  return new Failure('event-not-written', `The event log could not be written: ${error instanceof Error ? error.message : String(error)}.`,
    'Mend the log; the next changing command writes the event.');
}
