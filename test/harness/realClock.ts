import { setTimeout as sleep } from 'node:timers/promises';
import type { MonotonicClock } from '../../src/core/harness/close';

export const realClock: MonotonicClock = {
  milliseconds: () => performance.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
};
