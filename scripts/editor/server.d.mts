import type { Browser } from 'playwright-core';
export interface Editor { node: string; entry: string; version: string }
export interface Profile { directory: string; userData: string; extensions: string; temporary: string; args: string[]; remove(): void }
export interface Server { url: string; port: string; milliseconds: number; log(): string; stop(): Promise<void>; exited: Promise<unknown> }
export function makeProfile(settings?: Record<string, unknown>): Profile;
export function installVsix(editor: Editor, profile: Profile, vsix: string): void;
export function driverOptions(editor: Editor): string[];
export function startServer(editor: Editor, profile: Profile, options?: { extra?: string[]; env?: Record<string, string>; trust?: boolean; port?: number }): Promise<Server>;
export function launchBrowser(executablePath: string): Promise<Browser>;
export function remoteAddress(port: string, file: string): string;
