import type * as vscode from 'vscode';
import type { RetestListReply } from '../protocol/retest';
import type { LoopStateListReply } from '../protocol/loopState';
import type { ListReply } from '../protocol/sessions';
import type { WorkflowListReply } from '../protocol/workflow';
import type { CoreClient } from './coreClient';
import type { FolderPlace } from './folders';
import type { ItemDetails } from './itemDetails';
import type { Lint } from './lint';
import type { Place } from './places';
import type { Documents } from './planPreview/documents';
import type { Refresher } from './refresher';
import type { Roots } from './roots';
import type { Source } from './source';
import type { Transcripts } from './transcripts';
import type { Usage } from './usage';
import type { Policies } from './views/policy';
import type { RowView } from './views/rowView';

/** What commands work with. */
export interface Services {
  client: CoreClient;
  roots: Roots;
  /** `sessions list` of every root. */
  list: Source<ListReply>;
  details: ItemDetails;
  /** `retest list` of every root. */
  retests: Source<RetestListReply>;
  transcripts: Transcripts;
  /** `workflow list` of every `.raymond` of the window. */
  runs: Source<WorkflowListReply, Place>;
  lint: Lint;
  /** `context show` of every folder of the window. */
  policies: Policies;
  usage: Usage;
  /** `loop-state list` of every folder that has some. */
  loopState: Source<LoopStateListReply, FolderPlace>;
  refresher: Refresher;
  documents: Documents;
  output: vscode.LogOutputChannel;
  /** By their ids in package.json. */
  views: ReadonlyMap<string, RowView>;
  extension: { id: string };
  /** Lets work go on by itself; its failure is shown. */
  background: (work: Promise<unknown>) => void;
}
