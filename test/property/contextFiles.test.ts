import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import type { Artifacts } from '../../src/core/context/artifacts';
import { verifyCheckpoint } from '../../src/core/context/checkpoint';
import type { Part } from '../../src/core/context/checkpoint';
import { insertEntry, latestEntry, parseLog } from '../../src/core/context/executionLog';
import { dependenciesOf, findTasks, parseTasks, tickTask } from '../../src/core/context/tasks';

const now = '2026-11-30T20:00:00Z';
const clean = { repository: '/repo', changed: [], untracked: [], conflicted: [], nested: [], branch: 'main', busy: null };

function artifacts(files: { tasks?: string; log?: string }): Artifacts {
  const directory = '/repo/docs/specs/issue-1';
  return {
    folder: { checkout: '/repo', id: 'issue-1', directory }, graph: undefined,
    specs: files.tasks === undefined ? {} : { 'tasks.md': { file: `${directory}/tasks.md`, text: files.tasks } },
    log: files.log === undefined ? undefined : { file: `${directory}/execution-log.md`, text: files.log },
  };
}

function partOf(name: Part['part'], input: Artifacts, tasks: string[] = [], spent?: string): Part {
  const part = verifyCheckpoint({ artifacts: input, work: clean, tasks, labelPrefix: 'loop:', now, ...(spent === undefined ? {} : { spent }) }).parts.find((each) => each.part === name);
  assert.ok(part);
  return part;
}

// --- tasks ------------------------------------------------------------------------------------------------------

interface TaskModel { number: number; suffix: string; done: boolean; deps: number[]; depsStyle: number; tail: number; detail: number; noise: number; heading: boolean }
interface FileModel { tasks: TaskModel[]; idStyle: number; section: string; crlf: boolean; bom: boolean; matter: boolean; other: number }

const fileModel: fc.Arbitrary<FileModel> = fc.record({
  idStyle: fc.nat(4), section: fc.constantFrom('## Task list', '## Tasks', '## Task list (DAG)'), crlf: fc.boolean(), bom: fc.boolean(), matter: fc.boolean(), other: fc.nat(3),
  tasks: fc.integer({ min: 1, max: 9 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => fc.record({
    number: fc.constant(index + 1), suffix: fc.constantFrom('', '', '', 'b'), done: fc.boolean(), deps: index === 0 ? fc.constant<number[]>([]) : fc.subarray(Array.from({ length: index }, (_each, at) => at + 1)),
    depsStyle: fc.nat(6), tail: fc.nat(3), detail: fc.nat(3), noise: fc.nat(7), heading: fc.boolean(),
  })))),
});

const idOf = (file: FileModel, task: TaskModel) => `${file.idStyle === 1 || file.idStyle === 3 ? 'T' : ''}${String(task.number)}${task.suffix}`;

function boxLine(file: FileModel, task: TaskModel, said: string): string {
  const id = idOf(file, task);
  const mark = task.done ? (task.noise % 2 === 0 ? 'x' : 'X') : ' ';
  const head = [`${id}. Build the thing`, `**${id} — Build the thing**`, `**${id}.** Build the thing`, `${id} — 3 files change`, `${id}) Build the thing`][file.idStyle] ?? '';
  return `${task.noise === 6 ? '*' : '-'} [${mark}] ${head}${said}`;
}

/** How a file says what a task depends on; `prose` goes on the box's own line. */
function dependencyText(file: FileModel, task: TaskModel): { prose: string; bullet: string } {
  const ids = task.deps.map((number) => idOf(file, file.tasks[number - 1] as TaskModel));
  const last = task.deps.at(-1) ?? 0;
  const first = task.deps[0] ?? 0;
  const consecutive = task.deps.length > 1 && last - first + 1 === task.deps.length;
  const all = task.deps.length === task.number - 1 && task.number > 1;
  const tail = ['', ' — _Requirements:_ R1, R2', ' · _Requirements:_ R3', '.'][task.tail] ?? '';
  if (ids.length === 0) {
    return [{ prose: '', bullet: `_Depends on:_ none${tail}` }, { prose: '', bullet: `**Depends on:** —` }, { prose: ' — depends on nothing.', bullet: '' }, { prose: '', bullet: '' }][task.depsStyle % 4] ?? { prose: '', bullet: '' };
  }
  const list = ids.join(', ');
  const styles = [
    { prose: '', bullet: `_Depends on:_ ${list}${tail}` }, { prose: '', bullet: `**Depends on:** ${list}` }, { prose: ` — depends on ${list}.`, bullet: '' },
    { prose: '', bullet: `_Depends on:_ ${ids.join(' and ')}${tail}` }, { prose: '', bullet: `_Depends on:_ ${ids.map((id) => `${id} (its schema)`).join(', ')}` },
    { prose: '', bullet: consecutive ? `_Depends on:_ ${ids[0] ?? ''}–${ids.at(-1) ?? ''}${tail}` : `_Depends on:_ ${list}` },
    { prose: '', bullet: all ? `_Depends on:_ all${tail}` : `_Depends on:_ ${list},\n    ` },
  ];
  return styles[task.depsStyle] ?? { prose: '', bullet: '' };
}

const noise = [
  '', '  ```md\n  - [ ] 1. an example in a fence\n  ```', '  <!-- - [ ] 2. commented out -->', '  - a detail that depends on 3 things, or on the design', '  - [ ] a part without an id, done later'.replace('[ ]', '[x]'),
  '  ~~~\n  ## Tasks\n  - [ ] 1. no task\n  ~~~', '', '  <!--\n  - [ ] 77. old\n  -->',
];

function tasksText(file: FileModel): { text: string; lines: Map<number, number> } {
  const out: string[] = [];
  const push = (text: string) => { out.push(...text.split('\n')); };
  if (file.matter) push('---\ntype: tasks\nstatus: approved\noverrides: {}\n---\n');
  push('# Tasks\n\n> - [ ] quoted, no task\n\n- [ ] 1. before the list\n');
  push(`${file.section}\n`);
  const lines = new Map<number, number>();
  for (const task of file.tasks) {
    if (task.heading) push('### A part of the list\n');
    const said = dependencyText(file, task);
    lines.set(task.number, out.length + 1);
    push(boxLine(file, task, said.prose));
    push(['  - details over\n    two lines', '', '  - [x] its part', '  some text'][task.detail] ?? '');
    push(noise[task.noise] ?? '');
    if (said.bullet !== '') push(`  - ${said.bullet}`);
    push(`  - _Test:_ T1 — \`npm test\`\n`);
  }
  push('## Dependency graph (DAG)\n\n```mermaid\ngraph LR\n  T1 --> T2\n- [ ] 1. not here\n```\n');
  push(['## Checkpoints\n\n- [ ] After task 3 the suite is green.\n', '## Review comments\n\n- [ ] 1. please look\n', '# Appendix\n\n- [ ] 2. other\n', ''][file.other] ?? '');
  return { text: (file.bom ? '\uFEFF' : '') + out.join(file.crlf ? '\r\n' : '\n'), lines };
}

describe('generated task files', () => {
  it('R2.1: a hundred with the traps of real ones: ids, states, lines and dependencies are right, and so is the verdict', () => {
    const seen = { ok: 0, missing: 0 };
    fc.assert(fc.property(fileModel, fc.nat(), (file, pick) => {
      const { text, lines } = tasksText(file);
      const list = parseTasks(text);
      const own = list.tasks.filter((task) => task.id !== undefined);
      assert.deepEqual(own.map((task) => task.id), file.tasks.map((task) => idOf(file, task)), text);
      for (const [index, task] of own.entries()) {
        const model = file.tasks[index] as TaskModel;
        assert.equal(task.state, model.done ? 'done' : 'open');
        assert.equal(task.line, lines.get(model.number), text);
        assert.deepEqual(dependenciesOf(list, task), { tasks: model.deps.map((number) => own[number - 1]) }, `${String(model.number)}\n${text}`);
        assert.match(task.test ?? '', /^T1/);
      }
      const model = file.tasks[pick % file.tasks.length] as TaskModel;
      const open = model.done ? model.deps.find((number) => !(file.tasks[number - 1] as TaskModel).done) : model.number;
      const part = partOf('checkmarks', artifacts({ tasks: text }), [idOf(file, model)]);
      assert.equal(part.verdict, open === undefined ? 'ok' : 'missing', `${part.evidence}\n${text}`);
      assert.equal(part.line, lines.get(open ?? model.number));
      seen[open === undefined ? 'ok' : 'missing'] += 1;
      // Ticking changes one character, and that task alone.
      const [task] = findTasks(list, idOf(file, model));
      assert.ok(task);
      const ticked = tickTask(text, task);
      assert.equal(ticked.length, text.length);
      assert.ok([...ticked].filter((character, index) => character !== [...text][index]).length <= 1);
      assert.deepEqual(parseTasks(ticked).tasks.map((each) => each.state === 'done'), list.tasks.map((each) => each.state === 'done' || each.line === task.line));
    }), { numRuns: 100, seed: 137 });
    assert.ok(seen.ok > 10 && seen.missing > 10, JSON.stringify(seen));
  });
});

// --- logs -------------------------------------------------------------------------------------------------------

interface EntryModel { hour: number; did: number; next: number; trap: number; zone: number }
interface LogModel { entries: EntryModel[]; elsewhere: EntryModel | undefined; isOlder: boolean; newestFirst: boolean; crlf: boolean; bom: boolean; machine: number; dateOnly: boolean; progressLast: boolean }

const dids = ['wrote the parser', 'wrote the parser\n  over two lines, with `- **Next:** inside` code', '…', ''];
const nexts = ['task 5: prune on write', 'task 5:\n  - prune on write\n  - then run it', 'what is next', 'TBD', '', '<next step>'];
const entryModel: fc.Arbitrary<EntryModel> = fc.record({ hour: fc.constant(0), did: fc.constantFrom(0, 0, 0, 1, 1, 2, 3), next: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3, 4, 5), trap: fc.nat(5), zone: fc.nat(3) });
const logModel: fc.Arbitrary<LogModel> = fc.record({
  entries: fc.array(entryModel, { minLength: 0, maxLength: 6 }), elsewhere: fc.option(entryModel, { nil: undefined }), isOlder: fc.boolean(), newestFirst: fc.boolean(), crlf: fc.boolean(), bom: fc.boolean(), machine: fc.nat(3), dateOnly: fc.boolean(), progressLast: fc.boolean(),
});

/** One entry; `line` is where its heading will be, relative to the text. */
function entryLines(entry: EntryModel, day: number, dateOnly: boolean): string {
  const zone = [' UTC', 'Z', '', '+00:00'][entry.zone] ?? '';
  const stamp = `2026-08-${String(day).padStart(2, '0')}${dateOnly ? '' : `${entry.zone === 1 ? 'T' : ' '}10:${String(entry.hour).padStart(2, '0')}${zone}`}`;
  const trap = [
    '', '\n```md\n### 2026-12-01 — an example\n\n- **Next:** not this\n```\n', '\n<!--\n### 2026-12-01 — a template\n- **Next:** nor this\n-->\n', '- **Finding:** it depends\n  - **Next:** a nested one\n', '\n#### A sub-heading\n\nText.\n', '- **Next steps of others:** none\n',
  ][entry.trap] ?? '';
  return `### ${stamp} — something — happened\n\n- **Phase:** implementation\n- **Did:** ${dids[entry.did] ?? ''}\n- **Checkpoint/tests:** npm test: 5 passed\n${trap}- **Next:** ${nexts[entry.next] ?? ''}\n- **Blockers:** none.\n`;
}

function logText(log: LogModel): { text: string; line: number | undefined; latest: EntryModel | undefined } {
  const out: string[] = [];
  const push = (text: string) => { out.push(...text.split('\n')); };
  push('---\ntype: execution-log\nphase: implementation   # a comment\nstatus: in-progress\n---\n\n# Execution log\n\n## Phase transitions\n\n| Phase | Entered |\n|---|---|\n');
  let line: number | undefined;
  let latest: EntryModel | undefined;
  const progress = () => {
    push('## Progress entries\n\n<!-- ### <timestamp> — <short summary>\n- **Next:** what is next -->\n');
    const days = log.entries.map((_entry, index) => log.newestFirst ? 20 - index : 5 + index);
    for (const [index, entry] of log.entries.entries()) {
      const isLatest = log.newestFirst && log.entries.length > 1 ? index === 0 : index === log.entries.length - 1;
      if (isLatest && (!log.elsewhere || log.isOlder)) [line, latest] = [out.length + 1, entry];
      push(entryLines(entry, days[index] ?? 1, log.dateOnly));
    }
  };
  const others = () => {
    push('## Verification results\n');
    if (log.elsewhere) {
      // Dated after all others the work went on below the wrong heading; dated before them it is only an old note.
      if (!log.isOlder || log.entries.length === 0) [line, latest] = [out.length + 1, log.elsewhere];
      push(entryLines({ ...log.elsewhere, hour: 30 }, log.isOlder ? 1 : 25, log.dateOnly));
    }
    push('### 2026-11-30 — a heading of the section, no entry\n\nProse.\n\n### 2027-05-01 — planned\n\n- **Next:** the future is no entry of now\n');
  };
  if (log.progressLast) others();
  progress();
  if (!log.progressLast) others();
  if (!log.progressLast) push('## Documentation\n');
  for (let index = 0; index < log.machine; index += 1) push(`### 2026-11-29 — entry implementation\n\n- **Node:** implementation\n- **Boundary:** entry\n`);
  return { text: (log.bom ? '\uFEFF' : '') + out.join(log.crlf ? '\r\n' : '\n'), line, latest };
}

describe('generated execution logs', () => {
  it('R2.1: a hundred with the traps of real ones: the entry that counts, its verdict and its line are right', () => {
    const seen = { ok: 0, missing: 0 };
    fc.assert(fc.property(logModel, (model) => {
      const { text, line, latest } = logText(model);
      const part = partOf('log', artifacts({ log: text }));
      const found = latestEntry(parseLog(text), now);
      assert.equal(found?.line, line, text);
      const ok = latest !== undefined && latest.did < 2 && latest.next < 2;
      assert.equal(part.verdict, ok ? 'ok' : 'missing', `${part.evidence}\n${text}`);
      if (ok && line !== undefined) {
        const lines = text.split('\n');
        assert.match(lines[(part.line ?? 0) - 1] ?? '', /^- \*\*Next:\*\* task 5/);
        assert.ok((part.line ?? 0) > line);
      }
      seen[ok ? 'ok' : 'missing'] += 1;
      if (found && ok) assert.match(partOf('log', artifacts({ log: text }), [], found.hash).evidence, /the last clear or compact used/);
    }), { numRuns: 100, seed: 6 });
    assert.ok(seen.ok > 15 && seen.missing > 15, JSON.stringify(seen));
  });

  it('an entry that the tool writes into any of them is the one that counts, and nothing else in the file moves', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }).filter((value) => /[a-z]{3}/i.test(value)).map((value) => `done: ${value.replace(/[`<>\r\n*_\\]/g, ' ')}`);
    fc.assert(fc.property(logModel, text, text, (model, did, next) => {
      const before = logText({ ...model, elsewhere: undefined });
      const after = insertEntry(before.text, { now, phase: 'implementation', did, next, tests: 'npm test\nall 5 passed', blockers: 'none' });
      const added = after.length - before.text.length;
      // One insertion: the old text is what is left without it.
      let start = 0;
      while (start < before.text.length && before.text[start] === after[start]) start += 1;
      assert.ok(Array.from({ length: 40 }, (_, back) => start - back).some((at) => at >= 0 && after.slice(0, at) + after.slice(at + added) === before.text), after);
      const latest = latestEntry(parseLog(after), now);
      assert.match(latest?.heading ?? '', /^2026-11-30 20:00 UTC — done/);
      assert.equal(latest?.fields.next?.text.replace(/\s+/g, ' ').trim(), next.replace(/\s+/g, ' ').trim());
      assert.equal(parseLog(after).entries.length, parseLog(before.text).entries.length + 1);
      assert.equal(partOf('log', artifacts({ log: after })).verdict, 'ok');
    }), { numRuns: 200, seed: 8 });
  });
});
