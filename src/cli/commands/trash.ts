import fs from 'node:fs';
import { Failure } from '../../core/disk/failure';
import { isPlanId } from '../../core/plan/store';
import { listTrash, purgeTrash } from '../../core/plan/trash';
import type { TrashEntry, TrashReply } from '../../protocol/plan';
import { flag, stateOptions, text, type Command, type Context, type Values } from '../command';
import { plain, plural, table } from '../output';
import { contextWarnings, loadConfig, storesHere } from '../state';

/** After this many days doctor, `trash list` and a notice name what is in the trash; nothing goes by itself. */
export const OLD_TRASH_DAYS = 30;

/** 1536 → `1.5 KB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${unit === 0 ? String(value) : value.toFixed(1)} ${units[unit] ?? ''}`;
}

function print(context: Context, reply: TrashReply): void {
  context.out.document(reply);
  if (context.out.json) return;
  if (reply.entries.length === 0) { context.out.line(reply.verb === 'trash-list' ? 'The trash is empty.' : 'Nothing to purge.'); return; }
  const rows = reply.entries.map((entry) => [entry.plan, entry.verb, plural(entry.ageDays, 'day'), sizeText(entry.bytes), plural(entry.files, 'file'), entry.items.slice(0, 3).join(', ')]);
  for (const row of table([['PLAN', 'VERB', 'AGE', 'SIZE', 'FILES', 'ITEMS'], ...rows], (index, _, cell) => (index === 0 ? context.out.paint('bold', cell) : cell))) context.out.line(row);
  const old = reply.entries.filter((entry) => entry.ageDays >= OLD_TRASH_DAYS);
  if (reply.verb === 'trash-list' && old.length > 0) context.out.line(`${plural(old.length, 'plan')} older than ${String(OLD_TRASH_DAYS)} days; \`loopkeeper trash purge --older-than ${String(OLD_TRASH_DAYS)}\` removes them for good.`);
}

const total = (entries: TrashEntry[]): number => entries.reduce((sum, entry) => sum + entry.bytes, 0);

async function purge(context: Context, values: Values, plans: string[]): Promise<number> {
  const days = text(values, 'older-than');
  const selectors = [plans.length > 0, days !== undefined, flag(values, 'all')].filter(Boolean).length;
  const usage = (message: string) => new Failure('usage', message, 'See `loopkeeper trash purge --help`.', 2);
  if (selectors !== 1) throw usage('Name the plans, or give --older-than DAYS, or --all: one of the three.');
  if (days !== undefined && !/^\d{1,6}$/.test(days)) throw usage('--older-than takes a whole number of days.');
  const invalid = plans.find((plan) => !isPlanId(plan));
  if (invalid !== undefined) throw usage(`${JSON.stringify(invalid.slice(0, 80))} is no plan id.`);
  const now = context.clock.now();
  const chosen: TrashEntry[] = [];
  const purged = new Set<string>();
  const errors: TrashReply['errors'] = [];
  for (const store of storesHere(context, await loadConfig(context, values))) {
    if (!fs.existsSync(store.directory)) continue;
    const entries = listTrash(store, now).filter((entry) => (days !== undefined ? entry.ageDays >= Number(days) : flag(values, 'all') || plans.includes(entry.plan)));
    if (entries.length === 0) continue;
    chosen.push(...entries);
    if (flag(values, 'dry-run')) { for (const entry of entries) purged.add(entry.plan); continue; }
    const result = await purgeTrash({ store, plans: entries.map((entry) => entry.plan), now: context.clock.real(), verb: 'trash purge', random: context.random(), signal: context.signal });
    for (const plan of result.purged) purged.add(plan);
    errors.push(...result.errors);
  }
  for (const plan of plans) if (!chosen.some((entry) => entry.plan === plan)) errors.push({ kind: 'not-found', message: `Nothing of ${plan} is in the trash.` });
  const entries = chosen.filter((entry) => purged.has(entry.plan));
  print(context, { verb: 'trash-purge', entries, bytes: total(entries), errors, warnings: contextWarnings(context) });
  for (const error of errors) if (!context.out.json) context.out.error(`${context.out.paint('red', 'error')}: ${plain(error.message)}`);
  if (entries.length > 0) context.out.line(`${flag(values, 'dry-run') ? 'Would erase' : 'Erased'} ${sizeText(total(entries))} for good.`);
  return errors.length > 0 ? 1 : 0;
}

export const command: Command = {
  summary: 'what removed files and checkouts are kept in',
  verbs: {
    list: {
      summary: 'Show what is kept to undo plans, with age and size.',
      usage: '',
      options: stateOptions,
      examples: ['loopkeeper trash list'],
      async run(context, values) {
        const entries = storesHere(context, await loadConfig(context, values)).flatMap((store) => listTrash(store, context.clock.now()));
        print(context, { verb: 'trash-list', entries, bytes: total(entries), errors: [], warnings: contextWarnings(context) });
        return 0;
      },
    },
    purge: {
      summary: 'Erase trash for good; the plans can then not be undone.',
      usage: '(PLAN… | --older-than DAYS | --all) [--dry-run]',
      options: {
        'older-than': { type: 'string', value: 'DAYS', help: 'Everything that has been there for so many days.' },
        all: { type: 'boolean', help: 'Everything.' },
        'dry-run': { type: 'boolean', help: 'Show what would go and erase nothing.' },
        ...stateOptions,
      },
      positionals: [{ name: 'PLAN', optional: true, multiple: true }],
      examples: ['loopkeeper trash purge --older-than 30', 'loopkeeper trash purge 20261130T192742Z-1a2b3c4d'],
      run: purge,
    },
  },
};
