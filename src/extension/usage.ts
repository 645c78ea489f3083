import path from 'node:path';
import * as vscode from 'vscode';
import { CheckpointReply, UsageReply, type UsageView } from '../protocol/context';
import type { ListReply } from '../protocol/sessions';
import { CoreError, type CoreClient, type Log } from './coreClient';
import { FileWatch, type FolderPlace } from './folders';
import { Owner } from './lifecycle';
import type { Place } from './places';
import type { Roots } from './roots';
import { affects, setting } from './settings';
import type { Source } from './source';

/** What is known of the windows of sessions, and where it was asked (undefined: nowhere, no folder is open). */
export interface Usages { sessions: readonly UsageView[]; place: Place | undefined }

/** Transcripts are written all the time; they are read at most this often. */
const intervalMilliseconds = 5_000;
/** A checkpoint below the threshold is looked at again after this long. */
const checkpointMilliseconds = 60_000;
/** As many as the tooltip of the status bar names. */
const checkpointLimit = 5;

/**
 * How full the windows are of the sessions of the open folders and of the work items that live, and whether a live one has its checkpoint.
 * Asked again when a transcript is written, at most every 5 s. A program that fails gives no session; why is in the output channel.
 */
export class Usage extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** There is something new: the views draw, the status bar asks. */
  readonly onDidChange = this.changed.event;
  private readonly watch = this.own(new FileWatch(() => { this.soon(); }));
  private readonly checkpoints = new Map<string, { complete: boolean | undefined; at: number }>();
  private last: Usages = { sessions: [], place: undefined };
  private flight: Promise<Usages> | undefined;
  private fresh = false;
  private askedAt = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: CoreClient, private readonly roots: Roots, private readonly list: Source<ListReply>, private readonly folders: { get(): Promise<readonly FolderPlace[]>; onDidChange: vscode.Event<void> }, private readonly log: Log) {
    super();
    this.own(list.onDidLoad(() => { this.invalidate(); }));
    this.own(folders.onDidChange(() => { this.invalidate(); }));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => { if (affects(event, 'sessions.plain', 'claudeConfigDir')) this.invalidate(); }));
  }

  /** The last answer, perhaps stale. */
  get current(): Usages {
    return this.last;
  }

  /** Never rejects. */
  async get(): Promise<Usages> {
    while (!this.isDisposed && !this.fresh) await (this.flight ?? this.start());
    return this.last;
  }

  /** The next `get()` asks again. */
  invalidate(): void {
    this.fresh = false;
    if (!this.isDisposed) this.changed.fire();
  }

  /** Whether a live session's checkpoint is there; undefined when nobody has looked. */
  checkpointOf(id: string): boolean | undefined {
    return this.checkpoints.get(id)?.complete;
  }

  /** Looks at the checkpoints of the fullest live sessions, those above `warnAt` percent each time. */
  async lookAtCheckpoints(warnAt: number): Promise<void> {
    const live = this.last.sessions.filter(({ running }) => running !== null).sort((a, b) => (b.share ?? 0) - (a.share ?? 0)).slice(0, checkpointLimit);
    for (const session of live) {
      const known = this.checkpoints.get(session.id);
      if (known && (session.share ?? 0) * 100 < warnAt && Date.now() - known.at < checkpointMilliseconds) continue;
      if (known && Date.now() - known.at < intervalMilliseconds) continue;
      this.checkpoints.set(session.id, { complete: await this.isComplete(session), at: Date.now() });
      if (this.isDisposed) return;
    }
  }

  override dispose(): void {
    clearTimeout(this.timer);
    super.dispose();
  }

  private soon(): void {
    if (this.timer || this.isDisposed) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.invalidate();
    }, Math.max(0, this.askedAt + intervalMilliseconds - Date.now()));
  }

  private async start(): Promise<Usages> {
    this.fresh = true;
    this.askedAt = Date.now();
    this.flight = this.ask();
    try {
      this.last = await this.flight;
    } finally {
      this.flight = undefined;
    }
    // Claude Code keeps what runs in sessions/, beside projects/ with a folder of transcripts each.
    const projects = [...new Set(this.last.sessions.map(({ transcript }) => path.dirname(transcript)))];
    this.watch.watch([...projects.map((directory) => [directory, '*.jsonl'] as const), ...[...new Set(projects.map((directory) => path.join(directory, '..', '..', 'sessions')))].map((directory) => [directory, '*.json'] as const)]);
    return this.last;
  }

  private async ask(): Promise<Usages> {
    const [folders, roots, loaded] = await Promise.all([this.folders.get(), this.roots.get(), this.list.get()]);
    const place: Place | undefined = roots[0] ?? folders[0];
    if (!place) return { sessions: [], place };
    const open = folders.map(({ folder }) => folder);
    const items = loaded.flatMap((one) => 'value' in one ? one.value.items : []).flatMap(({ session }) => session && session.status !== 'closed' && path.isAbsolute(session.cwd) ? [session.cwd] : []);
    const chosen = [...new Set([...open, ...items])];
    const all = setting<string>('sessions.plain', 'thisFolder') === 'all';
    if (!all && chosen.length === 0) return { sessions: [], place };
    try {
      const { reply } = await this.client.run({ place, args: ['context', 'usage', ...all ? ['--all'] : chosen.flatMap((folder) => ['--folder', folder])], schema: UsageReply });
      return { sessions: reply.sessions, place };
    } catch (error) {
      this.log.error(error instanceof CoreError ? error.message : String(error));
      return { sessions: [], place };
    }
  }

  private async isComplete(session: UsageView): Promise<boolean | undefined> {
    const item = this.list.current.flatMap((one) => 'value' in one ? one.value.items.map((found) => ({ root: one.root, found })) : [])
      .find(({ found }) => found.session && [found.session.sessionId, ...found.session.pullRequests.map(({ sessionId }) => sessionId)].includes(session.id));
    const place = item?.root ?? this.last.place;
    if (!place) return undefined;
    const ref = item?.found.ref ?? session.ref;
    try {
      const { reply } = await this.client.run({ place, args: ['context', 'checkpoint', ...ref === null ? ['--session', session.id] : ['--work-item', ref]], schema: CheckpointReply });
      // What nothing on disk decides is not missing.
      return reply.complete ? true : reply.parts.some(({ verdict }) => verdict === 'missing') ? false : undefined;
    } catch (error) {
      // Without a spec folder or a transcript nothing can be said.
      this.log.info(error instanceof CoreError ? error.message : String(error));
      return undefined;
    }
  }
}
