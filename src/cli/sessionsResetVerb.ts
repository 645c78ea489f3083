import { planOptions, stateOptions, type Verb } from './command';

/** Its work is loaded when it is called: list and show do without. */
export const resetVerb: Verb = {
  summary: 'Forget work items: session, control, poll and checkout go; repository, ticket and event log stay.',
  usage: '(--work-item REF… | --all) [--dry-run] [--include graph] [--expect DIGEST] [--no-trash] [--no-exec] [--config PATH] [--json]',
  options: {
    'work-item': { type: 'string', multiple: true, value: 'REF', help: 'The item, e.g. github:octo/repo#15; may be repeated.' },
    all: { type: 'boolean', help: 'Every item that this state root remembers.' },
    include: { type: 'string', multiple: true, value: 'graph', choices: ['graph'], help: 'Forget the phase choices too.' },
    'no-trash': { type: 'boolean', help: 'Erase outright: nothing is kept, and there is no undo.' },
    ...planOptions, ...stateOptions,
  },
  examples: [
    "loopkeeper sessions reset --work-item 'github:octo/repo#15' --dry-run",
    "loopkeeper sessions reset --work-item 'github:octo/repo#15' --work-item 'github:octo/repo#21'",
    'loopkeeper sessions reset --all --expect DIGEST_OF_THE_DRY_RUN',
  ],
  run: async (context, values) => (await import('./sessionsReset')).reset(context, values),
};
