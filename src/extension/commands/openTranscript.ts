import type { Command } from './command';

/** The row's transcript as a read-only document that follows the file, at the row's event. */
export const openTranscript: Command = async ({ transcripts }, { rows }) => {
  const subject = rows[0]?.subject;
  if (subject?.path !== undefined) await transcripts.show(subject.path, subject.seq);
};
