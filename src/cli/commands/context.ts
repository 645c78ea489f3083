import type { Command } from '../command';
import { checkpointVerb } from '../contextCheckpoint';
import { guided } from '../contextItem';
import { initVerb, setVerb, showVerb } from '../contextPolicy';
import { guideVerb, reentryVerb, usageVerb } from '../contextReports';

export const command: Command = {
  summary: "the context policy, and what must be on disk before an agent's window is cleared or compacted",
  verbs: {
    show: guided(showVerb), set: guided(setVerb), init: guided(initVerb), checkpoint: guided(checkpointVerb), usage: guided(usageVerb), reentry: guided(reentryVerb), guide: guided(guideVerb),
  },
};
