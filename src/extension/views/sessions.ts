import { homedir } from 'node:os';
import type { ListReply } from '../../protocol/sessions';
import type { Source } from '../source';
import { RowView } from './rowView';
import { sessionRows } from './sessionRows';
import { topRows } from './topRows';

/** The Sessions view: every conversation that a work item or one of its pull requests is bound to. */
export function sessionsView(list: Source<ListReply>): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.sessions',
    load: async () => topRows(await list.get(), around(), (reply, place) => sessionRows(reply, place, around())),
  });
  view.follow(list.onDidChange);
  return view;
}
