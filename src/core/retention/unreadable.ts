import { Failure } from '../disk/failure';
import type { Skip } from './decision';

const sentences: Record<Skip, (field: string) => string> = {
  'invalid-json': () => 'The file is not valid JSON.',
  'duplicate-key': () => 'The file holds a key twice in one object.',
  'not-an-object': (field) => `The file has no object ${JSON.stringify(field)} at its top level.`,
  'nothing-recorded': () => 'There was nothing to record.',
};

/** Why a file could not be understood, as one sentence. */
export function skipSentence(skip: Skip, field: 'targets' | 'runs'): string {
  return sentences[skip](field);
}

/** The failure of a write into a file that cannot be understood: it is never silently replaced (R10). */
export function notUnderstood(skip: Skip, field: 'targets' | 'runs'): Failure {
  return new Failure(skip, skipSentence(skip, field), 'The file was left as it is. Repair it, or take an older version from git.');
}
