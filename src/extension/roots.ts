import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { ListReply, StatusReply } from '../protocol/sessions';
import { contextKeys, type Reason } from './contextKeys';
import { CoreError, type CoreClient, type Log } from './coreClient';
import { Owner } from './lifecycle';
import { isWithin, placesToLook, type Place } from './places';
import { affects, setting } from './settings';

/** A loop whose state is there. */
export interface Root extends Place {
  /** Its last status: counts, what needs a person, daemons. */
  status: StatusReply;
}

/**
 * The loops of this window: one per real state root. Sets the context keys `ready` and `reason` before any view asks.
 * `find()` looks again (single flight); looking creates nothing.
 */
export class Roots extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** The roots, or why there are none, have changed. */
  readonly onDidChange = this.changed.event;
  private readonly statusChanged = this.own(new vscode.EventEmitter<void>());
  /** Every look, also when the roots are the same: statuses are new. */
  readonly onDidLook = this.statusChanged.event;
  private found: Root[] = [];
  private reason: Reason | '' | undefined;
  private failed: CoreError | undefined;
  private flight: Promise<Root[]> | undefined;
  private again = false;

  constructor(private readonly client: CoreClient, private readonly log: Log) {
    super();
    const look = (): void => { void this.find(); };
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(look));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(look));
    this.own(vscode.workspace.onDidChangeConfiguration((event) => {
      if (affects(event, 'loopFolder', 'cliConfig', 'tmuxPath', 'gitPath')) look();
    }));
  }

  /** The roots as last found, without looking. */
  get current(): readonly Root[] {
    return this.found;
  }

  /** What the program itself said against looking (an unreadable configuration, say), to be shown as a row when there is nothing else. */
  get problem(): CoreError | undefined {
    return this.reason === '' && this.found.length === 0 ? this.failed : undefined;
  }

  /** The roots as last found; looks when nobody has looked yet. Who asks while a look is under way is told by `onDidChange` when it finds others. */
  get(): Promise<readonly Root[]> {
    return this.reason === undefined ? this.flight ?? this.find() : Promise.resolve(this.found);
  }

  /** Looks again. Calls meanwhile share one further look. */
  find(): Promise<Root[]> {
    if (this.flight) {
      this.again = true;
      return this.flight;
    }
    this.flight = this.look().finally(() => {
      this.flight = undefined;
      if (this.again && !this.isDisposed) {
        this.again = false;
        void this.find();
      }
    });
    return this.flight;
  }

  private async look(): Promise<Root[]> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    const home = homedir();
    const places = placesToLook(folders.map((folder) => ({
      path: folder.uri.fsPath,
      loopFolder: setting('loopFolder', '', folder.uri),
      cliConfig: setting('cliConfig', '', folder.uri),
    })), home);
    const roots = new Map<string, Root>();
    let failure: CoreError | undefined;
    const ask = async (place: Place): Promise<void> => {
      try {
        const { reply } = await this.client.run({ place, args: ['status'], schema: StatusReply });
        const found = hasState(reply);
        this.log.info(`  looked at ${reply.stateRoot}: ${found ? 'state found' : 'no state'}`);
        if (!found) return;
        const stateRoot = realPath(reply.stateRoot);
        if (!roots.has(stateRoot)) roots.set(stateRoot, { ...place, stateRoot: reply.stateRoot, status: reply });
      } catch (error) {
        if (!(error instanceof CoreError)) throw error;
        failure ??= error;
      }
    };
    for (const place of places) await ask(place);
    const homeConfig = path.join(home, '.the-loop', 'cli-config.yaml');
    if (roots.size === 0 && !failure && existsSync(homeConfig)) await ask({ cwd: home, stateRoot: '' });

    const next = [...roots.values()];
    const reason = next.length > 0 ? '' : await this.reasonFor(folders, places, failure);
    const same = reason === this.reason && failure?.message === this.failed?.message && next.map(keyOf).join('\n') === this.found.map(keyOf).join('\n');
    this.found = next;
    this.reason = reason;
    this.failed = failure;
    await vscode.commands.executeCommand('setContext', contextKeys.reason, reason);
    await vscode.commands.executeCommand('setContext', contextKeys.ready, next.length > 0);
    if (this.isDisposed) return next;
    if (!same) this.changed.fire();
    this.statusChanged.fire();
    return next;
  }

  private async reasonFor(folders: readonly vscode.WorkspaceFolder[], places: readonly Place[], failure: CoreError | undefined): Promise<Reason | ''> {
    if (failure) return failure.kind === 'cannot-run' || failure.kind === 'bad-reply' ? 'programFailed' : '';
    if (folders.length === 0) return 'noFolder';
    if (!vscode.workspace.isTrusted) return 'restricted';
    if (folders.some((folder) => existsSync(path.join(folder.uri.fsPath, '.the-loop')))) return 'elsewhere';
    for (const place of places) {
      const { reply } = await this.client.run({ place, args: ['sessions', 'list'], schema: ListReply });
      if (reply.workspaceRoot !== null && folders.some((folder) => isWithin(reply.workspaceRoot ?? '', folder.uri.fsPath))) return 'elsewhere';
    }
    return 'nothing';
  }
}

/** A loop has been here. The folder alone says nothing: a repository has a .the-loop with its configuration and no state. */
function hasState({ exists, counts, stateRoot }: StatusReply): boolean {
  return exists && (Object.values(counts).some((count) => count > 0) || ['portable', 'local', 'logs', 'loopkeeper'].some((name) => existsSync(path.join(stateRoot, name))));
}

function keyOf(root: Root): string {
  return `${root.stateRoot}\0${root.cwd}\0${root.config ?? ''}`;
}

/** The same state root by another path is the same state root. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
