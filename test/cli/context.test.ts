import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { CheckpointReply, ContextInitReply, ContextSetReply, ContextShowReply, GuideReply, ReentryReply, UsageReply } from '../../src/protocol/context';
import { ErrorReply } from '../../src/protocol/message';
import { REF, answer, context, contextJson, envOf, eventsOf, git, makeRepository, transcript } from '../support/context';
import { makePlace, readTree, runCli, writeFiles, type Place } from '../support/program';
import { portable, session } from '../support/state';

const verbs = ['show', 'set', 'init', 'checkpoint', 'usage', 'reentry', 'guide'];
const item = ['--work-item', REF];
const entry = ['--did', 'The docs say what the stream does', '--tests', 'make check: 5 passed', '--next', 'Run the verification node: start with T1'];

describe('loopkeeper context', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  const at = (name: string) => path.join(place.work, name);
  const read = (name: string) => fs.readFileSync(at(name), 'utf8');
  const log = 'docs/specs/issue-239/execution-log.md';
  const tasks = 'docs/specs/issue-239/tasks.md';
  const tree = () => readTree(place.work, (name) => name === '.git/index' || name.startsWith('.git/logs'));
  const verdicts = (reply: { parts: { part: string; verdict: string }[] }) => Object.fromEntries(reply.parts.map((part) => [part.part, part.verdict]));
  const refused = async (args: string[], kind: string, code = 2): Promise<ErrorReply['error']> => {
    const { code: given, reply } = await contextJson(place, args, ErrorReply);
    assert.deepEqual([given, reply.error.kind], [code, kind], JSON.stringify(reply));
    assert.ok(reply.error.hint.endsWith('See: loopkeeper context guide'), reply.error.hint);
    return reply.error;
  };

  it('R1.1: help and refusals of every verb point to the guide; clear, compact, boundary and hooks are no verbs', async () => {
    await Promise.all(verbs.map(async (verb) => {
      const [help, wrong] = await Promise.all([context(place, [verb, '--help']), context(place, [verb, '--nonsense'])]);
      assert.equal(help.code, 0);
      assert.equal(help.stdout.trimEnd().split('\n').at(-1), 'See: loopkeeper context guide');
      assert.match(help.stdout, /Examples:\n {2}loopkeeper context /);
      assert.equal(wrong.code, 2);
      assert.match(wrong.stderr, /See: loopkeeper context guide\s*$/);
    }));
    await refused(['show', '--work-item', 'nonsense'], 'invalid-ref');
    await refused(['set', 'taskBoundary', 'sometimes'], 'usage');
    await refused(['checkpoint'], 'usage');
    for (const verb of ['clear', 'compact', 'boundary', 'hooks']) assert.equal((await context(place, [verb])).code, 2);
    assert.deepEqual(tree(), {});
  });

  it('R1.1: the guide itself, for people and for agents', async () => {
    const guide = await contextJson(place, ['guide'], GuideReply);
    assert.match(guide.reply.text, /What survives/);
    const agent = await context(place, ['guide', '--agent']);
    assert.match(agent.stdout, /^## Context window protocol/);
    assert.equal(agent.code, 0);
  });

  it('R5.1: show names each value in force with its file and line; without a file the defaults hold silently', async () => {
    makeRepository(place);
    const { code, reply } = await contextJson(place, ['show'], ContextShowReply);
    const lineOf = (key: string) => read('.the-loop/harness-config.yaml').split('\n').findIndex((line, index, lines) => line.startsWith(`  ${key}:`) && index > lines.findIndex((each) => each.startsWith('contextManagement:'))) + 1;
    assert.equal(code, 0);
    assert.deepEqual(reply.values.map(({ key, value, from, line }) => [key, value, from, line]), [
      ['enabled', true, 'file', lineOf('enabled')], ['phaseBoundary', 'clear', 'file', lineOf('phaseBoundary')], ['taskBoundary', 'compact', 'file', lineOf('taskBoundary')], ['midTask', 'compact', 'file', lineOf('midTask')],
    ]);
    assert.deepEqual(reply.applies, { phase: 'clear', task: 'compact', midTask: 'compact' });
    fs.rmSync(at('.the-loop/harness-config.yaml'));
    const bare = await contextJson(place, ['show'], ContextShowReply);
    assert.deepEqual([bare.code, bare.reply.file, bare.reply.known, bare.reply.values.map(({ value, from }) => `${String(value)} ${from}`)], [0, null, true, ['true default', 'clear default', 'compact default', 'compact default']]);
    assert.equal(fs.existsSync(at('.the-loop/loopkeeper')), false, 'looking creates nothing');
  });

  it('R5.1: set changes one line of the sample file, says so, and undo brings back every byte', async () => {
    makeRepository(place);
    const before = read('.the-loop/harness-config.yaml');
    const dry = await contextJson(place, ['set', 'taskBoundary', 'clear', '--dry-run'], ContextSetReply);
    assert.equal(read('.the-loop/harness-config.yaml'), before);
    assert.equal(fs.existsSync(at('.the-loop/loopkeeper')), false);
    const { code, reply } = await contextJson(place, ['set', 'taskBoundary', 'clear', '--expect', dry.reply.digest], ContextSetReply);
    assert.equal(code, 0);
    assert.deepEqual([reply.set.key, reply.set.value, reply.set.was, reply.set.changed, reply.set.created], ['taskBoundary', 'clear', 'compact', true, false]);
    const changed = git(place, 'diff', '--numstat');
    assert.equal(changed, '1\t1\t.the-loop/harness-config.yaml\n');
    assert.equal(read('.the-loop/harness-config.yaml').split('\n')[reply.set.line - 1]?.trim().startsWith('taskBoundary: clear'), true);
    assert.deepEqual(eventsOf(place, 'context.policy_set').map(({ key, value, was, plan }) => ({ key, value, was, plan })), [{ key: 'taskBoundary', value: 'clear', was: 'compact', plan: reply.plan }]);
    const again = await contextJson(place, ['set', 'taskBoundary', 'clear'], ContextSetReply);
    assert.deepEqual([again.code, again.reply.set.changed, again.reply.items[0]?.notices[0]?.kind], [0, false, 'unchanged']);
    assert.equal((await runCli(['undo', reply.plan, '--json'], { cwd: place.work, env: envOf(place) })).code, 0);
    assert.equal(read('.the-loop/harness-config.yaml'), before);
  });

  it('R5.1: set for a work item writes its tasks.md; show counts it in, and only for that item', async () => {
    makeRepository(place);
    const { code, reply } = await contextJson(place, ['set', 'taskBoundary', 'off', ...item], ContextSetReply);
    assert.deepEqual([code, reply.set.file, reply.set.was], [0, at(tasks), 'compact']);
    assert.equal(git(place, 'diff', '--numstat'), `1\t1\t${tasks}\n`);
    const shown = await contextJson(place, ['show', ...item], ContextShowReply);
    assert.deepEqual(shown.reply.values[2], { key: 'taskBoundary', value: 'off', from: 'override', file: at(tasks), line: reply.set.line });
    assert.equal((await contextJson(place, ['show'], ContextShowReply)).reply.values[2]?.value, 'compact');
    assert.equal(eventsOf(place, 'context.policy_set')[0]?.['work_item'], REF);
  });

  it('R5.3: not enabled, nothing applies at any boundary', async () => {
    makeRepository(place);
    await contextJson(place, ['set', 'enabled', 'false'], ContextSetReply);
    const { reply } = await contextJson(place, ['show'], ContextShowReply);
    assert.deepEqual(reply.applies, { phase: 'off', task: 'off', midTask: 'off' });
    assert.match((await context(place, ['show'])).stdout, /It is off: the window is left to the harness\./);
  });

  it('a broken policy is unknown, named by file and line, and set refuses to touch it; a new file only with --create', async () => {
    makeRepository(place);
    const whole = read('.the-loop/harness-config.yaml');
    fs.writeFileSync(at('.the-loop/harness-config.yaml'), whole.replace('  midTask: compact  ', '  midTask: clear  '));
    const line = whole.split('\n').findIndex((each) => each.startsWith('  midTask:')) + 1;
    const shown = await contextJson(place, ['show'], ContextShowReply);
    assert.deepEqual([shown.code, shown.reply.known, shown.reply.applies, shown.reply.problems[0]?.line], [1, false, null, line]);
    // The value that is wrong can be put right.
    assert.equal((await contextJson(place, ['set', 'midTask', 'compact'], ContextSetReply)).code, 0);
    fs.writeFileSync(at('.the-loop/harness-config.yaml'), 'a: [1\nb: 2\n');
    assert.match((await refused(['set', 'midTask', 'off'], 'bad-yaml')).message, /harness-config\.yaml:2: /);
    fs.rmSync(at('.the-loop/harness-config.yaml'));
    assert.match((await refused(['set', 'midTask', 'off'], 'no-policy-file')).hint, /--create/);
    const made = await contextJson(place, ['set', 'midTask', 'off', '--create'], ContextSetReply);
    assert.deepEqual([made.code, made.reply.set.created, made.reply.set.line], [0, true, 7]);
    assert.equal(fs.statSync(at('.the-loop/harness-config.yaml')).mode & 0o777, 0o644);
    await refused(['set', 'midTask', 'clear'], 'usage');
  });

  it('names the live items that keep a value of their own in another checkout', async () => {
    makeRepository(place);
    const other = path.join(place.top, 'other');
    fs.mkdirSync(path.join(other, '.git'), { recursive: true });
    writeFiles(other, { '.the-loop/config.yaml': 'contextManagement: {taskBoundary: "off"}\n' });
    writeFiles(place.work, {
      '.the-loop/local/github-octo-repo-15.json': session('github:octo/repo#15', { status: 'active', cwd: other }),
      '.the-loop/local/github-octo-repo-16.json': session('github:octo/repo#16', { status: 'active', cwd: place.work }), '.the-loop/local/github-octo-repo-17.json': session('github:octo/repo#17', { status: 'closed', cwd: other }),
    });
    const { reply } = await contextJson(place, ['set', 'taskBoundary', 'clear'], ContextSetReply);
    assert.deepEqual(reply.otherCheckouts, [{ ref: 'github:octo/repo#15', folder: other }]);
  });

  it('R2.1: verifies the four parts and exits 1 when one is missing; what git cannot tell is unknown, exits 4, and can be accepted', async () => {
    makeRepository(place);
    const good = await contextJson(place, ['checkpoint', ...item, '--task', '15'], CheckpointReply);
    assert.deepEqual([good.code, good.reply.complete, verdicts(good.reply)], [0, true, { checkmarks: 'ok', log: 'ok', phase: 'ok', work: 'ok' }]);
    assert.equal(read(log).split('\n')[(good.reply.parts[1]?.line ?? 0) - 1], '- **Next:** task 16 — capability docs, user-facing docs, the decision record.');
    const open = await contextJson(place, ['checkpoint', ...item, '--task', '16'], CheckpointReply);
    assert.deepEqual([open.code, verdicts(open.reply).checkmarks, open.reply.parts[0]?.line], [1, 'missing', 208]);
    const without = await contextJson(place, ['checkpoint', ...item, '--no-exec'], CheckpointReply);
    assert.deepEqual([without.code, verdicts(without.reply).work], [4, 'unknown']);
    assert.equal((await contextJson(place, ['checkpoint', ...item, '--no-exec', '--accept-unknown', 'work'], CheckpointReply)).code, 0);
    const label = await contextJson(place, ['checkpoint', ...item, '--label', 'loop:design'], CheckpointReply);
    assert.deepEqual([label.code, verdicts(label.reply).phase], [1, 'missing']);
    assert.equal(fs.existsSync(at('.the-loop/loopkeeper')), false, 'looking creates nothing');
    assert.deepEqual(eventsOf(place, 'context.checkpoint'), []);
  });

  it('R2.1: a checkpoint written by the tool verifies as complete, and written twice it adds nothing', async () => {
    makeRepository(place);
    fs.appendFileSync(at('src/a.ts'), 'export const b = 2;\n');
    const args = ['checkpoint', ...item, '--tick', '16', ...entry, '--commit'];
    const dry = await contextJson(place, [...args, '--dry-run'], CheckpointReply);
    assert.deepEqual([dry.code, dry.reply.complete, verdicts(dry.reply).checkmarks, dry.reply.after?.map((part) => part.verdict)], [0, true, 'missing', ['ok', 'ok', 'ok', 'ok']]);
    assert.deepEqual(dry.reply.writes, { entry: { did: entry[1], next: entry[5] }, ticked: ['16'], committed: [log, tasks, 'src/a.ts'], added: [], noted: [] });
    assert.equal(git(place, 'status', '--porcelain'), ' M src/a.ts\n');
    const { code, reply } = await contextJson(place, [...args, '--expect', dry.reply.plan?.digest ?? ''], CheckpointReply);
    assert.deepEqual([code, reply.complete, verdicts(reply)], [0, true, { checkmarks: 'ok', log: 'ok', phase: 'ok', work: 'ok' }], JSON.stringify(reply.plan));
    assert.deepEqual(git(place, 'show', '--name-only', '--format=%s').trim().split('\n'), ['chore(issue-239): checkpoint', '', log, tasks, 'src/a.ts']);
    assert.equal(git(place, 'status', '--porcelain', '--', 'docs', 'src'), '');
    // The entry stands behind the last one of its section, the tick is one character, nothing else moved.
    assert.equal(git(place, 'diff', '--numstat', 'HEAD~1', '--', tasks), `1\t1\t${tasks}\n`);
    assert.match(git(place, 'diff', '--numstat', 'HEAD~1', '--', log), /^8\t0\t/);
    assert.match(read(log), /\n### 2026-11-30 20:00 UTC — The docs say what the stream does\n\n- \*\*Phase:\*\* implementation\n- \*\*Did:\*\* The docs say what the stream does\n- \*\*Checkpoint\/tests:\*\* make check: 5 passed\n- \*\*Next:\*\* Run the verification node: start with T1\n- \*\*Blockers:\*\* none\n\n## Documentation/);
    assert.deepEqual(eventsOf(place, 'context.checkpoint').map((event) => [event['work_item'], event['entry'], event['tasks'], event['committed']]), [[REF, reply.entry?.hash, ['16'], 3]]);
    const state = tree();
    const again = await contextJson(place, [...args], CheckpointReply, { LOOPKEEPER_NOW: '2026-11-30T21:30:00Z' });
    assert.deepEqual([again.code, again.reply.complete, again.reply.plan?.items[0]?.steps], [0, true, []]);
    assert.deepEqual(again.reply.writes, { entry: null, ticked: [], committed: [], added: [], noted: [] });
    assert.deepEqual(tree(), state);
  });

  it('an entry that a clear or compact has used is spent: the same words make a new entry', async () => {
    makeRepository(place);
    const first = await contextJson(place, ['checkpoint', ...item, ...entry, '--commit'], CheckpointReply);
    fs.appendFileSync(at('.the-loop/logs/events.jsonl'), `${JSON.stringify({ ts: '2026-11-30T20:01:00.000Z', source: 'context', event: 'context.cleared', level: 'info', pid: 1, work_item: REF, entry: first.reply.entry?.hash })}\n`);
    const spent = await contextJson(place, ['checkpoint', ...item], CheckpointReply);
    assert.deepEqual([spent.code, verdicts(spent.reply).log], [1, 'missing']);
    const next = await contextJson(place, ['checkpoint', ...item, ...entry, '--commit'], CheckpointReply, { LOOPKEEPER_NOW: '2026-11-30T20:05:00Z' });
    assert.deepEqual([next.code, next.reply.complete], [0, true]);
    assert.notEqual(next.reply.entry?.hash, first.reply.entry?.hash);
  });

  it('commits tracked changes and the item\'s spec files; untracked ones only on request, listed; what else is staged stays staged', async () => {
    makeRepository(place);
    writeFiles(place.work, { 'docs/specs/issue-239/evidence/run.md': 'ran\n', 'notes/junk.txt': 'x\n', 'docs/specs/issue-239/graph-state.lock': '', 'src/ü b.ts': 'x\n' });
    fs.rmSync(at('src/a.ts'));
    const first = await contextJson(place, ['checkpoint', ...item, ...entry, '--commit', 'docs: what the stream does'], CheckpointReply);
    assert.deepEqual([first.code, verdicts(first.reply).work], [1, 'missing'], 'the untracked files are neither committed nor noted');
    assert.deepEqual(first.reply.writes?.committed, ['docs/specs/issue-239/evidence/run.md', log, 'src/a.ts']);
    assert.deepEqual(first.reply.writes.added, ['docs/specs/issue-239/evidence/run.md']);
    assert.equal(first.reply.plan?.items[0]?.notices[0]?.kind, 'untracked-left');
    assert.equal(git(place, 'log', '-1', '--format=%s').trim(), 'docs: what the stream does');
    assert.equal(git(place, '-c', 'core.quotepath=off', 'status', '--porcelain', '--', 'docs', 'notes', 'src'), '?? docs/specs/issue-239/graph-state.lock\n?? notes/\n?? src/\n');
    const second = await contextJson(place, ['checkpoint', ...item, ...entry, '--commit', '--include-untracked'], CheckpointReply);
    assert.deepEqual([second.code, second.reply.complete, second.reply.writes?.committed], [0, true, ['notes/', 'src/']], JSON.stringify(second.reply));
    assert.equal(git(place, 'status', '--porcelain', '--', 'docs', 'notes', 'src'), '?? docs/specs/issue-239/graph-state.lock\n');
  });

  it('the repository\'s hooks run; one that refuses leaves the entry on disk, nothing committed, nothing staged, and says why', async () => {
    makeRepository(place);
    writeFiles(place.work, { 'docs/specs/issue-239/evidence/run.md': 'ran\n' });
    const hook = (text: string) => { fs.writeFileSync(at('.git/hooks/pre-commit'), `#!/bin/sh\n${text}\n`, { mode: 0o755 }); };
    hook('echo "lint: 3 problems in src" >&2; exit 1');
    const { code, reply } = await contextJson(place, ['checkpoint', ...item, '--tick', '16', ...entry, '--commit'], CheckpointReply);
    assert.equal(code, 1);
    assert.deepEqual([reply.complete, reply.plan?.items[0]?.errors[0]?.kind], [false, 'commit-refused']);
    assert.match(reply.plan?.items[0]?.errors[0]?.message ?? '', /lint: 3 problems in src/);
    assert.deepEqual([reply.writes?.ticked, reply.writes?.committed, verdicts(reply).log, verdicts(reply).work], [['16'], [], 'ok', 'missing']);
    assert.equal(git(place, 'rev-list', '--count', 'HEAD').trim(), '1');
    assert.equal(git(place, 'diff', '--cached', '--name-only'), '');
    hook('test -n "$GIT_AUTHOR_NAME" && echo ran > hook-ran.txt');
    fs.appendFileSync(at('.git/info/exclude'), 'hook-ran.txt\n');
    const again = await contextJson(place, ['checkpoint', ...item, '--tick', '16', ...entry, '--commit'], CheckpointReply);
    assert.deepEqual([again.code, again.reply.complete, again.reply.writes?.entry], [0, true, null]);
    assert.ok(fs.existsSync(at('hook-ran.txt')));
  });

  it('does not commit in the middle of a merge, outside of a repository, or without git; work can be noted instead', async () => {
    makeRepository(place);
    fs.writeFileSync(at('.git/MERGE_HEAD'), `${git(place, 'rev-parse', 'HEAD').trim()}\n`);
    fs.appendFileSync(at('src/a.ts'), '// half done\n');
    await refused(['checkpoint', ...item, ...entry, '--commit'], 'git-busy');
    assert.equal(git(place, 'status', '--porcelain'), ' M src/a.ts\n', 'refused before anything was touched');
    await refused(['checkpoint', ...item, ...entry, '--commit', '--no-exec'], 'usage');
    const noted = await contextJson(place, ['checkpoint', ...item, ...entry, '--note-wip'], CheckpointReply);
    assert.deepEqual([noted.code, noted.reply.complete, noted.reply.writes?.noted], [0, true, [log, 'src/a.ts']]);
    assert.match(read(log), new RegExp(`- \\*\\*Work in progress:\\*\\* not committed: \`${log}\`, \`src/a\\.ts\``));
    const state = tree();
    assert.equal((await contextJson(place, ['checkpoint', ...item, ...entry, '--note-wip'], CheckpointReply)).code, 0);
    assert.deepEqual(tree(), state, 'noted twice adds nothing');
    fs.writeFileSync(at('src/b.ts'), 'x\n');
    const more = await contextJson(place, ['checkpoint', ...item], CheckpointReply);
    assert.deepEqual([more.code, verdicts(more.reply).work], [1, 'missing']);
    assert.match(more.reply.parts[3]?.evidence ?? '', /src\/b\.ts/);
    fs.rmSync(at('.git'), { recursive: true });
    const bare = await contextJson(place, ['checkpoint', ...item], CheckpointReply);
    assert.deepEqual([bare.code, verdicts(bare.reply).work], [4, 'unknown']);
    await refused(['checkpoint', ...item, '--commit'], 'no-git');
  });

  it('a stale digest changes nothing; a task, log or folder that is not there is said', async () => {
    makeRepository(place);
    const dry = await contextJson(place, ['checkpoint', ...item, ...entry, '--commit', '--dry-run'], CheckpointReply);
    fs.appendFileSync(at('src/a.ts'), '// more\n');
    const before = git(place, 'status', '--porcelain');
    await refused(['checkpoint', ...item, ...entry, '--commit', '--expect', dry.reply.plan?.digest ?? ''], 'stale-plan', 3);
    assert.equal(git(place, 'status', '--porcelain', '--', 'docs', 'src'), before);
    await refused(['checkpoint', ...item, '--tick', '99'], 'no-task', 1);
    await refused(['checkpoint', '--work-item', 'github:octo/repo#4'], 'no-spec-folder', 1);
    await refused(['checkpoint', ...item, '--did', 'wrote it', '--next', 'TBD'], 'usage');
    const whole = read(log);
    fs.writeFileSync(at(log), whole.replace('## Documentation', '```\nnever closed\n\n## Documentation'));
    await refused(['checkpoint', ...item, ...entry], 'entry-text');
    fs.rmSync(at(log));
    await refused(['checkpoint', ...item, ...entry], 'no-log');
  });

  it('R2.3: init lays down a log that states that it is the resume anchor, once; undo takes it away', async () => {
    makeRepository(place);
    const args = ['init', '--work-item', 'github:octo/repo#7', '--phase', 'design'];
    const { code, reply } = await contextJson(place, args, ContextInitReply);
    assert.deepEqual([code, reply.created, reply.file], [0, true, at('docs/specs/issue-7/execution-log.md')]);
    assert.match(read('docs/specs/issue-7/execution-log.md'), /resume anchor for context resets/);
    assert.match(read('docs/specs/issue-7/execution-log.md'), /^---\ntype: execution-log\nworkItem: "github:octo\/repo#7"\nphase: design\n/);
    const again = await contextJson(place, args, ContextInitReply);
    assert.deepEqual([again.code, again.reply.created], [0, false]);
    const made = await contextJson(place, ['checkpoint', '--work-item', 'github:octo/repo#7', ...entry, '--commit'], CheckpointReply);
    assert.deepEqual([made.code, made.reply.complete, verdicts(made.reply).phase], [0, true, 'ok']);
    await refused(['init', '--work-item', 'github:octo/repo#7', '--phase', 'dreaming'], 'usage');
    fs.rmSync(at('docs/specs/issue-7'), { recursive: true });
    const second = await contextJson(place, args, ContextInitReply);
    assert.equal((await runCli(['undo', second.reply.plan, '--json'], { cwd: place.work, env: envOf(place) })).code, 0);
    assert.equal(fs.existsSync(at('docs/specs/issue-7/execution-log.md')), false);
  });

  it('R2.2: reentry prints the next step first, then only the files that step needs', async () => {
    makeRepository(place);
    const { code, reply } = await contextJson(place, ['reentry', ...item], ReentryReply);
    assert.deepEqual([code, reply.task, reply.phase, reply.files.map((file) => [file.file, file.from])], [0, '16', 'implementation', [[tasks, 208], ['docs/specs/issue-239/design.md', null], ['docs/specs/issue-239/testing-plan.md', null]]]);
    const text = await context(place, ['reentry', ...item]);
    assert.equal(text.stdout.split('\n')[0], 'Next: task 16 — capability docs, user-facing docs, the decision record.');
    await refused(['reentry', '--work-item', 'github:octo/repo#4'], 'no-spec-folder', 1);
    await refused(['reentry', '--session', 'abc'], 'no-next-step', 1);
  });

  it('an item is looked for in its session\'s checkout, under the name its record holds; nothing leads out of it', async () => {
    const checkout = path.join(place.top, 'checkout');
    makeRepository(place);
    fs.cpSync(place.work, checkout, { recursive: true });
    fs.renameSync(path.join(checkout, 'docs/specs/issue-239'), path.join(checkout, 'docs/specs/draft-stream'));
    const record = (graph: string) => { writeFiles(place.work, {
      '.the-loop/local/github-octo-repo-239.json': session(REF, { status: 'active', cwd: checkout }), '.the-loop/portable/github-octo-repo-239.json': portable(REF, { graph: { loop: 'pdlc-work-item-loop', workItem: graph, nodes: [] } }),
    }); };
    record('draft-stream');
    const { reply } = await contextJson(place, ['checkpoint', ...item], CheckpointReply);
    assert.deepEqual([reply.folder, reply.entry?.file], [checkout, path.join(checkout, 'docs/specs/draft-stream/execution-log.md')]);
    record('../../..');
    await refused(['checkpoint', ...item], 'unsafe-path');
    record('draft-stream');
    fs.rmSync(path.join(checkout, 'docs/specs/draft-stream'), { recursive: true });
    fs.symlinkSync(place.home, path.join(checkout, 'docs/specs/draft-stream'));
    await refused(['init', ...item], 'unsafe-path', 1);
    fs.rmSync(path.join(checkout, 'docs'), { recursive: true });
    fs.symlinkSync(place.home, path.join(checkout, 'docs'));
    await refused(['init', ...item], 'unsafe-path', 1);
    assert.deepEqual(fs.readdirSync(place.home), []);
    fs.rmSync(path.join(checkout, 'docs'));
    writeFiles(checkout, { '.the-loop/harness-config.yaml': 'workflow: {specDir: ../elsewhere}\n' });
    await refused(['init', ...item], 'unsafe-path');
  });

  describe('of sessions', () => {
    const id = '6f0c0000-0000-4000-8000-000000000001';
    const project = (name: string, records: Record<string, unknown>[], folder = 'x') => { writeFiles(place.home, { [`.claude/projects/${folder}/${name}.jsonl`]: transcript(records) }); };

    it('usage: tokens and share of the sessions of a folder; unknown right after a boundary, never the old value', async () => {
      makeRepository(place);
      const record = { cwd: place.work, sessionId: id };
      const boundary = { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'manual', preTokens: 142_000 } };
      project(id, [{ type: 'user', ...record, message: { content: 'hi' } }, answer(142_000, record), { type: 'custom-title', customTitle: 'Prune  loop state' }]);
      project('b', [answer(142_000, record), boundary, { type: 'user', isCompactSummary: true, ...record }]);
      project('c', [answer(142_000, record), boundary, answer(20_000, record), answer(90_000, { ...record, isSidechain: true }), answer(5, { ...record, isApiErrorMessage: true }), { type: 'from-the-future', odd: [1] }, { type: 'last-prompt', lastPrompt: 'go on' }]);
      project('d', [answer(300_000, record)]);
      project('e', [answer(1000, { cwd: '/elsewhere', sessionId: 'e' })], 'elsewhere');
      project('f', [{ type: 'mode' }, { type: 'user', ...record, isMeta: true, message: { content: '<command-name>/clear</command-name>' } }]);
      fs.appendFileSync(path.join(place.home, `.claude/projects/x/${id}.jsonl`), '{"type":"assistant","message":{"usa');
      writeFiles(place.home, { '.claude/sessions/1.json': JSON.stringify({ pid: process.pid, sessionId: id, cwd: place.work, status: 'busy' }), '.claude/sessions/2.json': JSON.stringify({ pid: 2 ** 30, sessionId: 'b', status: 'idle' }) });
      writeFiles(place.work, { '.the-loop/local/github-octo-repo-239.json': session(REF, { status: 'active', cwd: place.work, id: 'c' }) });
      const { code, reply } = await contextJson(place, ['usage'], UsageReply);
      const rows = Object.fromEntries(reply.sessions.map((each) => [each.id, each]));
      assert.equal(code, 0);
      assert.deepEqual(Object.keys(rows).sort(), [id, 'b', 'c', 'd', 'f'].sort());
      assert.deepEqual([rows[id]?.tokens, rows[id]?.share, rows[id]?.title, rows[id]?.running?.status], [142_000, 0.71, 'Prune loop state', 'busy']);
      assert.deepEqual([rows['b']?.tokens, rows['b']?.share, rows['b']?.reason, rows['b']?.running], [null, null, 'after-boundary', null]);
      assert.deepEqual([rows['c']?.tokens, rows['c']?.ref, rows['c']?.title], [20_000, REF, 'go on']);
      assert.deepEqual([rows['d']?.window, rows['d']?.share], [1_000_000, 0.3]);
      assert.deepEqual([rows['f']?.tokens, rows['f']?.reason], [null, 'not-started']);
      assert.equal((await contextJson(place, ['usage', '--all'], UsageReply)).reply.sessions.length, 6);
      const one = await contextJson(place, ['usage', '--session', id, '--window', '500000'], UsageReply);
      assert.deepEqual(one.reply.sessions.map((each) => [each.share, each.windowFrom]), [[0.284, 'given']]);
      assert.match((await context(place, ['usage'])).stdout, /71 % of ~200k +142k tokens +busy/);
      await refused(['usage', '--session', 'nobody'], 'no-session', 1);
    });

    it('a plain session\'s checkpoint is its hand-over note and its work; reentry reads it', async () => {
      makeRepository(place);
      project(id, [answer(1000, { cwd: place.work, sessionId: id })]);
      const first = await contextJson(place, ['checkpoint', '--session', id], CheckpointReply);
      assert.deepEqual([first.code, first.reply.kind, verdicts(first.reply)], [1, 'session', { log: 'missing', work: 'ok' }]);
      fs.appendFileSync(at('src/a.ts'), '// half done\n');
      const args = ['checkpoint', '--session', id, '--did', 'Found the leak in the pool', '--next', 'Close the sockets in pool.ts'];
      const written = await contextJson(place, [...args, '--note-wip'], CheckpointReply);
      assert.deepEqual([written.code, written.reply.complete, written.reply.writes?.noted], [0, true, ['src/a.ts']], JSON.stringify(written.reply));
      const note = `.the-loop/loopkeeper/handover/${id}.md`;
      assert.match(read(note), /- \*\*Next:\*\* Close the sockets in pool\.ts\n/);
      const state = read(note);
      assert.equal((await contextJson(place, [...args, '--note-wip'], CheckpointReply)).code, 0);
      assert.equal(read(note), state);
      const committed = await contextJson(place, [...args, '--commit'], CheckpointReply);
      assert.deepEqual([committed.code, committed.reply.complete, committed.reply.writes?.committed], [0, true, ['src/a.ts']]);
      const text = await context(place, ['reentry', '--session', id]);
      assert.equal(text.stdout.split('\n')[0], 'Next: Close the sockets in pool.ts');
      await refused(['checkpoint', '--session', '../x'], 'usage');
      await refused(['checkpoint', '--session', 'nobody'], 'no-session', 1);
      await refused(['checkpoint', '--session', id, '--tick', '1'], 'usage');
    });
  });
});
