/** What a new execution log begins with. */
export interface NewLog { ref: string; phase: string; title?: string }

/**
 * A new execution-log.md. It says of itself that it is the resume anchor for context resets (R2.3). The sections carry the-loop's names,
 * so that its own readers find them; the example of an entry is a comment and counts as none.
 */
export function newLogText({ ref, phase, title }: NewLog): string {
  return `---
type: execution-log
workItem: ${JSON.stringify(ref)}
phase: ${phase}
status: in-progress
---

# Execution log: ${title ?? ref}

> What happened on this work item, oldest first; nothing here is rewritten. This log is also the **resume anchor for context resets**: before
> an agent's window is cleared or compacted, an entry is added below that says what was done and names the next step. A fresh window starts at
> the latest entry's **Next** and then opens only the spec files that step needs. Where this log and a summary differ, this log is right.

## Phase transitions

| Phase | Entered | Approved by | Notes |
|-------|---------|-------------|-------|

## Pull requests

| Pull request | Tasks | Status |
|--------------|-------|--------|

## Progress entries

<!-- One entry per checkpoint, newest at the end:

### 2026-01-31 14:05 UTC — what happened, in a few words

- **Phase:** the phase the work is in
- **Did:** what was done
- **Checkpoint/tests:** the command that was run, and its result
- **Next:** the next step, so that somebody who knows only the files can take it
- **Work in progress:** what is not committed; left out when everything is
- **Blockers:** none
-->

## Verification results

## Review cycles

## Documentation
`;
}

/** A new hand-over note of a session that belongs to no work item. Its entries have the form of a log's. */
export function newHandoverText(session: string): string {
  return `# Hand-over of session ${session}

> Written before this session's window is cleared or compacted. A fresh window starts at the latest entry's **Next**.

## Progress entries
`;
}
