import * as vscode from 'vscode';
import type { Services } from '../services';
import { showFailure, targetOf } from './command';

/**
 * Registers commands by their ids in package.json; an error of any is shown to the person. What they do is loaded when the first of them is
 * run, because a window that only looks needs none of it.
 */
export function registerCommands(services: Services, ids: readonly string[]): vscode.Disposable[] {
  return ids.map((id) => vscode.commands.registerCommand(id, async (...args: unknown[]) => {
    try {
      const target = targetOf(services, args);
      const { commands } = await import('./table');
      await commands[id]?.(services, target);
    } catch (error) {
      await showFailure(services, error);
    }
  }));
}

/** The ids of the commands that an extension contributes. */
export function contributedIds(manifest: unknown): string[] {
  const { contributes } = manifest as { contributes?: { commands?: { command: string }[] } };
  return (contributes?.commands ?? []).map(({ command }) => command);
}
