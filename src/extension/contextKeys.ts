/** Every context key that package.json may use and the code sets; a unit test compares the two. */
export const contextKeys = {
  /** The program answered and state was found. */
  ready: 'loopkeeper.ready',
  /** The list of work items has come once: that there is none is known, not supposed. */
  listed: 'loopkeeper.listed',
  /** Why there is nothing to show: a `Reason`, or empty. Chooses the welcome content. */
  reason: 'loopkeeper.reason',
  /** There are retest sessions, workflow runs: their views are shown. */
  hasRetests: 'loopkeeper.hasRetests',
  hasRuns: 'loopkeeper.hasRuns',
  /** A folder of the window has loop state: its view is shown. */
  hasLoopState: 'loopkeeper.hasLoopState',
  /** Addresses of the open dry runs that can still be applied. */
  applicablePlans: 'loopkeeper.applicablePlans',
} as const;

/** Why nothing is shown. `elsewhere`: a loop works here, but its state is not here. */
export type Reason = 'noFolder' | 'restricted' | 'nothing' | 'elsewhere' | 'programFailed';
