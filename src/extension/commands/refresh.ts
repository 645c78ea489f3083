import type { Command } from './command';

/** Looks at everything again. */
export const refresh: Command = async ({ refresher }) => {
  await refresher.refresh();
};
