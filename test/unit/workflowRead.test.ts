import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Failure } from '../../src/core/disk/failure';
import { drawWorkflow } from '../../src/core/workflow/diagram';
import { parseRayCommand } from '../../src/core/workflow/execution';
import { findRaymond } from '../../src/core/workflow/runs';
import { findEntry, openWorkflow, resolveSpecifier, resolveState } from '../../src/core/workflow/scope';
import { formatRunState, parseRunState } from '../../src/core/workflow/stateFile';
import { ageOf } from '../../src/core/workflow/view';
import { memoryReader } from '../support/memoryReader';

const samples = path.join(__dirname, '..', 'support', 'raymond-states');
const sample = (name: string): string => fs.readFileSync(path.join(samples, name), 'utf8');

describe('raymond\'s state file', () => {
  for (const name of fs.readdirSync(samples).filter((file) => !file.startsWith('14_'))) {
    it(`${name} is written back byte for byte, but for an empty stack as []`, () => {
      assert.equal(formatRunState(parseRunState(sample(name), name)), sample(name).replace('"stack": null', '"stack": []').replace('"stack": null', '"stack": []'));
    });
  }

  it('a file of an older form is written in raymond\'s form, and fields that nothing knows stay', () => {
    const written = formatRunState(parseRunState(sample('14_old_minimal_state.json'), 'x'));
    assert.deepEqual(JSON.parse(written), {
      workflow_id: 'old', scope_dir: '/home/dev/runs/e18/wf', total_cost_usd: 0, budget_usd: 0, started_at: '0001-01-01T00:00:00Z',
      agents: [{ id: 'main', current_state: 'A.sh', session_id: 'sess-1', stack: [{ session: 'sess-0', state: 'RET.sh' }], ask_entered_at: '0001-01-01T00:00:00Z', x_unknown: true }],
      future_field: 1,
    });
    assert.equal(formatRunState(parseRunState(written, 'x')), written);
  });

  it('every field has raymond\'s place and is left out when empty', () => {
    const frame = { task_folder: '/t', scope_url: 'https://x/y.zip', nesting_depth: 2, cwd: '/c', scope_dir: '/s', state: 'R.md', session: null };
    const agent = {
      ask_entered_at: '2026-11-30T18:07:12Z', ask_staged_files: [{ name: 'a', size: 1 }], ask_file_affordance: { Mode: 1, Slots: null }, ask_id: 'i', ask_timeout_next: 'T', ask_timeout: '1h', ask_next_state: 'N.sh', ask_prompt: 'p',
      task_count: 1, task_folder: '/t', continue_and_fork: true, error: 'e', retry_count: 1, status: 'asking', nesting_depth: 1, scope_url: 'u', scope_dir: '/s', cwd: '/c', pending_ask_id: 'q', pending_result: '',
      stack: [frame], session_id: null, current_state: 'A.md', id: 'main',
    };
    const run = {
      resolved_inputs: [{ ask_id: 'i' }], launch_params: { on_ask: 'pause', continue_and_fork: true, timeout: 9, effort: 'low', model: 'opus', dangerously_skip_permissions: false }, fork_counters: { b: 1, a: 2 }, agents: [agent],
      started_at: '2026-11-30T18:07:12Z', budget_usd: 1.5, total_cost_usd: 1e-7, scope_dir: '/s', workflow_id: 'w',
    };
    const keys = [...formatRunState(parseRunState(JSON.stringify(run), 'x')).matchAll(/"(\w+)":/g)].map((match) => match[1]);
    assert.deepEqual(keys, [
      'workflow_id', 'scope_dir', 'total_cost_usd', 'budget_usd', 'started_at', 'agents', 'id', 'current_state', 'session_id', 'stack', 'session', 'state', 'scope_dir', 'cwd', 'nesting_depth', 'scope_url', 'task_folder',
      'pending_result', 'pending_ask_id', 'cwd', 'scope_dir', 'scope_url', 'nesting_depth', 'status', 'retry_count', 'error', 'continue_and_fork', 'task_folder', 'task_count', 'ask_prompt', 'ask_next_state', 'ask_timeout',
      'ask_timeout_next', 'ask_id', 'ask_file_affordance', 'Mode', 'Slots', 'ask_staged_files', 'name', 'size', 'ask_entered_at', 'fork_counters', 'a', 'b', 'launch_params', 'dangerously_skip_permissions', 'model', 'effort',
      'timeout', 'continue_and_fork', 'on_ask', 'resolved_inputs', 'ask_id',
    ]);
    const empty = { ...agent, pending_result: null, pending_ask_id: '', cwd: '', scope_dir: '', scope_url: '', nesting_depth: 0, status: '', retry_count: 0, error: '', continue_and_fork: false, task_folder: '', task_count: 0, ask_prompt: '',
      ask_next_state: '', ask_timeout: '', ask_timeout_next: '', ask_id: '', ask_file_affordance: null, ask_staged_files: [], stack: null };
    const text = formatRunState(parseRunState(JSON.stringify({ workflow_id: 'w', scope_dir: '/s', agents: [empty], fork_counters: {}, launch_params: null, resolved_inputs: null }), 'x'));
    assert.deepEqual([...text.matchAll(/"(\w+)":/g)].map((match) => match[1]), ['workflow_id', 'scope_dir', 'total_cost_usd', 'budget_usd', 'started_at', 'agents', 'id', 'current_state', 'session_id', 'stack', 'ask_entered_at']);
  });

  for (const [label, text] of Object.entries({ 'half a file': '{"workflow_id": "x"', 'another thing': '[]', 'a stack that is none': '{"workflow_id":"x","scope_dir":"/","agents":[{"id":"a","current_state":"A","stack":[1]}]}', nothing: '' })) {
    it(`${label} is unreadable, with a sentence that says why`, () => {
      assert.throws(() => parseRunState(text, '/x.json'), (error: unknown) => error instanceof Failure && error.kind === 'unreadable-run' && error.message.startsWith('/x.json'));
    });
  }
});

describe('states and workflows by name', () => {
  const scope = (kind: 'folder' | 'yaml', ...names: string[]) => ({ kind, names, path: '/w' });
  const resolve = (kind: 'folder' | 'yaml', name: string, platform: 'posix' | 'windows', ...names: string[]): string => {
    const found = resolveState(scope(kind, ...names), name, platform);
    return 'name' in found ? found.name : found.error;
  };

  it('a name means the model state or the script of the platform', () => {
    assert.equal(resolve('folder', 'A', 'posix', 'A.md', 'A.bat'), 'A.md');
    assert.equal(resolve('folder', 'A', 'posix', 'A.sh', 'A.bat', 'A.ps1'), 'A.sh');
    assert.equal(resolve('folder', 'A', 'windows', 'A.sh', 'A.bat'), 'A.bat');
    assert.equal(resolve('folder', 'A', 'posix', 'A.md', 'A.sh'), 'ambiguous');
    assert.equal(resolve('folder', 'A', 'windows', 'A.ps1', 'A.bat'), 'ambiguous');
    assert.equal(resolve('folder', 'A', 'posix', 'A.bat'), 'other-platform');
    assert.equal(resolve('folder', 'A.bat', 'posix', 'A.bat'), 'other-platform');
    assert.equal(resolve('folder', 'A.txt', 'posix', 'A.txt'), 'A.txt');
    assert.equal(resolve('folder', 'A.md', 'posix', 'A.sh'), 'missing');
    assert.equal(resolve('folder', 'a', 'posix', 'A.md'), 'missing');
    assert.equal(resolve('yaml', 'A.md', 'posix', 'A.sh'), 'A.sh');
    assert.equal(resolve('yaml', 'A', 'posix', 'A.sh'), 'A.sh');
  });

  it('a workflow starts at 1_START or START, and not at both', () => {
    const entry = (...names: string[]): string => { const found = findEntry({ names }, 'posix'); return 'name' in found ? found.name : found.error; };
    assert.deepEqual([entry('1_START.md', 'A.md'), entry('START.sh', 'START.bat'), entry('START.md', '1_START.md'), entry('BEGIN.md')], ['1_START.md', 'START.sh', 'ambiguous', 'missing']);
  });

  it('a specifier is counted from the scope, a YAML file standing for the folder of its name', () => {
    const reader = memoryReader({
      '/flows/child/1_START.md': 'x', '/flows/child/REVIEW.sh': 'x', '/flows/one.yaml': 'states:\n  START: { prompt: x }\n  REVIEW: { sh: x }\n', '/flows/pack.zip': 'PK', '/flows/empty/A.md': 'x',
    });
    const found = (from: string, specifier: string): unknown => resolveSpecifier(reader, from, specifier, 'posix');
    const child = { scope_dir: '/flows/child', entry: '1_START.md', abbrev: 'child' };
    for (const specifier of ['../child', '../child/', '/flows/child', '../caller/../child']) assert.deepEqual(found('/flows/caller', specifier), child, specifier);
    assert.deepEqual(found('/flows/caller.yaml', '../child'), child);
    assert.deepEqual(found('/flows/caller', '../child/REVIEW'), { scope_dir: '/flows/child', entry: 'REVIEW.sh', abbrev: 'child' });
    assert.deepEqual(found('/flows/caller', '../child/REVIEW.sh'), { scope_dir: '/flows/child', entry: 'REVIEW.sh', abbrev: 'REVIEW' });
    assert.deepEqual(found('/flows/caller', '../one.yaml'), { scope_dir: '/flows/one.yaml', entry: 'START.md', abbrev: 'one' });
    assert.deepEqual(found('/flows/caller', '../one.yaml/REVIEW'), { scope_dir: '/flows/one.yaml', entry: 'REVIEW.sh', abbrev: 'one' });
    for (const specifier of ['../nowhere/deep/X', '../pack.zip', '../pack.zip/START', 'https://example.com/x.zip', '../empty', '../child/NO']) {
      assert.deepEqual(Object.keys(found('/flows/caller', specifier) as object), ['error'], specifier);
    }
  });

  it('.raymond is searched upward, not above .git', () => {
    const reader = memoryReader({ '/a/.raymond/state/x.json': '', '/a/b/.git/HEAD': '', '/a/b/c/d/x': '', '/a/e/x': '', '/a/f/.git': 'gitdir: x', '/a/f/.raymond/x': '' });
    assert.deepEqual(['/a/e', '/a', '/a/b/c/d', '/a/f', '/z'].map((start) => findRaymond(reader, start)), ['/a/.raymond', '/a/.raymond', undefined, '/a/f/.raymond', undefined]);
  });
});

describe('who executes a run', () => {
  it('is read off the command line of ray', () => {
    const command = (line: string): unknown => parseRayCommand(line.split(' '));
    assert.deepEqual(command('/usr/bin/ray wf --budget 3'), { id: undefined });
    assert.deepEqual(command('ray --resume nightly --no-wait'), { id: 'nightly' });
    assert.deepEqual(command('ray wf --workflow-id=w1'), { id: 'w1' });
    for (const other of ['ray lint wf', 'ray serve --launch', 'ray --list', 'ray --status w1', 'ray', 'python3 ray wf', 'xray wf']) assert.equal(command(other), undefined, other);
  });

  it('ages are said as a person says them', () => {
    assert.deepEqual([0, 20_000, 119_000, 300_000, 10_800_000, 12 * 86_400_000].map(ageOf), ['0 s', '20 s', '119 s', '5 min', '3 h', '12 days']);
  });
});

describe('workflow diagram', () => {
  const draw = (files: Record<string, string>): string => {
    const { scope, start } = openWorkflow(memoryReader(Object.fromEntries(Object.entries(files).map(([name, text]) => [path.join('/w', name), text]))), '/w', 'posix');
    return drawWorkflow(scope, 'posix', start);
  };

  it('draws resets dotted and traces a result through them to the return of the call', () => {
    assert.equal(draw({
      '1_START.md': '<call return="AFTER" input="x">LOOP</call>', 'LOOP.md': '<reset>CHECK</reset>', 'CHECK.sh': 'echo "<reset>LOOP</reset><result>x</result>"',
      'AFTER.md': '<ask next="END" timeout_next="GONE">a|b?</ask>', 'END.md': '<fork next="END">WORK</fork> <fork-workflow next="END">../sub</fork-workflow>', 'WORK.md': '<result>x</result>',
    }), [
      'flowchart TD', '    __start__((" "))', '    __start__ --> 1_START', '    1_START["1_START"]', '    AFTER["AFTER"]', '    CHECK{{"CHECK"}}', '    END_["END"]', '    LOOP["LOOP"]', '    WORK["WORK"]',
      '    GONE["GONE"]', '    xwf____sub[["../sub"]]', '    __end_1__((" "))',
      '    1_START -->|call #91;input#93;| LOOP', '    AFTER -->|ask| END_', '    AFTER -.->|ask timeout| GONE', '    CHECK -.->|reset| LOOP', '    END_ -.->|fork| WORK', '    END_ -->|next| END_', '    END_ -.->|fork-workflow| xwf____sub',
      '    LOOP -.->|reset| CHECK', '    CHECK -.->|return #40;1_START#41;| AFTER', '    WORK -->|result| __end_1__', '    style GONE stroke-dasharray: 5 5', '',
    ].join('\n'));
  });

  it('keeps two states of one name apart and lets no name speak Mermaid', () => {
    const text = draw({ 'START.md': '<call-workflow return="A.md">../x"]; click a "javascript:1</call-workflow>', 'A.md': '<result>x</result>', 'A.sh': 'echo "<goto>A.md</goto>"' });
    assert.match(text, /^ {4}A\["A"\]$/m);
    assert.match(text, /^ {4}A_sh\{\{"A"\}\}$/m);
    assert.match(text, /\[\["\.\.\/x#quot;#93;#59; click a #quot;javascript:1"\]\]/);
  });
});
