import type { Sample } from './sample.mjs';
export function addOtherLoops(home: string, sample: Sample): void;
