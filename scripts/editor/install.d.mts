import type { Editor } from './server.mjs';
export const root: string;
export class NotAvailable extends Error {}
export function ensureEditor(which?: 'current' | 'floor'): Editor;
export function ensureBrowser(): string;
