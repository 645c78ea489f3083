import { strict as assert } from 'node:assert';
import { readPolicySection } from '../../src/core/config/harnessConfig';
import { agentGuideText, guideText } from '../../src/core/context/guide';
import { actionAt, changeOverride, changePolicyFile, readPolicy } from '../../src/core/context/policy';
import { readArtifacts } from '../../src/core/context/artifacts';
import { Failure } from '../../src/core/disk/failure';
import { parseYaml } from '../../src/core/disk/yamlText';
import { memoryReader } from '../support/memoryReader';

const file = '/repo/.the-loop/harness-config.yaml';
const policyOf = (text: string, specs: Record<string, string> = {}) => {
  const reader = memoryReader({ '/repo/.git/HEAD': '', ...(text === '' ? {} : { [file]: text }), ...Object.fromEntries(Object.entries(specs).map(([name, body]) => [`/repo/s/${name}`, body])) });
  return readPolicy(reader, '/repo', Object.keys(specs).length === 0 ? undefined : readArtifacts(reader, { checkout: '/repo', id: 's', directory: '/repo/s' })).policy;
};
const values = (policy: ReturnType<typeof policyOf>) => policy.values.map(({ key, value, from, line }) => `${key}=${String(value)} ${from}${line === null ? '' : `:${String(line)}`}`);

describe('the guide', () => {
  it('R1.1: documents what each does, what survives, how it fails and where it applies', () => {
    for (const row of ['What it does', 'What survives', 'How it fails', 'Where it applies']) assert.match(guideText, new RegExp(`\\| ${row} \\|[^|]+\\|[^|]+\\|`));
  });
  it('R1.2: cites the recommendations of the vendors it follows', () => {
    assert.match(guideText, /Anthropic advises[\s\S]*https:\/\/code\.claude\.com\/docs\/en\/best-practices/);
    assert.match(guideText, /Cursor advises[\s\S]*https:\/\/cursor\.com\/blog\/agent-best-practices/);
    assert.match(guideText, /https:\/\/cursor\.com\/docs\/agent\/chat\/summarization/);
  });
  it('R1.3: calls the automatic compaction a safety net, not the plan', () => { assert.match(guideText, /automatic compaction stays as a safety\s+net; it is not the plan/); });
  it('R4.2: says what a steered compaction keeps and drops, to people and to agents', () => {
    for (const text of [guideText, agentGuideText]) assert.match(text, /keep \(design constraints, conventions[^)]*\) and what to drop \(resolved errors,\s+superseded attempts,\s+(the )?output of finished tasks\)/);
  });
  it('R4.3: sends exploration, log digging and verbose output to sub-agents that return conclusions', () => {
    assert.match(guideText, /exploration, log digging and long test output belong in a sub-agent/);
    assert.match(agentGuideText, /sub-agent, and take back its conclusion only/);
  });
  it('R5.2: maps each verb to the mechanics of each harness', () => {
    for (const pattern of [/Claude Code, at a terminal \| `\/clear` \| `\/compact/, /Claude Code, headless \| end the session/, /Cursor \| a new chat; `@Past Chats`[^|]*\| built-in summarization/, /pi \| `\/new` \| `\/compact/, /Headless, started by a program \| checkpoint, then end the session/]) assert.match(guideText, pattern);
  });
});

describe('the policy', () => {
  it('R5.1: four settings whose defaults hold silently without a file, without a section, and for a key that is left out', () => {
    const presets = ['enabled=true default', 'phaseBoundary=clear default', 'taskBoundary=compact default', 'midTask=compact default'];
    for (const text of ['', 'version: "0.2.0"\n', 'contextManagement:\n', 'contextManagement: {}\n']) {
      const policy = policyOf(text);
      assert.deepEqual([policy.known, policy.problems, values(policy)], [true, [], presets]);
    }
    assert.deepEqual(values(policyOf('contextManagement:\n  taskBoundary: off\n')), ['enabled=true default', 'phaseBoundary=clear default', 'taskBoundary=off file:2', 'midTask=compact default']);
  });

  it('reads off without quotes, as YAML 1.1 does, quoted, and through anchors and merged maps', () => {
    const read = (text: string) => { const { given, problems } = readPolicySection(parseYaml(text, 'f'), []); return [problems.length, ...Object.entries(given).map(([key, { value, line }]) => `${key}=${String(value)}:${String(line)}`)]; };
    assert.deepEqual(read('contextManagement:\n  enabled: off\n  phaseBoundary: off\n  taskBoundary: "off"\n  midTask: Off\n'), [0, 'enabled=false:2', 'phaseBoundary=off:3', 'taskBoundary=off:4', 'midTask=off:5']);
    assert.deepEqual(read('x: &b\n  taskBoundary: clear\n  enabled: no\ncontextManagement:\n  <<: *b\n  enabled: yes\n'), [0, 'enabled=true:6', 'taskBoundary=clear:2']);
    assert.deepEqual(read('x: &c {midTask: compact}\ncontextManagement: *c\n'), [0, 'midTask=compact:1']);
  });

  it('is unknown, with file and line, for a value that is not legal, an unknown key, a key twice, broken YAML; then nothing acts on it', () => {
    const wrong: [string, number, RegExp][] = [
      ['contextManagement:\n  midTask: clear\n', 2, /midTask is clear\. Legal: compact, off/], ['contextManagement:\n  phaseboundary: clear\n', 2, /no setting phaseboundary/],
      ['contextManagement:\n  enabled: "true"\n', 2, /enabled is true\. Legal: true, false/], ['contextManagement:\n  enabled: y\n', 2, /enabled is y/], ['contextManagement:\n  taskBoundary:\n', 2, /taskBoundary is empty/],
      ['contextManagement:\n  enabled: true\n  enabled: false\n', 3, /a second time/], ['a: 1\ncontextManagement: off\n', 2, /no mapping/], ['a: [1\nb: 2\n', 2, /./], ['- a\n', 1, /no mapping/], ['a: 1\n---\nb: 1\n', 2, /multiple documents/],
    ];
    for (const [text, line, message] of wrong) {
      const policy = policyOf(text);
      assert.equal(policy.known, false, text);
      assert.deepEqual([policy.problems[0]?.file, policy.problems[0]?.line], [file, line], text);
      assert.match(policy.problems[0]?.message ?? '', message);
      for (const boundary of ['phase', 'task', 'mid-task'] as const) assert.throws(() => actionAt(policy, boundary), (error: unknown) => error instanceof Failure && error.kind === 'policy-unknown' && error.message.startsWith(`${file}:${String(line)}: `));
    }
  });

  it('R5.3: not enabled, it leaves every boundary to the harness; R1.4: mid-task is never clear', () => {
    const off = policyOf('contextManagement: {enabled: false, phaseBoundary: clear, taskBoundary: clear}\n');
    for (const boundary of ['phase', 'task', 'mid-task'] as const) assert.equal(actionAt(off, boundary), 'off');
    const on = policyOf('contextManagement: {taskBoundary: clear}\n');
    assert.deepEqual([actionAt(on, 'phase'), actionAt(on, 'task'), actionAt(on, 'mid-task')], ['clear', 'clear', 'compact']);
  });

  it('of an item: the spec files override it, tasks.md over testing-plan.md over design.md over requirements.md', () => {
    const matter = (value: string) => `---\nstatus: approved\noverrides: {contextManagement: {taskBoundary: ${value}}}\n---\n\n# x\n`;
    const all = { 'requirements.md': matter('"off"'), 'design.md': matter('clear'), 'testing-plan.md': matter('"off"'), 'tasks.md': matter('clear') };
    const line = (specs: Record<string, string>) => policyOf('contextManagement:\n  taskBoundary: compact\n  midTask: off\n', specs).values.find((each) => each.key === 'taskBoundary');
    assert.deepEqual(line(all), { key: 'taskBoundary', value: 'clear', from: 'override', file: '/repo/s/tasks.md', line: 3 });
    assert.equal(line({ ...all, 'tasks.md': '---\noverrides: {}\n---\n' })?.file, '/repo/s/testing-plan.md');
    assert.equal(line({ 'requirements.md': all['requirements.md'], 'design.md': '# no front matter\n' })?.file, '/repo/s/requirements.md');
    assert.equal(line({ 'bugfix.md': matter('clear'), 'tasks.md': '---\nnever closed\n' })?.file, '/repo/s/bugfix.md');
    const broken = policyOf('', { 'design.md': '---\nstatus: x\noverrides: {contextManagement: {midTask: clear}}\n---\n' });
    assert.deepEqual([broken.known, broken.problems[0]?.file, broken.problems[0]?.line], [false, '/repo/s/design.md', 3]);
    assert.equal(policyOf('', { 'design.md': '---\na: [\n---\n' }).known, false);
  });

  it('is the older config.yaml where the newer file is not there, and found from a folder below', () => {
    const reader = memoryReader({ '/repo/.git/HEAD': '', '/repo/.the-loop/config.yaml': 'contextManagement: {midTask: off}\n', '/repo/src/a.ts': '', '/.the-loop/harness-config.yaml': 'contextManagement: {midTask: compact}\n' });
    const { policy, repository } = readPolicy(reader, '/repo/src');
    assert.deepEqual([repository, policy.file, policy.values[3]?.line], ['/repo', '/repo/.the-loop/config.yaml', 1]);
    assert.equal(readPolicy(memoryReader({ '/repo/.git/HEAD': '', '/repo/src/a.ts': '', '/.the-loop/harness-config.yaml': 'a: 1\n' }), '/repo/src').policy.file, null, 'a file above the repository is not its policy');
  });
});

describe('setting a value', () => {
  const artifacts = (specs: Record<string, string>) => {
    const reader = memoryReader(Object.fromEntries(Object.entries(specs).map(([name, body]) => [`/repo/s/${name}`, body])));
    return { reader, artifacts: readArtifacts(reader, { checkout: '/repo', id: 's', directory: '/repo/s' }) };
  };
  it('of an item goes to tasks.md, else to the spec file of highest precedence; front matter is made where there is none', () => {
    const set = (specs: Record<string, string>) => { const made = artifacts(specs); const { file: where, after, line } = changeOverride(made.reader, made.artifacts, 'taskBoundary', 'off'); return [where.replace('/repo/s/', ''), after, line]; };
    assert.deepEqual(set({ 'tasks.md': '---\r\nstatus: x # c\r\noverrides: {}\r\n---\r\n\r\n# T\r\n', 'design.md': '---\n---\n' }), ['tasks.md', '---\r\nstatus: x # c\r\noverrides: {contextManagement: {taskBoundary: "off"}}\r\n---\r\n\r\n# T\r\n', 3]);
    assert.deepEqual(set({ 'design.md': '---\nstatus: x\n---\n# D\n', 'requirements.md': '# R\n' }), ['design.md', '---\nstatus: x\noverrides:\n  contextManagement:\n    taskBoundary: "off"\n---\n# D\n', 5]);
    assert.deepEqual(set({ 'requirements.md': '# R\n' }), ['requirements.md', '---\noverrides:\n  contextManagement:\n    taskBoundary: "off"\n---\n\n# R\n', 4]);
    assert.deepEqual(set({ 'tasks.md': '\uFEFF# R\r\n' }), ['tasks.md', '\uFEFF---\r\noverrides:\r\n  contextManagement:\r\n    taskBoundary: "off"\r\n---\r\n\r\n# R\r\n', 4]);
    const none = artifacts({});
    assert.throws(() => changeOverride(none.reader, none.artifacts, 'midTask', 'off'), (error: unknown) => error instanceof Failure && error.kind === 'no-spec-files');
    const open = artifacts({ 'tasks.md': '---\nstatus: x\n' });
    assert.throws(() => changeOverride(open.reader, open.artifacts, 'midTask', 'off'), (error: unknown) => error instanceof Failure && error.kind === 'bad-yaml');
  });
  it('creates a policy file only when asked to, with version and the whole section', () => {
    const reader = memoryReader({ '/repo/.git/HEAD': '' });
    assert.throws(() => changePolicyFile(reader, '/repo', 'taskBoundary', 'off', false), (error: unknown) => error instanceof Failure && error.kind === 'no-policy-file' && /--create/.test(error.hint));
    assert.deepEqual(changePolicyFile(reader, '/repo', 'taskBoundary', 'off', true), { file, before: undefined, line: 6, after: 'version: "0.2.0"\n\ncontextManagement:\n  enabled: true\n  phaseBoundary: clear\n  taskBoundary: "off"\n  midTask: compact\n' });
  });
  it('refuses a file that is not UTF-8, whose bytes could not be kept', () => {
    const reader = memoryReader({ '/repo/.git/HEAD': '', [file]: Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]) });
    assert.throws(() => changePolicyFile(reader, '/repo', 'taskBoundary', 'off', false), (error: unknown) => error instanceof Failure && error.kind === 'not-utf8');
  });
});
