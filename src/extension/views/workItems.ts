import { homedir } from 'node:os';
import type { ItemView, ListReply } from '../../protocol/sessions';
import type { ItemDetails } from '../itemDetails';
import type { Roots } from '../roots';
import type { Source } from '../source';
import { severalRepositories } from '../text/refs';
import type { Row } from './row';
import { RowView } from './rowView';
import { problemRow, topRows } from './topRows';
import { pieceRows, workItemRow, workItemRows } from './workItemRows';

/** The Work Items view: a row for each item, its pieces below; git is asked when a row is opened or hovered. */
export function workItemsView(list: Source<ListReply>, roots: Roots, details: ItemDetails): RowView {
  const around = () => ({ now: new Date(), home: homedir() });

  const itemOf = (row: Row): { item: ItemView; several: boolean } | undefined => {
    for (const loaded of list.current) {
      if (!('value' in loaded) || loaded.root.stateRoot !== row.subject.place.stateRoot) continue;
      const item = loaded.value.items.find(({ ref }) => ref === row.subject.ref);
      if (item) return { item, several: severalRepositories(loaded.value.items.map(({ ref }) => ref)) };
    }
    return undefined;
  };

  /** Asks about the item and puts what came into its row; true when the row then reads differently. */
  const enrich = async (row: Row): Promise<boolean> => {
    const found = row.words.includes('item') ? itemOf(row) : undefined;
    if (!found) return false;
    const { place } = row.subject;
    const more = await details.get(place, found.item.ref);
    const next = workItemRow(found.item, place, found.several, around(), more);
    const changed = row.description !== next.description;
    Object.assign(row, { ...next, id: row.id });
    return changed;
  };

  const view = new RowView({
    id: 'loopkeeper.workItems',
    canSelectMany: true,
    load: async () => {
      const loaded = await list.get();
      if (roots.problem) return [problemRow(roots.problem, { cwd: '', stateRoot: '' })];
      return topRows(loaded, around(), (reply, place) => workItemRows(reply, place, around(), (ref) => details.peek(place, ref)));
    },
    later: async (row) => {
      if (await enrich(row)) view.redraw(row);
      const found = itemOf(row);
      if (!found) return [];
      const { place } = row.subject;
      const prefix = row.id.slice(0, row.id.length - found.item.ref.length);
      return pieceRows(found.item, place, around(), details.peek(place, found.item.ref)).map((piece) => ({ ...piece, id: prefix + piece.id }));
    },
    hover: async (row) => { await enrich(row); },
  });
  view.follow(list.onDidChange);
  return view;
}
