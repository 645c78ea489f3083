import { Failure } from '../../core/disk/failure';
import { diskReader } from '../../core/disk/reader';
import { planPrune, planUnblock } from '../../core/retention/prunePlan';
import { reportState } from '../../core/retention/report';
import { stateFiles } from '../../core/retention/stateFiles';
import { pruneVerb } from '../../core/retention/undoPrune';
import { planPromote, planWrite } from '../../core/retention/writePlans';
import type { TargetWrite, WriteMode } from '../../core/retention/writeTarget';
import { checkoutKnowledge } from '../../core/workspaces/knowledge';
import type { LoopStateListReply } from '../../protocol/loopState';
import { flag, text, type Command, type Context, type Values } from '../command';
import { changeOptions, changeState, directoryOf, gitOf, placeOptions } from '../loopStateChange';
import { printList } from '../loopStateText';
import { contextWarnings } from '../state';

const usage = (message: string, verb: string): Failure => new Failure('usage', message, `See \`loopkeeper loop-state ${verb} --help\`.`, 2);
const modes: readonly WriteMode[] = ['metadata', 'advance', 'pending', 'promote', 'clear-pending'];

/** A value that must be given and must not be empty: an empty variable of a script is a mistake, not a name. */
function required(values: Values, name: string, verb: string): string {
  const value = text(values, name);
  if (value === undefined || value === '') throw usage(`loop-state ${verb} needs --${name}${value === '' ? ', and it is empty' : ''}.`, verb);
  return value;
}

function pullRequestNumber(value: string, name: string, verb: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw usage(`--${name} is ${JSON.stringify(value.slice(0, 80))}, which is no number of a pull request.`, verb);
  return Number(value);
}

function writeOf(values: Values, loop: string): TargetWrite | undefined {
  if (flag(values, 'prune-only')) return undefined;
  const mode = modes.find((known) => known === required(values, 'mode', 'write'));
  if (mode === undefined) throw usage(`--mode is one of ${modes.join(', ')}.`, 'write');
  const write: TargetWrite = { target: required(values, 'target', 'write'), outcome: required(values, 'outcome', 'write'), mode, loopName: loop };
  if (mode === 'advance' || mode === 'pending') write.sha = required(values, 'sha', 'write');
  // A pending without its number protects the target for ever and blocks no detection.
  const needsPr = mode === 'pending' || mode === 'promote' || mode === 'clear-pending';
  const pr = needsPr ? required(values, 'pending-pr', 'write') : text(values, 'pending-pr');
  if (pr !== undefined && pr !== '') write.pendingPr = pullRequestNumber(pr, 'pending-pr', 'write');
  const url = text(values, 'pending-pr-url');
  if (url !== undefined && url !== '') write.pendingPrUrl = url;
  const reason = text(values, 'reject-reason');
  if (reason !== undefined) write.rejectReason = reason;
  const rejections = text(values, 'open-rejections');
  if (rejections !== undefined) write.openRejections = rejections;
  return write;
}

function daysOf(values: Values): { days?: number } {
  const days = text(values, 'days');
  if (days === undefined) return {};
  if (!/^[1-9]\d{0,4}$/.test(days)) throw usage(`--days is ${JSON.stringify(days.slice(0, 80))}; it takes a whole number of days, 1 or more.`, 'prune');
  return { days: Number(days) };
}

function loopOf(values: Values): { loop?: string } {
  const loop = text(values, 'loop');
  return loop === undefined ? {} : { loop };
}

const pasted = (values: Values, names: readonly string[]): string[] => names.flatMap((name) => {
  const value = values[name];
  return typeof value === 'string' ? [`--${name}`, value] : value === true ? [`--${name}`] : [];
});

async function list(context: Context, values: Values): Promise<number> {
  const directory = directoryOf(context, values);
  const now = new Date(context.clock.now());
  const files = stateFiles(diskReader, directory).map(({ ref }) => ref);
  const reply: LoopStateListReply = {
    verb: 'loop-state-list', directory, ...reportState(diskReader, directory, now),
    knowledge: flag(values, 'no-exec') || files.length === 0 ? null : await checkoutKnowledge(gitOf(context, directory), files),
    warnings: contextWarnings(context),
  };
  context.out.document(reply);
  if (!context.out.json) printList(context.out, reply, now);
  return 0;
}

export const command: Command = {
  summary: 'the memory of CI loops in .loop: what is watched, what came of it, what goes after 30 days',
  verbs: {
    list: {
      summary: 'Show every target, the run ledger and the run log: age, when and why each entry goes or why it stays.',
      usage: '[--dir DIR]',
      options: { ...placeOptions, 'no-exec': { type: 'boolean', help: 'Run no other program: nothing is said of how old the checkout is.' } },
      examples: ['loopkeeper loop-state list', 'loopkeeper loop-state list --json'],
      run: list,
    },
    write: {
      summary: 'Prune the loop\'s file, then write what came of one target.',
      usage: '--loop L --target KEY --outcome O --mode M [--sha S] [--reject-reason=T] [--open-rejections JSON] [--pending-pr N] [--pending-pr-url U] [--commit [--push REMOTE/BRANCH]] | --loop L --prune-only',
      options: {
        loop: { type: 'string', value: 'L', help: 'The loop: its file is .loop/state-L.json.' },
        target: { type: 'string', value: 'KEY', help: 'integration:main, pull_request:355, …' },
        outcome: { type: 'string', value: 'O', help: 'rejected and pr-closed count as failures; watch, error and escalated keep the count; others reset it.' },
        mode: { type: 'string', value: 'M', help: 'metadata; advance (move the cursor to --sha); pending (a pull request is open); promote, clear-pending (it was merged, closed).', choices: modes },
        sha: { type: 'string', value: 'S', help: 'The commit, for advance and pending.' },
        'reject-reason': { type: 'string', value: 'T', help: 'What the checker said. Write it with =, since it may begin with a dash.' },
        'open-rejections': { type: 'string', value: 'JSON', help: 'What is still to be fixed, told to the next attempt. Default [].' },
        'pending-pr': { type: 'string', value: 'N', help: 'The pull request, for pending, promote and clear-pending.' },
        'pending-pr-url': { type: 'string', value: 'U', help: 'Its address.' },
        'prune-only': { type: 'boolean', help: 'Write no target.' },
        ...changeOptions,
      },
      examples: [
        'loopkeeper loop-state write --loop ci-sweeper --target integration:main --outcome rejected --mode metadata --reject-reason="$REASON"',
        'loopkeeper loop-state write --loop ci-sweeper --target integration:main --outcome pr-created --mode pending --sha "$SHA" --pending-pr 42 --commit --push origin/main',
      ],
      see: 'Git is the undo of this command; it keeps no trash.',
      run(context, values) {
        const loop = required(values, 'loop', 'write');
        const write = writeOf(values, loop);
        return changeState(context, values, {
          verb: 'loop-state-write', message: commitMessage('update state', [write === undefined ? `${loop}: prune` : `${loop}: ${write.target} ${write.outcome}`]),
          line: ['loopkeeper', 'loop-state', 'write', ...pasted(values, ['loop', 'target', 'outcome', 'mode', 'sha', 'reject-reason', 'open-rejections', 'pending-pr', 'pending-pr-url', 'prune-only', 'commit', 'push', 'dir'])],
          plan: (reader, place) => planWrite(reader, place, loop, write),
        });
      },
    },
    promote: {
      summary: 'Tell every loop that a pull request was merged or closed: its targets go on from there.',
      usage: '--pr N (--merged | --closed) [--commit [--push REMOTE/BRANCH]]',
      options: {
        pr: { type: 'string', value: 'N', help: 'The pull request that targets wait for.' },
        merged: { type: 'boolean', help: 'The cursor moves to what was merged; the failure count starts again.' },
        closed: { type: 'boolean', help: 'Closed without a merge: the cursor stays, it counts as a failure.' },
        ...changeOptions,
      },
      examples: ['loopkeeper loop-state promote --pr 42 --merged --commit --push origin/main'],
      run(context, values) {
        const pr = pullRequestNumber(required(values, 'pr', 'promote'), 'pr', 'promote');
        if (flag(values, 'merged') === flag(values, 'closed')) throw usage('Say one of --merged and --closed.', 'promote');
        const end = flag(values, 'merged') ? 'merged' : 'closed';
        return changeState(context, values, {
          verb: 'loop-state-promote', message: commitMessage('update state', [`pull request ${String(pr)} ${end}`]),
          line: ['loopkeeper', 'loop-state', 'promote', ...pasted(values, ['pr', 'merged', 'closed', 'commit', 'push', 'dir'])],
          plan: (reader, place) => planPromote(reader, place, pr, end),
        });
      },
    },
    prune: {
      summary: 'Prune all files by hand: the same as on every write, with trash and undo.',
      usage: '[--loop L] [--days N] [--dry-run] [--expect DIGEST] [--commit [--push REMOTE/BRANCH]]',
      options: {
        loop: { type: 'string', value: 'L', help: 'Only this loop\'s file.' },
        days: { type: 'string', value: 'N', help: 'Another window than 30 days, 1 or more.' },
        ...changeOptions,
      },
      examples: ['loopkeeper loop-state prune --dry-run', 'loopkeeper loop-state prune --commit'],
      see: '`loopkeeper undo` puts back each entry that is not there again.',
      run(context, values) {
        const choice = { ...daysOf(values), ...loopOf(values) };
        return changeState(context, values, {
          verb: pruneVerb, message: commitMessage('prune state', []),
          line: ['loopkeeper', 'loop-state', 'prune', ...pasted(values, ['loop', 'days', 'commit', 'push', 'dir'])],
          plan: (reader, place) => planPrune(reader, { ...place, ...choice }),
        });
      },
    },
    unblock: {
      summary: 'Close the breaker of a target on purpose: its failure count becomes 0, nothing else changes.',
      usage: 'KEY [--loop L] [--dry-run] [--expect DIGEST] [--commit [--push REMOTE/BRANCH]]',
      options: { loop: { type: 'string', value: 'L', help: 'The loop, where several have this target.' }, ...changeOptions },
      positionals: [{ name: 'KEY' }],
      examples: ['loopkeeper loop-state unblock integration:main --loop ci-sweeper'],
      run(context, values, [key = '']) {
        return changeState(context, values, {
          verb: 'loop-state-unblock', message: commitMessage('unblock', [key]),
          line: ['loopkeeper', 'loop-state', 'unblock', key, ...pasted(values, ['loop', 'commit', 'push', 'dir'])],
          plan: (reader, place) => planUnblock(reader, { ...place, ...loopOf(values) }, key),
        });
      },
    },
  },
};

/** Subject as the loops' own tools write it, so that CI leaves such commits alone; then one line for what was done. */
function commitMessage(what: string, lines: readonly string[]): string {
  return [`chore(loop): ${what} [skip ci]`, ...(lines.length === 0 ? [] : ['', ...lines.map((line) => line.replace(/[\r\n]+/g, ' '))]), ''].join('\n');
}
