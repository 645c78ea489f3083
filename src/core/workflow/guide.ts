/** What an author of workflows has to know about sessions, the return stack and directories; Markdown. */
export const GUIDE = `# Writing workflows that do not outgrow their context

A workflow is a folder of states: \`.md\` files are prompts for a model, \`.sh\` files are scripts. What a state answers, or prints, says in one
tag where the agent goes next. Each tag is a choice of what is carried along.

| tag | session of the next state | return stack | directory |
|---|---|---|---|
| \`<goto>S</goto>\` | goes on | stays | stays |
| \`<reset>S</reset>\` | **fresh** | **stays** | stays, or \`cd\` |
| \`<call return="R">S</call>\` | a fork of the caller's | one frame more | stays |
| \`<function return="R">S</function>\` | fresh | one frame more | stays |
| \`<result>text</result>\` | the caller's, as it was at the call | one frame less | the caller's |
| \`<fork next="N">S</fork>\` | goes on at N; the worker's is fresh | stays; the worker's is empty | stays; the worker has \`cd\`, or where the runner is |
| \`<ask next="N">text</ask>\` | goes on, with the answer as input | stays | stays |
| \`<call-workflow return="R">W</call-workflow>\` | a fork of the caller's | one frame more | stays |
| \`<function-workflow return="R">W</function-workflow>\` | fresh | one frame more | stays, or \`cd\` |
| \`<fork-workflow next="N">W</fork-workflow>\` | goes on at N; the worker's is fresh | stays; the worker's is empty | stays; the worker's is \`cd\`, or the same |
| \`<reset-workflow>W</reset-workflow>\` | fresh | **emptied** | stays, or \`cd\` |

\`input="text"\` is what the next state finds as \`{{input}}\`, scripts as \`$RAYMOND_INPUT\`. It lasts for that one state: pass it on where it is needed again.

## Reset is goto with a fresh session

Only the conversation is left behind. Where the agent returns to, its workflow and its directory stay. So a loop inside a call can start each round
with an empty context and still return:

    CALLER   <call return="AFTER">LOOP</call>
    LOOP     one round; not done: <reset>LOOP</reset>      done: <result>outcome</result>

A loop by \`<goto>\` keeps every round in the context until it is full. Phases are the same: write what matters to a file, \`<reset>\` to the next phase,
read the file there. A script that waits and resets to itself costs no tokens.

## Returning early

There is no tag that leaves a whole chain of calls. Each return state sees what came back and gives its own \`<result>\`: the chain unwinds one result at
a time. Work that may have to be dropped goes into a \`<fork-workflow>\` of its own, which nobody waits for.

The one exception is \`<reset-workflow>\`: it drops every frame, and no caller is ever returned to. Use it where a workflow is to become another one, not
inside a call.

## Directories

A conversation is found only from the directory it began in. That is why \`goto\`, \`call\` and \`function\` take no \`cd\`, and \`reset\` does. On the return the caller
is back in its own directory. Under raymond it is so only where the caller had chosen one itself; \`loopkeeper workflow lint\` points at the places
where that matters.

## Checking

    loopkeeper workflow lint DIR        what will fail, what grows, what never returns
    loopkeeper workflow diagram DIR     a picture for Mermaid
    loopkeeper workflow show RUN        where a run is, and what it will return to
    loopkeeper workflow reset RUN --to STATE    the same reset, by hand, for a run that is stopped
`;
