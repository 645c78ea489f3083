import { Failure } from '../../core/disk/failure';
import { planAppend } from '../../core/retention/writePlans';
import { text, type Command } from '../command';
import { changeOptions, changeState } from '../loopStateChange';

export const command: Command = {
  summary: 'the run log: one line for each run of a loop',
  verbs: {
    append: {
      summary: 'Drop lines older than 30 days, then append one.',
      usage: '--entry JSON [--commit [--push REMOTE/BRANCH]]',
      options: {
        entry: { type: 'string', value: 'JSON', help: 'One JSON object. Without a run_id it gets the time of now.' },
        ...changeOptions,
      },
      examples: [`loopkeeper run-log append --entry '{"loop_name":"ci-sweeper","outcome":"skipped","skip_reason":"budget"}'`],
      see: 'Git is the undo of this command; it keeps no trash.',
      run(context, values) {
        const entry = text(values, 'entry');
        if (entry === undefined) throw new Failure('usage', 'run-log append needs --entry.', 'See `loopkeeper run-log append --help`.', 2);
        return changeState(context, values, {
          verb: 'run-log-append', message: 'chore(loop): update state [skip ci]\n\nrun log\n',
          line: ['loopkeeper', 'run-log', 'append', '--entry', entry, ...['push', 'dir'].flatMap((name) => { const value = text(values, name); return value === undefined ? [] : [`--${name}`, value]; }), ...(values['commit'] === true ? ['--commit'] : [])],
          plan: (reader, place) => planAppend(reader, place, entry),
        });
      },
    },
  },
};
