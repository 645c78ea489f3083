import type { ItemView, ListReply, ShowReply } from '../../protocol/sessions';
import { tildePath, type Place } from '../places';
import { shown, visible } from '../text/foreign';
import { day, l10n, plural } from '../text/l10n';
import { numberRef, severalRepositories, shortRef } from '../text/refs';
import { harnessName, uncommittedFiles, workOf, workWords } from '../text/words';
import { attentionWords, byNeed, mostUrgent, stateIcon, stateWord } from './attention';
import type { Link, Row, RowWord, Tooltip } from './row';
import type { Surroundings } from './topRows';

/** What was asked about an item when its row was opened or hovered: counts by git, terminals by tmux. */
export type Details = ShowReply | undefined;

/** The rows of one root's list, what needs a person first. `detailsOf` gives what is known beyond the list. */
export function workItemRows(list: ListReply, place: Place, around: Surroundings, detailsOf: (ref: string) => Details): Row[] {
  const several = severalRepositories(list.items.map((item) => item.ref));
  return [...list.items].sort(byNeed).map((item) => workItemRow(item, place, several, around, detailsOf(item.ref)));
}

/** `#15 Prune loop state`, with the repository when there are several. */
export function itemLabel(item: Pick<ItemView, 'ref' | 'title'>, several: boolean): string {
  const name = visible(several ? shortRef(item.ref) : numberRef(item.ref));
  return item.title ? `${name} ${shown(item.title)}` : name;
}

/** One item's row. What was asked about it since (its terminal, git's counts) is newer than the list. */
export function workItemRow(listed: ItemView, place: Place, several: boolean, around: Surroundings, details: Details): Row {
  const item = details?.item ?? listed;
  const label = itemLabel(item, several);
  const urgent = mostUrgent(item.attention);
  const work = details && details.checkouts.length > 0 ? [workWords(workOf(details.checkouts))].filter((words) => words !== '') : [];
  const state = describeState(item);
  const words: RowWord[] = ['item', item.state];
  if (item.armed && item.state !== 'armed') words.push('armed');
  if (urgent) words.push('attention');
  if (details?.checkouts.some((checkout) => (uncommittedFiles(checkout) ?? 0) > 0)) words.push('dirty');
  if (item.session?.terminal && item.session.status !== 'closed') words.push('tmux');
  const directory = item.checkout ?? (item.session?.cwd === '' ? undefined : item.session?.cwd);
  const record = recordOf(item);
  if (record !== undefined) words.push('record');
  if (item.url !== undefined) words.push('ticket');
  if (directory !== undefined) words.push('checkout');
  const spokenParts = [l10n.t('{0}, {1}', item.title ? `${shortRef(item.ref)} ${shown(item.title)}` : visible(shortRef(item.ref)), state), ...work];
  return {
    id: item.ref,
    label,
    description: [state, ...work].join(' · '),
    ...stateIcon(item.state, item.attention),
    words,
    spoken: urgent ? l10n.t('{0}. Needs you: {1}', spokenParts.join(', '), visible(urgent.sentence)) : spokenParts.join(', '),
    tooltip: itemTooltip(item, around, details),
    ...pieces(item, around, details).length > 0 ? { children: 'later' as const } : {},
    subject: {
      place, ref: item.ref, arguments: ['sessions', 'show', item.ref],
      ...(record === undefined ? {} : { path: record }), ...(item.url === undefined ? {} : { url: item.url }),
      ...(directory === undefined ? {} : { directory }), ...(item.session?.terminal ? { terminal: item.session.terminal } : {}),
    },
  };
}

/** The file that tells most about the item: the session record, else the portable one, else what there is. */
function recordOf(item: ItemView): string | undefined {
  return item.session?.path ?? item.control?.path ?? item.poll?.path ?? item.graph?.path ?? item.paths[0];
}

function describeState(item: ItemView): string {
  const urgent = mostUrgent(item.attention);
  if (!urgent || urgent.kind === 'unreadable') return stateWord(item.state);
  if (urgent.kind === 'armed-without-session') return attentionWords(urgent.kind);
  return `${stateWord(item.state)} · ${attentionWords(urgent.kind)}`;
}

function itemTooltip(item: ItemView, around: Surroundings, details: Details): Tooltip {
  const facts: Tooltip['facts'][number][] = [];
  const urgent = mostUrgent(item.attention);
  if (urgent) {
    facts.push({ name: l10n.t('Needs you'), value: urgent.sentence });
    if (urgent.command) facts.push({ name: l10n.t('Run'), value: urgent.command });
  }
  if (item.problem !== undefined) facts.push({ name: l10n.t('Problem'), value: item.problem });
  for (const piece of pieces(item, around, details)) facts.push({ name: piece.label, value: piece.description });
  const links: Link[] = [];
  if (recordOf(item) !== undefined) links.push({ title: l10n.t('Open Record'), command: 'loopkeeper.openRecord' });
  if (item.url !== undefined) links.push({ title: l10n.t('Open Ticket'), command: 'loopkeeper.openTicket' });
  return {
    sentence: l10n.t('{0}: {1}', shortRef(item.ref), stateSentence(item)),
    facts,
    paths: item.paths.map((path) => tildePath(path, around.home)),
    links,
  };
}

/** The state in one sentence. */
export function stateSentence(item: ItemView): string {
  switch (item.state) {
    case 'live': return l10n.t('its agent is at work or waits in its terminal.');
    case 'paused': return l10n.t('its session is paused.');
    case 'armed': return l10n.t('it has no session, and its last command lets a daemon start one.');
    case 'closed': return l10n.t('its session is closed; nothing runs.');
    case 'remembered': return l10n.t('no session; only what a daemon has seen or was told is remembered.');
    case 'unreadable': return l10n.t('a record of it cannot be read.');
    case 'collided': return l10n.t('the record under its name belongs to another item.');
  }
}

interface Piece { key: string; label: string; description: string; icon: string; path?: string; directory?: string; terminal?: string; url?: string; words: RowWord[] }

/** Who and when, counts, path: what the item is made of. */
function pieces(item: ItemView, around: Surroundings, details: Details): Piece[] {
  const found: Piece[] = [];
  const { session, control, poll, graph } = item;
  if (session) {
    const description = [harnessName(session.harness), sessionStatus(session.status), l10n.t('since {0}', day(session.createdAt, around.now))].join(' · ');
    found.push({ key: 'session', label: l10n.t('Session'), description, icon: 'comment-discussion', path: session.path, words: ['record'] });
  }
  if (control) {
    const description = l10n.t('{0} by {1}, {2}', shown(control.command, 40), shown(control.actor || control.source, 40), day(control.requestedAt, around.now));
    found.push({ key: 'control', label: l10n.t('Control'), description, icon: 'settings', path: control.path, words: ['record'] });
  }
  if (poll) {
    const seen = plural(poll.seenComments, '{0} comment seen', '{0} comments seen');
    found.push({ key: 'poll', label: l10n.t('Poll'), description: poll.lastPolledAt ? `${seen} · ${day(poll.lastPolledAt, around.now)}` : seen, icon: 'eye', path: poll.path, words: ['record'] });
  }
  if (graph) {
    const description = [plural(graph.nodes, '{0} phase', '{0} phases'), shown(graph.loop, 60)].join(' · ');
    found.push({ key: 'graph', label: l10n.t('Phase choices'), description, icon: 'list-tree', path: graph.path, words: ['record'] });
  }
  const checkouts = details?.checkouts ?? (item.checkout === undefined ? [] : [{ path: item.checkout }]);
  for (const checkout of checkouts) {
    const counts = 'branch' in checkout ? workWords(checkout) || l10n.t('clean') : '';
    const description = [counts, visible(tildePath(checkout.path, around.home))].filter((part) => part !== '').join(' · ');
    found.push({ key: `checkout:${checkout.path}`, label: l10n.t('Checkout'), description, icon: 'repo', directory: checkout.path, words: ['checkout'] });
  }
  for (const pull of session?.pullRequests ?? []) {
    const label = l10n.t('Pull request {0}', visible(numberRef(pull.ref)));
    const words: RowWord[] = ['pull', 'record', ...pull.terminal && pull.status !== 'closed' ? ['tmux' as const] : [], ...pull.url === undefined ? [] : ['ticket' as const]];
    found.push({
      key: `pull:${pull.ref}`, label, description: [harnessName(pull.harness), sessionStatus(pull.status)].join(' · '), icon: 'git-pull-request', words,
      ...(session ? { path: session.path } : {}), ...(pull.terminal ? { terminal: pull.terminal } : {}), ...(pull.url === undefined ? {} : { url: pull.url }),
    });
  }
  return found;
}

/** The word for a session's status; a status that this version does not know is shown as it is. */
export function sessionStatus(status: string): string {
  switch (status) {
    case 'active': return l10n.t('live');
    case 'paused': return l10n.t('paused');
    case 'closed': return l10n.t('closed');
    default: return visible(status);
  }
}

/** The rows below an item. */
export function pieceRows(item: ItemView, place: Place, around: Surroundings, details: Details): Row[] {
  return pieces(item, around, details).map((piece) => ({
    id: `${item.ref}/${piece.key}`,
    label: piece.label,
    description: piece.description,
    icon: piece.icon,
    words: ['piece', ...piece.words],
    spoken: l10n.t('{0}: {1}', piece.label, piece.description),
    subject: {
      place, ref: item.ref, ...(piece.path === undefined ? {} : { path: piece.path }), ...(piece.directory === undefined ? {} : { directory: piece.directory }),
      ...(piece.terminal === undefined ? {} : { terminal: piece.terminal }), ...(piece.url === undefined ? {} : { url: piece.url }),
    },
  }));
}
