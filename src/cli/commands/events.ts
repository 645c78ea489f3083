import { diskReader } from '../../core/disk/reader';
import { readEvents } from '../../core/events/eventLog';
import { parseLevel, parseSince, type EventFilter, type LoggedEvent } from '../../core/events/filter';
import { followEvents } from '../../core/events/follow';
import { Failure } from '../../core/disk/failure';
import { parseRef } from '../../core/workItems/ref';
import type { EventsReply } from '../../protocol/sessions';
import { flag, stateOptions, text, texts, type Command, type Context, type Values } from '../command';
import { plain } from '../output';
import { contextWarnings, loadConfig } from '../state';

function filterOf(context: Context, values: Values): EventFilter {
  const since = text(values, 'since');
  const level = text(values, 'level');
  const refs = texts(values, 'work-item');
  return {
    types: texts(values, 'type'),
    ...(refs.length === 0 ? {} : { workItems: refs.map((ref) => parseRef(ref).ref) }),
    ...(since === undefined ? {} : { since: parseSince(since, new Date(context.clock.now())) }),
    ...(level === undefined ? {} : { level: parseLevel(level) }),
  };
}

const shown = (value: unknown): string => plain(typeof value === 'string' ? value : JSON.stringify(value));
const envelope = new Set(['ts', 'event', 'source', 'level', 'pid', 'work_item']);

/** `2026-08-04T09:00:00.000Z  session.reset  github:octo/repo#15  removed=["session"] found=true`. */
function line(context: Context, event: LoggedEvent): string {
  const rest = Object.entries(event).filter(([key]) => !envelope.has(key)).map(([key, value]) => `${plain(key)}=${shown(value)}`);
  const level = event['level'] === 'warning' || event['level'] === 'error' ? context.out.paint('yellow', shown(event['event'])) : context.out.paint('bold', shown(event['event']));
  return [shown(event['ts'] ?? ''), level, shown(event['work_item'] ?? ''), ...rest].filter((part) => part !== '').join('  ');
}

async function events(context: Context, values: Values): Promise<number> {
  const limit = text(values, 'limit') ?? '50';
  if (!/^\d{1,7}$/.test(limit)) throw new Failure('usage', '--limit takes a whole number.', 'See `loopkeeper events --help`.', 2);
  const config = await loadConfig(context, values);
  const filter = filterOf(context, values);
  // A log that is a link or folder is told apart from one that is not there.
  const kind = diskReader.kind(config.eventLog.path);
  if (kind === 'directory') throw new Failure('unsafe-path', `${config.eventLog.path} is a folder, not a log.`, 'Correct eventLog.path.', 1);
  const page = readEvents(config.eventLog.path, filter, Number(limit));
  const reply: EventsReply = {
    verb: 'events', log: config.eventLog.path, events: page.events, problems: page.problems,
    warnings: [...contextWarnings(context), ...(config.eventLog.enabled ? [] : [{ kind: 'log-disabled', message: 'eventLog.enabled is false: nothing new is written.' }])],
  };
  const following = flag(values, 'follow');
  // A stream has no one document: with --follow --json each event is a line.
  if (!following) context.out.document(reply);
  else if (context.out.json) for (const event of page.events) context.out.raw(JSON.stringify(event));
  for (const event of page.events) context.out.line(line(context, event));
  if (!context.out.json) for (const problem of page.problems) context.out.error(`${context.out.paint('yellow', 'warning')}: line ${String(problem.line)}: ${problem.message}`);
  if (!following) {
    if (page.events.length === 0) context.out.line(`No events${kind === 'absent' ? `: there is no log at ${plain(config.eventLog.path)}` : ' match'}.`);
    return 0;
  }
  for await (const event of followEvents(config.eventLog.path, filter, { signal: context.signal, from: page.end })) {
    if (context.out.json) context.out.raw(JSON.stringify(event)); else context.out.line(line(context, event));
  }
  return 0;
}

export const command: Command = {
  summary: 'the event log',
  verbs: {
    '': {
      summary: 'Show the event log, or follow it.',
      usage: '[--follow] [--type PATTERN…] [--work-item REF…] [--since WHEN] [--level LEVEL] [--limit N] [--json]',
      options: {
        follow: { type: 'boolean', help: 'Go on with what is appended, until stopped; with --json one event a line.' },
        type: { type: 'string', multiple: true, value: 'PATTERN', help: 'Only these events, with * and ?, e.g. session.*' },
        'work-item': { type: 'string', multiple: true, value: 'REF', help: 'Only these work items.' },
        since: { type: 'string', value: 'WHEN', help: 'A time (2026-08-04T09:00:00Z) or an age (30s, 15m, 2h, 1d).' },
        level: { type: 'string', value: 'LEVEL', help: 'At least debug, info, warning or error.', choices: ['debug', 'info', 'warning', 'error'] },
        limit: { type: 'string', value: 'N', help: 'The last N. Default 50.' },
        ...stateOptions,
      },
      examples: ["loopkeeper events --type 'session.*' --since 1d", "loopkeeper events --work-item 'github:octo/repo#15'", 'loopkeeper events --follow'],
      run: events,
    },
  },
};
