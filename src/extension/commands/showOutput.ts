import type { Command } from './command';

/** The output channel: every command that ran, as a line to paste, and what it said. */
export const showOutput: Command = ({ output }) => {
  output.show();
};
