import { Failure } from '../../core/disk/failure';
import { planRecord } from '../../core/retention/writePlans';
import { text, type Command, type Values } from '../command';
import { changeOptions, changeState } from '../loopStateChange';

/** A value that must be given; an empty run id is let through, since it means that there is nothing to record. */
function required(values: Values, name: string): string {
  const value = text(values, name);
  if (value === undefined) throw new Failure('usage', `ledger record needs --${name}.`, 'See `loopkeeper ledger record --help`.', 2);
  return value;
}

export const command: Command = {
  summary: 'the run ledger: which CI runs a loop has handled',
  verbs: {
    record: {
      summary: 'Record what came of one CI run, then drop runs older than 30 days.',
      usage: '--run-id ID --workflow-name W --head-sha S --outcome O [--loop-run-id R] [--file F] [--commit [--push REMOTE/BRANCH]]',
      options: {
        'run-id': { type: 'string', value: 'ID', help: 'The run that was handled. Empty: nothing is recorded.' },
        'workflow-name': { type: 'string', value: 'W', help: 'Its workflow.' },
        'head-sha': { type: 'string', value: 'S', help: 'The commit it ran on.' },
        outcome: { type: 'string', value: 'O', help: 'pr-created, rejected, watch, no-action (or no-changes). Any other is not recorded.' },
        'loop-run-id': { type: 'string', value: 'R', help: 'The run of the loop itself.' },
        file: { type: 'string', value: 'F', help: 'The ledger, below the directory. Default .loop/state-ci-sweeper-run-ledger.json.' },
        ...changeOptions,
      },
      examples: ['loopkeeper ledger record --run-id 29310573442 --workflow-name on-ci --head-sha "$SHA" --outcome rejected'],
      see: 'Git is the undo of this command; it keeps no trash.',
      run(context, values) {
        const run = { runId: required(values, 'run-id'), workflowName: required(values, 'workflow-name'), headSha: required(values, 'head-sha'), outcome: required(values, 'outcome') };
        const loopRunId = text(values, 'loop-run-id');
        return changeState(context, values, {
          verb: 'ledger-record', message: `chore(loop): update state [skip ci]\n\nrun ${run.runId} ${run.outcome}\n`.replace(/\r/g, ' '),
          line: ['loopkeeper', 'ledger', 'record', ...['run-id', 'workflow-name', 'head-sha', 'outcome', 'loop-run-id', 'file', 'push', 'dir'].flatMap((name) => { const value = text(values, name); return value === undefined ? [] : [`--${name}`, value]; }), ...(values['commit'] === true ? ['--commit'] : [])],
          plan: (reader, place) => planRecord(reader, place, text(values, 'file'), { ...run, ...(loopRunId === undefined ? {} : { loopRunId }) }),
        });
      },
    },
  },
};
