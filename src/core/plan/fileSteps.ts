import fs from 'node:fs';
import path from 'node:path';
import { appendOnce } from '../disk/append';
import { copyFileDurably, flushAndClose, keepCopy, makeDirectories, moveFile, openTemporary } from '../disk/durable';
import { codeOf, Failure } from '../disk/failure';
import { sha256 } from '../disk/hash';
import { assertInside, diskReader, unsafePath } from '../disk/reader';
import { moveTree } from '../disk/tree';
import type { Executors, StepContext } from './executor';
import { failed } from './executor';
import type { StepOutcome } from './journal';
import { ABSENT, type DeleteFileStep, type FileState, type WriteFileStep } from './plan';
import { planTrash } from './store';

/** The state a file is in now. Failures: `unsafe-path`, `io`. */
export function fileState(file: string): FileState {
  const bytes = diskReader.bytes(file);
  return bytes === undefined ? ABSENT : sha256(bytes);
}

/** Where a step keeps what was at its path. The position tells steps apart; of the name only so much is kept as fits in any file name. */
export function trashPath(context: Pick<StepContext, 'store' | 'planId' | 'index'>, file: string): string {
  return path.join(planTrash(context.store, context.planId), `${String(context.index)}-${path.basename(file).slice(-60)}`);
}

function prepareTrash(context: StepContext): string {
  const directory = planTrash(context.store, context.planId);
  const stat = fs.lstatSync(directory, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) throw unsafePath(directory, 'no folder');
  assertInside(context.store.root, path.join(directory, 'x'));
  for (const made of makeDirectories(directory)) context.touch(made);
  return directory;
}

const changed = (file: string): Failure =>
  new Failure('changed', `${file} was changed by another program meanwhile and was left alone.`, 'Run the command again.');

/** Turns what a step throws into its outcome: a Failure keeps its kind, the file system's errors are `io`. */
export function outcomeOf(action: () => 'done' | 'already'): StepOutcome {
  try {
    return { status: action() };
  } catch (error) {
    return outcomeOfError(error);
  }
}

export function outcomeOfError(error: unknown): StepOutcome {
  if (error instanceof Failure) return failed(error.kind, error.message);
  const code = codeOf(error);
  if (code === 'ELOOP' || code === 'EISDIR' || code === 'ENOTDIR') return failed('unsafe-path', `A path is not the plain file or folder it should be: ${String(error)}`);
  if (code !== undefined) return failed('io', error instanceof Error ? error.message : code);
  throw error;
}

function deleteFile(step: DeleteFileStep, context: StepContext): 'done' | 'already' {
  assertInside(step.root, step.path);
  const now = fileState(step.path);
  if (now === ABSENT) return 'already';
  if (now !== step.before) throw changed(step.path);
  // Also without trash the file goes there first: renaming is the one way to take it that is whole or not at all. The plan's trash is then erased.
  prepareTrash(context);
  moveFile(step.path, trashPath(context, step.path));
  context.touch(path.dirname(step.path));
  context.touch(planTrash(context.store, context.planId));
  if (fileState(step.path) !== ABSENT) throw new Failure('io', `${step.path} is still there.`, 'Look at the folder it is in.');
  return 'done';
}

const temporaryOf = (step: WriteFileStep, context: StepContext): string => path.join(path.dirname(step.path), `.lk-${context.planId}-${String(context.index)}.tmp`);

/** Opens the new bytes beside the file, ready to be renamed over it; undefined when the file already has them. */
function prepareWrite(step: WriteFileStep, context: StepContext): number | undefined {
  assertInside(step.root, step.path);
  const now = fileState(step.path);
  if (now === step.after) {
    fs.rmSync(temporaryOf(step, context), { force: true }); // a crash came between the rename and here
    return undefined;
  }
  if (now !== step.before) throw changed(step.path);
  for (const made of makeDirectories(path.dirname(step.path))) context.touch(made);
  const bytes = 'text' in step.content ? Buffer.from(step.content.text) : fs.readFileSync(step.content.from);
  if (sha256(bytes) !== step.after) throw changed('text' in step.content ? step.path : step.content.from);
  const source = 'from' in step.content ? step.content.from : step.path;
  return openTemporary(temporaryOf(step, context), bytes, fs.lstatSync(source, { throwIfNoEntry: false }), step.mode ?? 0o600);
}

function commitWrite(step: WriteFileStep, context: StepContext): void {
  const temporary = temporaryOf(step, context);
  const now = fileState(step.path);
  if (now !== step.before) throw changed(step.path);
  if (now === ABSENT) {
    // A link cannot replace a file that came up meanwhile, a rename would.
    try { fs.linkSync(temporary, step.path); } catch (error) {
      if (codeOf(error) === 'EEXIST') throw changed(step.path);
      if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(codeOf(error) ?? '')) throw error;
      copyFileDurably(temporary, step.path);
    }
    fs.unlinkSync(temporary);
  } else {
    prepareTrash(context);
    keepCopy(step.path, trashPath(context, step.path));
    context.touch(planTrash(context.store, context.planId));
    fs.renameSync(temporary, step.path);
  }
  context.touch(path.dirname(step.path));
  if (fileState(step.path) !== step.after) throw new Failure('io', `${step.path} does not hold what was written.`, 'Check the disk.');
}

/** Files are opened and flushed together in portions of this many: the disk flushes many at once, but open files are limited. */
const PORTION = 128;

/** Executors of the steps that are only files. */
export const fileExecutors: Executors = {
  deleteFile: {
    repeatable: true,
    run(steps) {
      for (const { step, context, report } of steps) report(outcomeOf(() => deleteFile(step, context)));
      return Promise.resolve();
    },
  },
  writeFile: {
    repeatable: true,
    async run(steps) {
      for (let start = 0; start < steps.length; start += PORTION) {
        const ready: { entry: (typeof steps)[number]; fd: number }[] = [];
        for (const entry of steps.slice(start, start + PORTION)) {
          try {
            const fd = prepareWrite(entry.step, entry.context);
            if (fd === undefined) entry.report({ status: 'already' }); else ready.push({ entry, fd });
          } catch (error) {
            fs.rmSync(temporaryOf(entry.step, entry.context), { force: true });
            entry.report(outcomeOfError(error));
          }
        }
        const flushed = await flushAndClose(ready.map(({ fd }) => fd));
        ready.forEach(({ entry: { step, context, report } }, position) => {
          const outcome = outcomeOf(() => {
            const result = flushed[position];
            if (result?.status === 'rejected') throw result.reason;
            commitWrite(step, context);
            return 'done';
          });
          if (outcome.status === 'failed') fs.rmSync(temporaryOf(step, context), { force: true });
          report(outcome);
        });
      }
    },
  },
  appendBytes: {
    repeatable: true,
    run(steps) {
      for (const { step, report } of steps) {
        report(outcomeOf(() => {
          assertInside(step.root, step.path);
          return appendOnce({ file: step.path, offset: step.offset, bytes: Buffer.from(step.text), exclusive: step.exclusive });
        }));
      }
      return Promise.resolve();
    },
  },
  moveCheckout: {
    repeatable: true,
    run(steps) {
      for (const { step, report } of steps) {
        report(outcomeOf(() => {
          let result: 'done' | 'already' = 'already';
          for (const move of step.moves) {
            assertInside(move.root, move.from);
            assertInside(move.toRoot, move.to);
            if (moveTree(move.from, move.to, move.identity) === 'done') result = 'done';
          }
          return result;
        }));
      }
      return Promise.resolve();
    },
  },
};
