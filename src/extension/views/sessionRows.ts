import type { UsageView } from '../../protocol/context';
import type { Attention } from '../../protocol/plan';
import type { ItemView, ListReply } from '../../protocol/sessions';
import { tildePath, type Place } from '../places';
import { activityWords, usageWords } from '../text/contextWords';
import { shown, visible } from '../text/foreign';
import { l10n, moment, plural } from '../text/l10n';
import { numberRef, severalRepositories, shortRef } from '../text/refs';
import { harnessName } from '../text/words';
import { attentionWords, byNeed, mostUrgent, stateIcon } from './attention';
import type { Row, RowWord } from './row';
import type { Surroundings } from './topRows';
import { itemLabel, sessionStatus } from './workItemRows';

type Session = NonNullable<ItemView['session']>;
type RowState = 'live' | 'paused' | 'closed';

/** What an item needs that its session has nothing to do with. */
const notOfSessions: readonly Attention['kind'][] = ['armed-without-session', 'unreadable'];

/** The item as its session alone would order it. */
function asSession(item: ItemView, session: Session): ItemView {
  return { ...item, state: rowState(session.status), attention: item.attention.filter(({ kind }) => !notOfSessions.includes(kind)) };
}

function rowState(status: string): RowState {
  return status === 'active' ? 'live' : status === 'paused' ? 'paused' : 'closed';
}

/** What is known of a session's window, by its id. */
export type Usages = ReadonlyMap<string, UsageView>;

/** The conversations of one root: each item's session, and after it those of its pull requests. What needs a person comes first. */
export function sessionRows(list: ListReply, place: Place, around: Surroundings, usages: Usages = new Map()): Row[] {
  const several = severalRepositories(list.items.map((item) => item.ref));
  const sessions = list.items.flatMap((item) => item.session ? [{ item: asSession(item, item.session), session: item.session }] : []);
  return sessions.sort((a, b) => byNeed(a.item, b.item)).flatMap(({ item, session }) => sessionRowsOf(item, session, place, several, around, usages));
}

function sessionRowsOf(item: ItemView, session: Session, place: Place, several: boolean, around: Surroundings, usages: Usages): Row[] {
  const urgent = mostUrgent(item.attention);
  const own = sessionRow({
    id: item.ref, label: itemLabel(item, several), name: visible(shortRef(item.ref)), record: session.path, item: item.ref, place, around,
    session: { ...session, ...(item.url === undefined ? {} : { url: item.url }) },
    attention: urgent ? [urgent] : [], lastEventAt: session.lastEventAt, usage: usages.get(session.sessionId),
  });
  const pulls = session.pullRequests.map((pull) => {
    const name = visible(several ? shortRef(pull.ref) : numberRef(pull.ref));
    const label = l10n.t('Pull request {0} of {1}', name, visible(numberRef(item.ref)));
    return sessionRow({ id: `${item.ref}>${pull.ref}`, label, name: label, record: session.path, item: item.ref, place, around, session: pull, attention: [], lastEventAt: null, usage: usages.get(pull.sessionId) });
  });
  return [own, ...pulls];
}

interface Parts {
  id: string;
  label: string;
  name: string;
  record: string;
  item: string;
  place: Place;
  around: Surroundings;
  session: { harness: string; status: string; cwd: string; terminal: string; sessionId: string; url?: string | undefined };
  attention: ItemView['attention'];
  lastEventAt: string | null;
  usage: UsageView | undefined;
}

function sessionRow({ id, label, name, record, item, place, around, session, attention, lastEventAt, usage }: Parts): Row {
  const state = rowState(session.status);
  const status = attention[0] ? attentionWords(attention[0].kind) : sessionStatus(session.status);
  // A conversation that is open now says what it does; the window of a closed one is nobody's concern.
  const measured = usage && state !== 'closed' ? usage : undefined;
  const description = [harnessName(session.harness), ...measured ? [usageWords(measured)] : [], measured?.running && !attention[0] && state === 'live' ? activityWords(measured, around.now) : status].join(' · ');
  const words: RowWord[] = ['session', state, 'record'];
  if (attention.length > 0) words.push('attention');
  if (session.terminal && state !== 'closed') words.push('tmux');
  if (session.url !== undefined) words.push('ticket');
  if (session.cwd) words.push('checkout');
  const facts = [
    { name: l10n.t('Agent'), value: harnessName(session.harness) },
    { name: l10n.t('Status'), value: sessionStatus(session.status) },
    ...(lastEventAt === null ? [] : [{ name: l10n.t('Last event'), value: moment(lastEventAt) }]),
    ...(session.terminal ? [{ name: l10n.t('Terminal'), value: session.terminal }] : []),
    { name: l10n.t('Conversation'), value: session.sessionId },
    ...usage ? usageFacts(usage, around) : [],
    ...(attention[0] ? [{ name: l10n.t('Needs you'), value: attention[0].sentence }] : []),
  ];
  return {
    id, label, description, ...stateIcon(state, attention), words,
    spoken: l10n.t('Session of {0}, {1}', name, description.replaceAll(' · ', ', ')),
    tooltip: {
      sentence: l10n.t('Session of {0}', name), facts, paths: [record, session.cwd].filter((path) => path !== '').map((path) => tildePath(path, around.home)),
      links: [{ title: l10n.t('Open Record'), command: 'loopkeeper.openRecord' }],
    },
    subject: {
      place, ref: item, path: record, arguments: ['sessions', 'show', item],
      ...(session.cwd ? { directory: session.cwd } : {}), ...(session.terminal ? { terminal: session.terminal } : {}), ...(session.url === undefined ? {} : { url: session.url }),
    },
  };
}

function usageFacts(usage: UsageView, { now }: Surroundings): { name: string; value: string }[] {
  return [
    { name: l10n.t('Window'), value: usageWords(usage) },
    ...usage.model === null ? [] : [{ name: l10n.t('Model'), value: usage.model }],
    { name: l10n.t('Activity'), value: activityWords(usage, now) },
  ];
}

/** Plain sessions seen at once; older ones are below one row. */
const plainLimit = 10;

/** Conversations of the open folders that no work item's record names: those that run first, then the last active. */
export function plainSessionRows(usages: readonly UsageView[], bound: ReadonlySet<string>, place: Place, around: Surroundings): Row[] {
  const plain = usages.filter(({ id, ref }) => ref === null && !bound.has(id))
    .sort((a, b) => Number(b.running !== null) - Number(a.running !== null) || (Date.parse(b.lastActive) || 0) - (Date.parse(a.lastActive) || 0));
  const rows = plain.map((usage) => plainRow(usage, place, around));
  const running = plain.filter((usage) => usage.running !== null).length;
  const seen = Math.max(plainLimit, running);
  if (rows.length <= seen + 1) return rows;
  const label = plural(rows.length - seen, '{0} older session', '{0} older sessions');
  return [...rows.slice(0, seen), { id: 'plain:older', label, icon: 'history', words: ['older'], spoken: label, children: rows.slice(seen), subject: { place } }];
}

function plainRow(usage: UsageView, place: Place, around: Surroundings): Row {
  const label = usage.title === null ? l10n.t('Conversation without a title') : shown(usage.title, 60);
  const description = [harnessName(usage.harness), ...usage.reason === 'not-started' ? [] : [usageWords(usage)], activityWords(usage, around.now)].join(' · ');
  const state = usage.running ? 'live' : 'closed';
  const words: RowWord[] = ['session', 'plain', state, 'entry', ...usage.cwd === null ? [] : ['checkout' as const]];
  return {
    id: `plain:${usage.id}`, label, description, icon: usage.running ? usage.running.status === 'busy' ? 'play-circle' : 'circle-filled' : 'circle-outline', ...usage.running ? { colour: 'charts.green' } : {}, words,
    spoken: l10n.t('Session {0}, {1}', label, description.replaceAll(' · ', ', ')),
    tooltip: {
      sentence: usage.running ? l10n.t('A conversation of no work item, open now.') : l10n.t('A conversation of no work item, closed.'),
      facts: [...usageFacts(usage, around), { name: l10n.t('Conversation'), value: usage.id }],
      paths: [usage.transcript, usage.cwd ?? ''].filter((path) => path !== '').map((path) => tildePath(path, around.home)), links: [{ title: l10n.t('Checkpoint…'), command: 'loopkeeper.checkpoint' }],
    },
    subject: { place, ref: usage.id, session: usage.id, path: usage.transcript, ...usage.cwd === null ? {} : { directory: usage.cwd }, arguments: ['context', 'usage', '--session', usage.id] },
  };
}
