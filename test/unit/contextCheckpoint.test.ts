import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { readArtifacts, specFolder, specIdOf } from '../../src/core/context/artifacts';
import type { Artifacts } from '../../src/core/context/artifacts';
import { isComplete, verifyCheckpoint } from '../../src/core/context/checkpoint';
import type { Part, VerifyInput } from '../../src/core/context/checkpoint';
import { checkRequest } from '../../src/core/context/checkpointPlan';
import type { CheckpointRequest } from '../../src/core/context/checkpointPlan';
import { latestEntry, parseLog, saysSomething } from '../../src/core/context/executionLog';
import { newLogText } from '../../src/core/context/logTemplate';
import { namedPhase, parseGraphState, phaseAhead } from '../../src/core/context/phases';
import { reentryOf } from '../../src/core/context/reentry';
import { notedWork, workNote } from '../../src/core/context/workNote';
import { Failure } from '../../src/core/disk/failure';
import { parseRef } from '../../src/core/workItems/ref';
import { memoryReader } from '../support/memoryReader';

const specs = path.join(__dirname, '../support/specs');
const now = '2026-11-30T20:00:00Z';
const clean = { repository: '/repo', changed: [] as string[], untracked: [] as string[], conflicted: [], nested: [], branch: 'main', busy: null };

/** The spec files of a real work item, in a disk in memory. */
function realItem(id: string, change: (name: string, text: string) => string | undefined = (_name, text) => text): Artifacts {
  const files: Record<string, string> = {};
  for (const name of fs.readdirSync(path.join(specs, id))) {
    const file = path.join(specs, id, name);
    const text = fs.statSync(file).isFile() ? change(name, fs.readFileSync(file, 'utf8')) : undefined;
    if (text !== undefined) files[`/repo/docs/specs/${id}/${name}`] = text;
  }
  return readArtifacts(memoryReader(files), { checkout: '/repo', id, directory: `/repo/docs/specs/${id}` });
}

function parts(artifacts: Artifacts, more: Partial<VerifyInput> = {}): Record<Part['part'], Part> {
  const { parts: list } = verifyCheckpoint({ artifacts, work: clean, tasks: [], labelPrefix: 'loop:', now, ...more });
  return Object.fromEntries(list.map((part) => [part.part, part])) as Record<Part['part'], Part>;
}

function item(log: string, tasks?: string): Artifacts {
  return readArtifacts(memoryReader({ '/repo/s/execution-log.md': log, ...(tasks === undefined ? {} : { '/repo/s/tasks.md': tasks }) }), { checkout: '/repo', id: 's', directory: '/repo/s' });
}

const log = (entry: string, phase = 'implementation') => `---\nphase: ${phase}\n---\n\n## Progress entries\n\n${entry}`;
const full = (more = '', phase = 'implementation') => `### 2026-08-04 — x\n\n- **Phase:** ${phase}\n- **Did:** wrote it\n- **Next:** task 5\n${more}`;

describe('the checkpoint of the real spec folders', () => {
  it('issue-239: complete, with the line of each part; the entry below the wrong heading is the latest', () => {
    const found = parts(realItem('issue-239'), { tasks: ['16'] });
    assert.deepEqual([found.checkmarks.verdict, found.checkmarks.line], ['ok', 208]);
    assert.deepEqual([found.log.verdict, found.log.line, found.log.evidence], ['ok', 343, 'next: the security review — risk tier 4, so a named human sign-off.']);
    assert.deepEqual([found.phase.verdict, found.phase.line], ['ok', 4]);
    assert.match(found.phase.evidence, /needs-review in front matter \(line 4\), graph-state\.json, entry \(line 324\); label: not checked/);
    assert.equal(found.work.verdict, 'ok');
  });

  it('issue-137: all ticked, the entry names a next step, but its phase is not that of the front matter', () => {
    const found = parts(realItem('issue-137'), { tasks: ['12'] });
    assert.deepEqual([found.checkmarks.verdict, found.checkmarks.line], ['ok', 97]);
    assert.deepEqual([found.log.verdict, found.log.line], ['ok', 84]);
    assert.deepEqual([found.phase.verdict, found.phase.line, found.phase.evidence], ['missing', 70, 'front matter says needs-review, the latest entry says implementation (line 70)']);
  });

  it('issue-239 with its last entry cut short, a task opened again, a graph that moved on: each is named with its line', () => {
    const cut = (name: string, text: string) => name === 'execution-log.md' ? text.replace('- **Next:** the security review — risk tier 4, so a named human sign-off.\n', '')
      : name === 'tasks.md' ? text.replace('- [x] 13. ', '- [ ] 13. ') : name === 'graph-state.json' ? text.replace('"currentNode": "security-review"', '"currentNode": "complete"') : text;
    const found = parts(realItem('issue-239', cut), { tasks: ['16'] });
    assert.deepEqual([found.checkmarks.verdict, found.checkmarks.evidence, found.checkmarks.line], ['missing', 'task 16 depends on 13, which is not ticked', 171]);
    // Without its next step that entry no longer stands for the whole log: the one before it does.
    assert.deepEqual([found.log.verdict, found.log.line], ['ok', 298]);
    assert.deepEqual([found.phase.verdict, found.phase.evidence], ['missing', 'front matter says needs-review, graph-state.json says complete (at complete)']);
  });

  it('reads the phase of the real graph states, inner loops and unusable files included', () => {
    const graph = (file: string) => parseGraphState(fs.readFileSync(path.join(specs, file), 'utf8'));
    assert.deepEqual(graph('issue-239/graph-state.json'), { currentNode: 'security-review', loop: 'pdlc-work-item-loop', phase: 'needs-review' });
    assert.equal(graph('issue-238/graph-state.json')?.loop, 'pdlc-work-item-loop');
    assert.deepEqual(graph('issue-239/pr-loops/pr-244/graph-state.json'), { currentNode: 'verification', loop: 'pdlc-pr-loop', phase: 'verification' });
    for (const text of ['{', '[]', '{"currentNode":"nowhere"}', '{"currentNode":"design","loop":"mine"}', 'null']) assert.equal(parseGraphState(text), undefined);
  });
});

describe('the four parts', () => {
  it('R2.1: checkmarks, a log entry with a concrete next step, the phase in sync, work committed or noted: each can be missing alone', () => {
    const good = item(log(full()), '## Tasks\n\n- [x] 1. a\n- [x] 2. b\n  - _Depends on:_ 1\n');
    assert.ok(isComplete(Object.values(parts(good, { tasks: ['2'] })), []));
    const verdicts = (artifacts: Artifacts, more: Partial<VerifyInput> = {}) => Object.values(parts(artifacts, more)).map((part) => part.verdict);
    assert.deepEqual(verdicts(item(log(full()), '## Tasks\n\n- [ ] 1. a\n- [x] 2. b\n  - _Depends on:_ 1\n')), ['missing', 'ok', 'ok', 'ok']);
    assert.deepEqual(verdicts(item(log('### 2026-08-04 — x\n\n- **Phase:** implementation\n- **Did:** wrote it\n- **Next:** what is next\n'), '## Tasks\n\n- [x] 1. a\n')), ['ok', 'missing', 'ok', 'ok']);
    assert.deepEqual(verdicts(item(log(full('', 'design')), '## Tasks\n\n- [x] 1. a\n')), ['ok', 'ok', 'missing', 'ok']);
    assert.deepEqual(verdicts(item(log(full()), '## Tasks\n\n- [x] 1. a\n'), { work: { ...clean, changed: ['src/a.ts'] } }), ['ok', 'ok', 'ok', 'missing']);
  });

  it('an unknown part refuses nothing but must be accepted', () => {
    const found = Object.values(parts(item(log(full())), { work: { unknown: 'git cannot be run' } }));
    assert.deepEqual(found.map((part) => part.verdict), ['unknown', 'ok', 'ok', 'unknown']);
    assert.equal(isComplete(found, []), false);
    assert.equal(isComplete(found, ['checkmarks']), false);
    assert.equal(isComplete(found, ['checkmarks', 'work']), true);
    assert.equal(isComplete(Object.values(parts(item(log(full('', 'design'))), { work: { unknown: 'x' } })), ['checkmarks', 'phase', 'work']), false, 'missing cannot be accepted');
  });

  it('checkmarks: early phases need no tasks.md; a task that is not there, stands twice or is marked otherwise is told apart', () => {
    assert.equal(parts(item(log(full('', 'design'), 'design'))).checkmarks.verdict, 'ok');
    const tasks = '## Tasks\n\n- [x] 1. a\n- [~] 2. b\n- [x] 3. c\n  - _Depends on:_ 2\n- [x] 4. d\n  - _Depends on:_ the weather\n- [x] 5. e\n  - [ ] a part\n- [x] 1. again\n';
    const check = (task: string) => { const { verdict, line } = parts(item(log(full()), tasks), { tasks: [task] }).checkmarks; return [verdict, line]; };
    assert.deepEqual(check('9'), ['missing', null]);
    assert.deepEqual(check('1'), ['unknown', 3]);
    assert.deepEqual(check('2'), ['missing', 4]);
    assert.deepEqual(check('3'), ['unknown', 4]);
    assert.deepEqual(check('4'), ['unknown', 8]);
    assert.deepEqual(check('5'), ['missing', 10]);
    assert.equal(parts(item(log(full()), '# Tasks\n\nnone\n')).checkmarks.verdict, 'unknown');
    assert.equal(parts(item(log(full()), '## Tasks\n\n```\n- [x] 1. a\n')).checkmarks.verdict, 'unknown');
  });

  it('log: an entry that the last clear or compact used is spent; an open code fence makes it unknown, not missing', () => {
    const entry = latestEntry(parseLog(log(full())), now);
    assert.deepEqual([parts(item(log(full())), { spent: entry?.hash ?? '' }).log.verdict], ['missing']);
    assert.equal(parts(item(`${log('')}\n\`\`\`\n${full()}`)).log.verdict, 'unknown');
    assert.equal(parts(item(log(''))).log.verdict, 'missing');
    assert.equal(parts(item(log(full().replace(/\n/g, '\r\n')))).log.verdict, 'ok');
  });

  it('phase: an entry may name a node; the label counts when it is supplied; a phase of the repository\'s own counts as it is written', () => {
    const phase = (front: string, said: string, more: Partial<VerifyInput> = {}) => parts(item(log(full('', said), front)), more).phase;
    assert.equal(phase('test-planning', 'design-approval').verdict, 'ok');
    assert.equal(phase('design', 'design-approval').verdict, 'unknown');
    assert.equal(phase('implementation', 'design-approval').verdict, 'missing');
    assert.equal(phase('verification', 'implementation → verification').verdict, 'ok');
    assert.equal(phase('needs-review', '`self-review` (round 2)').verdict, 'ok');
    assert.equal(phase('soaking', 'soaking').verdict, 'ok');
    assert.equal(phase('implementation', 'somewhere else').verdict, 'unknown');
    assert.equal(phase('implementation', '').verdict, 'unknown');
    assert.match(phase('design', 'design').evidence, /label: not checked/);
    assert.equal(phase('design', 'design', { label: 'loop:design' }).verdict, 'ok');
    assert.deepEqual([phase('design', 'design', { label: 'loop:implementation' }).verdict, phase('design', 'design', { label: 'loop:implementation' }).line], ['missing', 2]);
  });

  it('work: graph-state.lock does not reach it, and a note counts only for what it names', () => {
    const note = (text: string, dirty: string[]) => parts(item(log(full(text))), { work: { ...clean, changed: dirty } }).work.verdict;
    assert.equal(note('- **Work in progress:** not committed: `src/a.ts`\n', ['src/a.ts']), 'ok');
    assert.equal(note('- **Work in progress:** not committed: `src/a.ts`\n', ['src/a.ts', 'src/b.ts']), 'missing');
    assert.equal(note('- **Work in progress:** not committed: `src/`\n', ['src/a.ts', 'src/b.ts']), 'ok');
    assert.equal(note('- **Noted:** the parser is WIP, not committed yet\n', ['src/a.ts']), 'ok');
    assert.equal(note('- **Noted:** nothing is uncommitted\n', ['src/a.ts']), 'missing');
    assert.equal(note('- **WIP:** none\n', ['src/a.ts']), 'missing');
    assert.equal(note('', ['src/a.ts']), 'missing');
  });

  it('a note of many files names their folders, and covers every one of them', () => {
    const dirty = Array.from({ length: 5000 }, (_, index) => `src/d${String(index % 30)}/e${String(index % 7)}/f${String(index)}.ts`);
    const text = workNote(dirty);
    assert.ok(text.length < 4000);
    const entry = latestEntry(parseLog(log(full(`- **Work in progress:** ${text}\n`))), now);
    assert.ok(entry);
    assert.deepEqual(notedWork(entry, dirty)?.unnoted, []);
    assert.deepEqual(notedWork(entry, ['other/x.ts'])?.unnoted, ['other/x.ts']);
  });

  it('says of placeholders that they say nothing, of plain words that they do', () => {
    for (const empty of ['', '…', 'TBD', 'what is next', 'What is next.', '**what was done**', '<next step>', '<!-- what -->', '- …', 'none', 'n/a', 'continue', '?']) assert.equal(saysSomething(empty), false, empty);
    for (const said of ['design.', 'task 5', 'wait for @octocat at `design-approval`', 'none of the tests pass: fix T3', 'implementation', '实现第五步']) assert.equal(saysSomething(said), true, said);
  });

  it('refuses to write an entry that would verify as missing', () => {
    const request = (more: Partial<CheckpointRequest>): CheckpointRequest => ({ tick: [], commit: false, includeUntracked: false, noteWork: false, ...more });
    const refused = (more: Partial<CheckpointRequest>) => { assert.throws(() => { checkRequest(request(more)); }, (error: unknown) => error instanceof Failure && error.kind === 'usage' && error.exitCode === 2, JSON.stringify(more)); };
    refused({ did: 'x y' });
    refused({ next: 'x y' });
    refused({ did: 'wrote it', next: 'TBD' });
    refused({ did: 'what was done', next: 'task 5' });
    refused({ tests: 'ok' });
    refused({ noteWork: true });
    refused({ did: 'wrote it', next: 'task 5', commit: true, noteWork: true });
    refused({ includeUntracked: true });
    checkRequest(request({ did: 'wrote it', next: 'task 5', commit: true, includeUntracked: true }));
  });
});

describe('what a fresh window needs', () => {
  it('R2.2: the next step first, then only the files the next unit of work needs', () => {
    const tasks = fs.readFileSync(path.join(specs, 'issue-239/tasks.md'), 'utf8').replace(/- \[x\] (2|3|4|5|6|7)\. /g, '- [ ] $1. ');
    const cut = (name: string, text: string) => name === 'tasks.md' ? tasks
      : name === 'execution-log.md' ? text.replace('phase: needs-review', 'phase: implementation').slice(0, text.indexOf('### 2026-08-16 18:05 UTC')) : text;
    const reentry = reentryOf(realItem('issue-239', cut), 'github:o/r#239', now);
    assert.ok(reentry);
    assert.match(reentry.text, /^Next: task 2 — the log tailer and the cursor/);
    assert.equal(reentry.task, '2');
    assert.deepEqual(reentry.files.map((file) => path.basename(file.file)), ['tasks.md', 'design.md', 'requirements.md', 'testing-plan.md']);
    assert.deepEqual([reentry.files[0]?.from, reentry.files[0]?.to], [43, 56]);
    const lines = fs.readFileSync(path.join(specs, 'issue-239/requirements.md'), 'utf8').split('\n');
    assert.match(lines[(reentry.files[2]?.from ?? 0) - 1] ?? '', /Requirement 1\b/);
    assert.doesNotMatch(reentry.text, /brainstorm|execution-log\.md, lines/);
  });

  it('R2.2: from the phase when no task is named: design reads the requirements, verification the testing plan, a finished item nothing', () => {
    const files = (next: string, phase: string) => reentryOf(realItem('issue-239', (name, text) => name === 'execution-log.md' ? log(full(), phase).replace('task 5', next) : text), 'github:o/r#1', now)?.files.map((file) => path.basename(file.file));
    assert.deepEqual(files('design.', 'requirements-definition'), ['requirements.md', 'design.md']);
    assert.deepEqual(files('the `verification` node — run the plan', 'implementation'), ['testing-plan.md', 'tasks.md']);
    assert.deepEqual(files('tasks breakdown, then implementation', 'design'), ['design.md', 'testing-plan.md', 'tasks.md']);
    assert.deepEqual(files('nothing is left but to tell the user', 'complete'), []);
    assert.equal(files('TBD', 'complete'), undefined);
  });

  it('knows which phase a next step begins with, and which only sounds like one', () => {
    assert.equal(phaseAhead('complete the tests'), undefined);
    assert.equal(phaseAhead('design.'), 'design');
    assert.equal(phaseAhead('Start implementation: task 1'), 'implementation');
    assert.equal(phaseAhead('the security review — risk tier 4'), 'needs-review');
    assert.equal(namedPhase('implementation → verification')?.phase, 'verification');
    assert.equal(namedPhase('n/a'), undefined);
  });
});

describe('a new execution log', () => {
  it('R2.3: states that it is the resume anchor for context resets, and its example is no entry', () => {
    const text = newLogText({ ref: 'github:o/r#1', phase: 'design' });
    assert.match(text, /\*\*resume anchor for context resets\*\*/);
    assert.deepEqual(parseLog(text).entries, []);
    assert.equal(parts(item(text)).log.verdict, 'missing');
  });
});

describe('the spec folder of an item', () => {
  it('is issue-<number> for GitHub, else what the record or a person names; a name that leads elsewhere is refused', () => {
    const ref = parseRef('github:o/r#15');
    assert.equal(specIdOf(ref, {}), 'issue-15');
    assert.equal(specIdOf(ref, { recorded: 'draft-x' }), 'draft-x');
    assert.equal(specIdOf(ref, { recorded: 'draft-x', typed: 'PROJ-42' }), 'PROJ-42');
    assert.throws(() => specIdOf(parseRef('jira:o/r#15'), {}), (error: unknown) => error instanceof Failure && error.kind === 'no-spec-folder');
    for (const name of ['..', '../x', 'a/b', '', '.git']) assert.throws(() => specIdOf(ref, { recorded: name }), (error: unknown) => error instanceof Failure && error.kind === 'unsafe-path');
    assert.equal(specFolder(undefined, '/repo', 'issue-15').directory, '/repo/docs/specs/issue-15');
  });
});
