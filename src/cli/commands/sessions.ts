import type { Command } from '../command';
import { listVerb, showVerb } from '../sessionsList';
import { resetVerb } from '../sessionsResetVerb';

export const command: Command = {
  summary: 'work items and the sessions that work on them',
  verbs: { list: listVerb, show: showVerb, reset: resetVerb },
};
