import type { Command } from '../command';
import { resetVerb } from '../sessionsReset';

export const command: Command = {
  summary: 'work items and the sessions that work on them',
  verbs: { reset: resetVerb },
};
