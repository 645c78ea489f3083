/** The guide for people: clearing against compacting, checkpoints, the mechanics per harness (R1.1, R1.2, R4.3, R5.2). */
export const guideText = `# The context window of an agent: when to clear it, when to compact it

A long conversation fills up with what no longer matters: finished tasks, dead ends, errors that were resolved, files that were read once. It
crowds out the work at hand long before the window is full. Two tools help, and they are not the same.

| | Clear | Compact |
|---|---|---|
| What it does | Starts an empty window | Replaces the conversation by a summary, in place |
| What survives | Only what is on disk | The summary, and what is on disk |
| How it fails | Intent that was never written down is gone | Details are dropped without a word; each further summary loses more |
| Where it applies | Between units of work: at the end of a phase, between tasks | Inside a unit of work: after a task in a long list, in mid-task near the limit |
| Never | In the middle of a task | In place of a checkpoint |

## One rule: a checkpoint first

Nothing is cleared or compacted without a checkpoint on disk. It has four parts:

1. checkmarks: the finished task is ticked in tasks.md, and so is what it depends on;
2. log: a new entry in execution-log.md that says what was done and names a concrete next step;
3. phase: front matter, entry and graph state name the same phase;
4. work: everything is committed, or the entry says what is not.

\`loopkeeper context checkpoint --work-item REF\` looks whether they are there, and with \`--did … --next …\` writes what is missing. A fresh window
begins with \`loopkeeper context reentry --work-item REF\`: the next step first, then only the files that step needs. Where a summary and the log
differ, the log is right.

## Where what applies

| Boundary | Setting | Default | Why |
|---|---|---|---|
| A phase ends, most of all tasks-breakdown → implementation | \`phaseBoundary\` | clear | The approved files are the contract; the talk that led to them only distracts |
| A task is done | \`taskBoundary\` | compact | Conventions found on the way are worth keeping, finished output is not |
| In mid-task, near the limit | \`midTask\` | compact | Clearing here does not exist: it would lose what is half done |

\`enabled: false\` leaves the window wholly to the harness. \`off\` switches one boundary off. The harness's automatic compaction stays as a safety
net; it is not the plan, since it strikes at an arbitrary moment and without a checkpoint.

A compaction that can be steered is told what to keep (design constraints, conventions that were found) and what to drop (resolved errors,
superseded attempts, the output of finished tasks).

## Keep noise out in the first place

Wide exploration, log digging and long test output belong in a sub-agent or a session of their own. It returns its conclusion, not its
transcript: a path and a line, a cause, a verdict. What never enters the window need not be cleared from it.

## Mechanics

| Harness | Clear | Compact | Isolate |
|---|---|---|---|
| Claude Code, at a terminal | \`/clear\` | \`/compact <what to keep, what to drop>\` | sub-agents (Task) |
| Claude Code, headless | end the session at the boundary; a new session id starts from the re-entry text | \`claude -p "/compact …" --resume ID\` | one session per task |
| Cursor | a new chat; \`@Past Chats\` brings back what is needed | built-in summarization (\`/summarize\`, in its CLI \`/compress\`) | a chat of its own, with only the files it needs |
| pi | \`/new\` | \`/compact <what to keep>\` | a session of its own |
| Headless, started by a program | checkpoint, then end the session at the boundary; the next one starts fresh | the harness's automatic one only | one session per unit of work |

A daemon that restarts an ended session with the same conversation id brings the old window back. Let it start a new one.

## What the vendors say

- Anthropic advises to clear the window between tasks that have nothing to do with each other, to compact with instructions at natural breaks
  within one, and to give research to sub-agents so that it does not fill the main conversation.
  https://code.claude.com/docs/en/best-practices
- Cursor advises to begin a new conversation for another task, after a finished unit of work, or when the agent loses its focus, and to refer to
  earlier chats with @Past Chats. https://cursor.com/blog/agent-best-practices
- Cursor summarizes long conversations by itself. https://cursor.com/docs/agent/chat/summarization

## Commands

    loopkeeper context show        which value holds where, and from which file and line
    loopkeeper context set         change one value; nothing else in the file moves
    loopkeeper context usage       tokens in the window of each Claude Code session here
    loopkeeper context checkpoint  look at the four parts, or write what is missing
    loopkeeper context reentry     what a fresh window needs
    loopkeeper context guide --agent   this protocol for CLAUDE.md or AGENTS.md
`;

/** The protocol for an agent's own instructions (CLAUDE.md, AGENTS.md). */
export const agentGuideText = `## Context window protocol

You work in a loop whose state is on disk: docs/specs/<id>/tasks.md, execution-log.md and the other spec files. Treat the conversation as
scratch paper.

1. Before your window is cleared or compacted, write a checkpoint. Run:
   \`loopkeeper context checkpoint --work-item REF --task ID --tick ID --did "…" --tests "command: result" --next "…" --commit\`
   Use \`--note-wip\` in place of \`--commit\` when the work must not be committed yet. Exit code 0 means that all parts are there; anything else
   names what is missing. Do not go on without it.
2. The next step must be concrete: a file, a function, a command. "Continue" is none.
3. Ask \`loopkeeper context show --work-item REF\` what applies. At the end of a phase: \`phaseBoundary\`. After a task: \`taskBoundary\`. In the
   middle of a task only compaction, and only after a checkpoint; never clear there. With \`enabled: false\` do nothing of this by yourself.
4. When you compact, say what to keep (design constraints, conventions you found) and what to drop (resolved errors, superseded attempts,
   output of finished tasks).
5. In a fresh window run \`loopkeeper context reentry --work-item REF\` first. Do the next step it names. Open only the files it lists.
6. Where a summary of yours and the execution log differ, the log is right.
7. Give wide searches, log reading and long test output to a sub-agent, and take back its conclusion only.
8. Headless, or started by a program: at a boundary write the checkpoint and end the session; the next one starts fresh.
`;

/** The last line of help and refusals of the context verbs. */
export const seeGuide = 'See: loopkeeper context guide';
