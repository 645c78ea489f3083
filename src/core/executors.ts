import fs from 'node:fs';
import path from 'node:path';
import { writeFileDurably } from './disk/durable';
import { assertInside, diskReader, unsafePath } from './disk/reader';
import type { MonotonicClock } from './harness/close';
import { endSessionExecutor } from './harness/closeExecutor';
import type { Executors, StepExecutor } from './plan/executor';
import { fileExecutors, outcomeOfError } from './plan/fileSteps';
import type { RebuildIndexStep } from './plan/plan';
import { buildVerdicts } from './retest/store';
import { commitExecutor } from './workspaces/commit';
import type { Git } from './workspaces/git';
import { buildPortableIndex } from './workItems/portableIndex';

type Rebuilt = { kind: 'write'; text: string } | { kind: 'delete' };

/** How each derived file follows from the files beside it. */
const rebuilders: Record<string, (step: RebuildIndexStep) => Rebuilt> = {
  'portable-index': (step) => buildPortableIndex(diskReader, path.dirname(step.path)),
  'retest-verdicts': (step) => ({ kind: 'write', text: buildVerdicts(diskReader, step.root) }),
};

async function rebuild(step: RebuildIndexStep): Promise<'done' | 'already'> {
  assertInside(step.root, step.path);
  const kind = diskReader.kind(step.path);
  if (kind !== 'file' && kind !== 'absent') throw unsafePath(step.path, 'no file');
  const rebuilder = rebuilders[step.target];
  if (!rebuilder) throw new Error(`no rebuilder for ${step.target}`);
  const result = rebuilder(step);
  const before = diskReader.text(step.path);
  if (result.kind === 'delete') {
    if (before === undefined) return 'already';
    fs.unlinkSync(step.path);
    return 'done';
  }
  if (before === result.text) return 'already';
  await writeFileDurably(step.path, result.text, { like: fs.lstatSync(step.path, { throwIfNoEntry: false }) });
  return 'done';
}

const rebuildIndex: StepExecutor<'rebuildIndex'> = {
  repeatable: true,
  async run(steps) {
    for (const { step, context, report } of steps) {
      try {
        const status = await rebuild(step);
        context.touch(path.dirname(step.path));
        report({ status });
      } catch (error) {
        report(outcomeOfError(error));
      }
    }
  },
};

export interface ExecutorOptions {
  git: Pick<Git, 'command' | 'env'>;
  /** For the grace in which processes end. */
  clock: MonotonicClock;
  callerPid: number;
}

/** Every kind of step and who does it: what any changing command needs, since it may have to finish another one's plan first. */
export function executorsFor(options: ExecutorOptions): Executors {
  return { ...fileExecutors, rebuildIndex, gitCommit: commitExecutor(options.git), endSession: endSessionExecutor({ clock: options.clock, callerPid: options.callerPid }) };
}
