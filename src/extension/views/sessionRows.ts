import type { Attention } from '../../protocol/plan';
import type { ItemView, ListReply } from '../../protocol/sessions';
import { tildePath, type Place } from '../places';
import { visible } from '../text/foreign';
import { l10n, moment } from '../text/l10n';
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

/** The conversations of one root: each item's session, and after it those of its pull requests. What needs a person comes first. */
export function sessionRows(list: ListReply, place: Place, around: Surroundings): Row[] {
  const several = severalRepositories(list.items.map((item) => item.ref));
  const sessions = list.items.flatMap((item) => item.session ? [{ item: asSession(item, item.session), session: item.session }] : []);
  return sessions.sort((a, b) => byNeed(a.item, b.item)).flatMap(({ item, session }) => sessionRowsOf(item, session, place, several, around));
}

function sessionRowsOf(item: ItemView, session: Session, place: Place, several: boolean, around: Surroundings): Row[] {
  const urgent = mostUrgent(item.attention);
  const own = sessionRow({
    id: item.ref, label: itemLabel(item, several), name: visible(shortRef(item.ref)), record: session.path, item: item.ref, place, around,
    session: { ...session, ...(item.url === undefined ? {} : { url: item.url }) },
    attention: urgent ? [urgent] : [], lastEventAt: session.lastEventAt,
  });
  const pulls = session.pullRequests.map((pull) => {
    const name = visible(several ? shortRef(pull.ref) : numberRef(pull.ref));
    const label = l10n.t('Pull request {0} of {1}', name, visible(numberRef(item.ref)));
    return sessionRow({ id: `${item.ref}>${pull.ref}`, label, name: label, record: session.path, item: item.ref, place, around, session: pull, attention: [], lastEventAt: null });
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
}

function sessionRow({ id, label, name, record, item, place, around, session, attention, lastEventAt }: Parts): Row {
  const state = rowState(session.status);
  const status = attention[0] ? attentionWords(attention[0].kind) : sessionStatus(session.status);
  const description = [harnessName(session.harness), status].join(' · ');
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
