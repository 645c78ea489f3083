import type * as vscode from 'vscode';
import type { ListReply } from '../protocol/sessions';
import type { CoreClient } from './coreClient';
import type { ItemDetails } from './itemDetails';
import type { Documents } from './planPreview/documents';
import type { Refresher } from './refresher';
import type { Roots } from './roots';
import type { Source } from './source';
import type { RowView } from './views/rowView';

/** What commands work with. */
export interface Services {
  client: CoreClient;
  roots: Roots;
  /** `sessions list` of every root. */
  list: Source<ListReply>;
  details: ItemDetails;
  refresher: Refresher;
  documents: Documents;
  output: vscode.LogOutputChannel;
  /** By their ids in package.json. */
  views: ReadonlyMap<string, RowView>;
  extension: { id: string };
  /** Lets work go on by itself; its failure is shown. */
  background: (work: Promise<unknown>) => void;
}
