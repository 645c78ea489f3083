import { homedir } from 'node:os';
import type { ListReply } from '../../protocol/sessions';
import type { Source } from '../source';
import { setting } from '../settings';
import type { Usage } from '../usage';
import { RowView } from './rowView';
import { plainSessionRows, sessionRows } from './sessionRows';
import { topRows } from './topRows';

/** The Sessions view: every conversation that a work item or one of its pull requests is bound to, then those of the open folders that belong to none. */
export function sessionsView(list: Source<ListReply>, usage: Usage): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.sessions',
    load: async () => {
      const loaded = await list.get();
      const { sessions, place } = await usage.get();
      const usages = new Map(sessions.map((one) => [one.id, one]));
      const rows = topRows(loaded, around(), (reply, where) => sessionRows(reply, where, around(), usages));
      if (setting<string>('sessions.plain', 'thisFolder') === 'off' || !place) return rows;
      const bound = new Set(loaded.flatMap((one) => 'value' in one ? one.value.items : []).flatMap(({ session }) => session ? [session.sessionId, ...session.pullRequests.map(({ sessionId }) => sessionId)] : []));
      return [...rows, ...plainSessionRows(sessions, bound, place, around())];
    },
  });
  view.follow(list.onDidChange);
  view.follow(usage.onDidChange);
  return view;
}
