import * as vscode from 'vscode';
import type { SettingKey } from './settingKeys';

/** A setting's value; settings that name a folder or program are ignored by the editor in an untrusted workspace (package.json). */
export function setting<T extends string | number | boolean>(key: SettingKey, fallback: T, scope?: vscode.Uri): T {
  const value = vscode.workspace.getConfiguration('loopkeeper', scope).get<unknown>(key);
  return typeof value === typeof fallback ? value as T : fallback;
}

/** True when any of these settings changed. */
export function affects(event: vscode.ConfigurationChangeEvent, ...keys: SettingKey[]): boolean {
  return keys.some((key) => event.affectsConfiguration(`loopkeeper.${key}`));
}
