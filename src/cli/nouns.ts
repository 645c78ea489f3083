import type { Command } from './command';

/** Every noun, in the order of the help; its file is loaded when it is called. */
export const nouns: Record<string, () => Promise<{ command: Command }>> = {
  status: () => import('./commands/status'),
  sessions: () => import('./commands/sessions'),
  context: () => import('./commands/context'),
  workflow: () => import('./commands/workflow'),
  retest: () => import('./commands/retest'),
  'loop-state': () => import('./commands/loopState'),
  ledger: () => import('./commands/ledger'),
  'run-log': () => import('./commands/runLog'),
  events: () => import('./commands/events'),
  undo: () => import('./commands/undo'),
  trash: () => import('./commands/trash'),
  doctor: () => import('./commands/doctor'),
  completion: () => import('./commands/completion'),
};
