import { homedir } from 'node:os';
import path from 'node:path';
import type { ContextShowReply } from '../../protocol/context';
import { FileWatch, type FolderPlace } from '../folders';
import { Owner } from '../lifecycle';
import type { Source } from '../source';
import { policyWord } from '../text/contextWords';
import { l10n } from '../text/l10n';
import { isOn } from '../statusBar/contextStatus';
import { folderRows } from './folderRows';
import { policyRows } from './policyRows';
import { RowView } from './rowView';

export type Policies = Source<ContextShowReply, FolderPlace>;

/** The Context Policy view: each value in force with the file and line it comes from. */
export function policyView(policies: Policies): RowView {
  const around = () => ({ now: new Date(), home: homedir() });
  const view = new RowView({
    id: 'loopkeeper.contextPolicy',
    load: async () => folderRows(await policies.get(), (reply, place) => policyRows(reply, place, around()), (reply) => {
      const on = isOn(reply);
      return on === undefined ? l10n.t('invalid') : policyWord(on);
    }),
  });
  view.follow(policies.onDidChange);
  return view;
}

/** Looks at the policies again when one of their files changes, or comes. */
export class PolicyWatch extends Owner {
  constructor(policies: Policies, folders: { readonly current: readonly FolderPlace[] }) {
    super();
    const watch = this.own(new FileWatch(() => { policies.invalidate(); }));
    const update = (): void => {
      const known = policies.current.flatMap((one) => 'value' in one ? [one.value.folder] : []);
      const directories = [...new Set([...folders.current.map(({ folder }) => folder), ...known])].map((folder) => path.join(folder, '.the-loop'));
      watch.watch(directories.map((directory) => [directory, '*.{yaml,yml}'] as const));
    };
    this.own(policies.onDidLoad(update));
    this.own(policies.onDidChange(update));
    update();
  }
}
