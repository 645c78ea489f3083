import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { LoopStateListReply } from '../../protocol/loopState';
import { FileWatch, type FolderPlace } from '../folders';
import { Owner } from '../lifecycle';
import type { Source } from '../source';
import { knowledgeWords, viewWords } from '../text/loopStateWords';
import { folderRows } from './folderRows';
import { entryRows, loopStateRows } from './loopStateRows';
import { RowView } from './rowView';

type LoopState = Source<LoopStateListReply, FolderPlace>;

/** The Loop State view: loops with their targets, the run ledger, the run log; how old the checkout is stands beside its title. */
export function loopStateView(state: LoopState): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.loopState',
    load: async () => {
      const loaded = await state.get();
      const { description, message } = viewWords(loaded.flatMap((one) => 'value' in one ? [one.value] : []), new Date());
      view.tree.description = description;
      view.tree.message = message === '' ? undefined : message;
      return folderRows(loaded, (reply, place) => loopStateRows(reply, place, around()), (reply) => knowledgeWords(reply.knowledge, new Date()));
    },
    later: (row) => {
      const loaded = state.current.find(({ root }) => root.cwd === row.subject.place.cwd);
      return Promise.resolve(loaded && 'value' in loaded ? entryRows(loaded.value, row, around()) : []);
    },
  });
  view.follow(state.onDidChange);
  return view;
}

/** Looks at loop state again when its files, or git's knowledge of them, change. */
export class LoopStateWatch extends Owner {
  private readonly watch: FileWatch;

  constructor(state: LoopState, private readonly folders: { readonly current: readonly FolderPlace[] }) {
    super();
    this.watch = this.own(new FileWatch(() => { state.invalidate(); }));
    this.own(state.onDidChange(() => { this.update(); }));
    this.update();
  }

  private update(): void {
    const open = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
    this.watch.watch([
      ...open.flatMap((folder): (readonly [string, string])[] => [[folder, '.loop'], [path.join(folder, '.loop'), '*.{json,md}']]),
      // What git knows changes with a fetch, a pull, a commit.
      ...this.folders.current.map(({ folder }) => [path.join(folder, '.git'), '{HEAD,FETCH_HEAD,ORIG_HEAD}'] as const),
    ]);
  }
}
