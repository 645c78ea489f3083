import assert from 'node:assert/strict';
import path from 'node:path';
import { Failure } from '../../src/core/disk/failure';
import { lintWorkflow } from '../../src/core/workflow/lint';
import { memoryReader } from '../support/memoryReader';

const CALL = '<call return="AFTER">LOOP</call>';
const RESULT = '<result>done</result>';

function lint(files: Record<string, string>, target = '/w', platform: 'posix' | 'windows' = 'posix'): string[] {
  return lintWorkflow(memoryReader(files), target, platform)
    .map(({ severity, check, file, line, column, endColumn }) => `${severity} ${check} ${file}:${String(line)}:${String(column)}-${String(endColumn)}`);
}

function folder(files: Record<string, string>): string[] {
  return lint(Object.fromEntries(Object.entries(files).map(([name, text]) => [path.join('/w', name), text])));
}

/** A main state and a callee that is otherwise in order. */
const around = (files: Record<string, string>): Record<string, string> => ({ '1_START.md': CALL, 'AFTER.md': RESULT, ...files });
const policy = (...lines: string[]): string => `---\nallowed_transitions:\n${lines.map((line) => `  - ${line}\n`).join('')}---\n`;

// Each workflow has one fault: the check, its severity, and the place of the tag or key that has to be changed.
const faults: Record<string, [files: Record<string, string>, expected: string]> = {
  'no start': [{ 'A.md': RESULT }, 'error no-entry-point /w:1:1-1'],
  'two starts': [{ '1_START.md': '<goto>START.sh</goto>', 'START.sh': RESULT }, 'error ambiguous-entry-point /w/START.sh:1:1-1'],
  'front matter that is no YAML': [{ 'START.md': `---\nmodel: [opus\n---\n${RESULT}` }, 'error frontmatter-parse-error /w/START.md:2:1-13'],
  'a model that does not exist': [{ 'START.md': `---\neffort: high\nmodel: gpt\n---\n${RESULT}` }, 'error invalid-model /w/START.md:3:8-11'],
  'an effort that does not exist': [{ 'START.md': `---\neffort: extreme\n---\n${RESULT}` }, 'error invalid-effort /w/START.md:2:9-16'],
  'a key that nothing reads': [{ 'START.md': `---\nmodle: opus\n---\n${RESULT}` }, 'warning unknown-field /w/START.md:2:1-6'],
  'a target that is not there': [{ 'START.md': `If all is well:\n  <goto>NOWHERE</goto> or ${RESULT}` }, 'error missing-target /w/START.md:2:3-9'],
  'a return that is not there': [{ 'START.md': '<call return="NOWHERE">B</call>', 'B.md': RESULT }, 'error missing-target /w/START.md:1:1-24'],
  'a call without return': [{ 'START.md': '<call>B</call>', 'B.md': RESULT }, 'error missing-return /w/START.md:1:1-7'],
  'a fork without next': [{ 'START.md': `<fork>B</fork>`, 'B.md': RESULT }, 'error missing-fork-next /w/START.md:1:1-7'],
  'an ask without next': [{ 'START.md': '<ask>Which?</ask>' }, 'error missing-ask-next /w/START.md:1:1-6'],
  'a name that can be two states': [{ 'START.md': '<goto>B</goto> <goto>B.md</goto> <goto>B.sh</goto>', 'B.md': RESULT, 'B.sh': RESULT }, 'error ambiguous-state-resolution /w/START.md:1:1-7'],
  'force_implicit with a choice': [{ 'START.md': `---\nforce_implicit: true\nallowed_transitions:\n  - tag: result\n---\n` }, 'error force-implicit-invalid /w/START.md:2:17-21'],
  'a task that is no task': [{ 'START.md': '<reset task="refactor">START</reset>' }, 'error invalid-task-value /w/START.md:1:1-24'],
  'task on a goto': [{ 'START.md': '<goto task="new">B</goto>', 'B.md': RESULT }, 'error unsupported-task-attribute /w/START.md:1:1-18'],
  'task inherit on a reset': [{ 'START.md': '<reset task="inherit">B</reset>', 'B.md': RESULT }, 'error unsupported-task-attribute /w/START.md:1:1-23'],
  'cd on an ask': [{ 'START.md': '<ask next="B" cd="x">Which?</ask>', 'B.md': RESULT }, 'error unsupported-cd-attribute /w/START.md:1:1-22'],
  'cd where it is ignored': [{ 'START.md': '<goto cd="x">B</goto>', 'B.md': RESULT }, 'warning ignored-cd-attribute /w/START.md:1:1-14'],
  'forks that disagree': [{ 'START.md': '<fork next="B">C</fork>\n<fork next="C">C</fork>', 'B.md': RESULT, 'C.md': RESULT }, 'warning fork-next-mismatch /w/START.md:2:1-16'],
  'a fork that only forks': [{ 'START.md': '<fork-workflow>../v</fork-workflow>', '../v/START.md': RESULT }, 'warning fork-workflow-without-next /w/START.md:1:1-16'],
  'a workflow that is not there': [{ 'START.md': '<reset-workflow>../v</reset-workflow>' }, 'warning unresolved-workflow /w/START.md:1:1-17'],
  'a choice nobody hears of': [{ 'START.md': `${policy('{ tag: goto, target: B.md }', '{ tag: goto, target: C.md }')}Go to B.`, 'B.md': RESULT, 'C.md': RESULT }, 'warning unused-allowed-transition /w/START.md:4:5-32'],
  'a state nothing leads to': [{ 'START.md': RESULT, 'B.md': RESULT }, 'warning unreachable-state /w/B.md:1:1-1'],
  'a dead end': [{ 'START.md': '<goto>B</goto>', 'B.md': 'Just do it.' }, 'warning dead-end-state /w/B.md:1:1-1'],
  'a transition that happens by itself': [{ 'START.md': `${policy('{ tag: reset, target: START.md }')}Poll.` }, 'info implicit-transition /w/START.md:3:5-37'],
  'a script that says nothing': [{ 'START.sh': 'exec ./next' }, 'info script-state-no-static-analysis /w/START.sh:1:1-1'],

  'a callee that never returns': [around({ 'LOOP.md': '<reset>LOOP</reset>' }), 'warning call-without-result-path /w/1_START.md:1:1-22'],
  'a callee that waits for one that never returns': [
    around({ 'LOOP.md': '<function return="BACK">DEEP</function>', 'BACK.md': RESULT, 'DEEP.md': '<goto>DEEPER</goto>', 'DEEPER.md': '<reset>DEEP</reset>' }),
    'warning call-without-result-path /w/LOOP.md:1:1-25'],
  'a loop of gotos in a callee': [around({ 'LOOP.md': `Not done:\n <goto>LOOP</goto>\nDone: ${RESULT}` }), 'warning growing-context /w/LOOP.md:2:2-8'],
  'a loop of gotos over three states': [
    around({ 'LOOP.md': '<goto>CHECK</goto>', 'CHECK.sh': 'echo "<goto>FIX</goto>"', 'FIX.md': `<goto>LOOP</goto> ${RESULT}` }), 'warning growing-context /w/FIX.md:1:1-7'],
  'a loop of gotos behind a return': [
    around({ 'LOOP.md': '<function return="BACK">DEEP</function>', 'DEEP.md': RESULT, 'BACK.md': `<goto>BACK</goto> ${RESULT}` }), 'warning growing-context /w/BACK.md:1:1-7'],
  'reset-workflow in a callee': [around({ 'LOOP.md': '<reset-workflow>/v</reset-workflow>', '../v/START.md': RESULT }), 'warning reset-workflow-in-callee /w/LOOP.md:1:1-17'],
  'cd on a reset in a callee': [around({ 'LOOP.md': `<reset cd="../tree">LOOP</reset> ${RESULT}` }), 'warning reset-cd-in-callee /w/LOOP.md:1:1-21'],
  'cd on a reset in a callee, as a policy': [around({ 'LOOP.md': `${policy('{ tag: result }', '{ tag: reset, target: LOOP.md, cd: tree }')}LOOP or not` }), 'warning reset-cd-in-callee /w/LOOP.md:4:5-46'],
  'a workflow that is called and never returns': [
    { 'START.md': '<call-workflow return="B">../v</call-workflow>', 'B.md': RESULT, '../v/START.md': '<reset>START</reset>' }, 'warning call-without-result-path /w/START.md:1:1-27'],
  'a loop of gotos in a workflow that a called one calls': [
    { 'START.md': '<call-workflow return="B">../v</call-workflow>', 'B.md': RESULT, '../v/START.md': '<function-workflow return="B">../u/LOOP</function-workflow>', '../v/B.md': RESULT, '../u/LOOP.md': `Again:\n<goto>LOOP</goto> ${RESULT}` },
    'warning growing-context /u/LOOP.md:2:1-7'],
  'reset-workflow in a workflow that is called': [
    { 'START.md': '<function-workflow return="B">../v</function-workflow>', 'B.md': RESULT, '../v/START.md': '<reset-workflow>../v</reset-workflow>' }, 'warning reset-workflow-in-callee /v/START.md:1:1-17'],
};

const clean: Record<string, Record<string, string>> = {
  'a loop with reset in a callee': around({ 'LOOP.md': `<reset>LOOP</reset> ${RESULT}` }),
  'phases in a callee': around({ 'LOOP.md': '<reset>TWO</reset>', 'TWO.sh': 'echo "<reset>THREE</reset>"', 'THREE.md': RESULT }),
  'a callee that returns through a nested call': around({ 'LOOP.md': '<call return="BACK">DEEP</call>', 'DEEP.md': RESULT, 'BACK.md': RESULT }),
  'a callee that returns through an ask': around({ 'LOOP.md': '<ask next="BACK">Which?</ask>', 'BACK.md': RESULT }),
  'a callee that returns through a fork': around({ 'LOOP.md': '<fork next="BACK">WORK</fork>', 'WORK.md': '<result></result>', 'BACK.md': RESULT }),
  'a callee that returns out of a called workflow': around({ 'LOOP.md': '<function-workflow return="BACK" cd="x">../v</function-workflow>', 'BACK.md': RESULT, '../v/START.md': RESULT }),
  'workflows that call each other in a circle and return': { 'START.md': `<call-workflow return="B">../v</call-workflow> ${RESULT}`, 'B.md': RESULT, '../v/START.md': `<call-workflow return="B">../w</call-workflow> ${RESULT}`, '../v/B.md': RESULT },
  'a loop of gotos outside of calls': { 'START.md': `<goto>START</goto> ${RESULT}` },
  'a loop of scripts alone': around({ 'LOOP.sh': `sleep 1\necho "<goto>LOOP</goto>" || echo "${RESULT}"` }),
  'a goto round broken by a reset': around({ 'LOOP.md': `<goto>CHECK</goto> ${RESULT}`, 'CHECK.md': '<reset>LOOP</reset>' }),
  'reset-workflow outside of calls': { 'START.md': '<reset-workflow>../v</reset-workflow>', '../v/START.md': RESULT },
  'cd on a reset outside of calls': { 'START.md': `<reset cd="x">B</reset>`, 'B.md': RESULT },
  'a name only known when it runs': { 'START.sh': 'echo "<goto>$NEXT</goto>"', 'A.md': RESULT, 'B.md': RESULT },
  'escaped quotes in a script': { 'START.sh': 'echo "<call return=\\"B\\">C</call>"', 'B.md': RESULT, 'C.md': RESULT },
  'forks of one output': { 'START.md': '<fork next="B">C</fork><fork>C</fork><fork-workflow>../v</fork-workflow>', 'B.md': RESULT, 'C.md': RESULT, '../v/START.md': RESULT },
  'windows line ends, a README, a comment in a result': { 'START.md': `---\r\nmodel: Opus\r\n---\r\nGo.\r\n<result>see <goto>X</goto></result>\r\n`, 'README.md': '<goto>X</goto>' },
};

describe('workflow lint', () => {
  for (const [label, [files, expected]] of Object.entries(faults)) it(`says once: ${label}`, () => { assert.deepEqual(folder(files), [expected]); });
  for (const [label, files] of Object.entries(clean)) it(`says nothing: ${label}`, () => { assert.deepEqual(folder(files), []); });

  it('places tags of a YAML workflow in its own lines, whatever way the text is written', () => {
    const text = [
      'id: demo', 'colour: red', 'states:', '  START:', '    model: gpt', '    prompt: |', '      Think <result>of <goto>this</goto></result>.', '      Then', '        <goto>ONE</goto> or <goto>TWO</goto>', '  ONE:',
      '    prompt: "quoted \\"and\\" <goto>THREE</goto>"', '  TWO:', '    sh: >-', '      echo', '      "<goto>FOUR</goto>"', '    model: opus', '  FIVE: no', '',
    ].join('\n');
    assert.deepEqual(lint({ '/w/demo.yaml': text }, '/w/demo.yaml'), [
      'error invalid-model /w/demo.yaml:5:12-15', 'error invalid-state /w/demo.yaml:12:3-6', 'error invalid-state /w/demo.yaml:17:3-7',
      'error missing-target /w/demo.yaml:11:29-35', 'error missing-target /w/demo.yaml:15:8-14', 'warning unknown-field /w/demo.yaml:2:1-7',
    ]);
  });

  it('says where a YAML workflow cannot be read', () => {
    assert.deepEqual(lint({ '/w/demo.yml': 'states:\n  START:\n    prompt: "a\n' }, '/w/demo.yml').map((line) => line.split('-')[0]), ['error no', 'error workflow']);
  });

  it('starts at the state that is named, or in a YAML workflow', () => {
    const files = { '/w/A.md': '<goto>B</goto>', '/w/B.md': RESULT, '/w/C.md': RESULT, '/w/x.yaml': 'states:\n  A: { prompt: "<goto>B</goto>" }\n  B: { prompt: "<result>x</result>" }\n' };
    assert.deepEqual(lint(files, '/w/A.md'), ['warning unreachable-state /w/C.md:1:1-1']);
    assert.deepEqual(lint(files, '/w/A'), ['warning unreachable-state /w/C.md:1:1-1']);
    assert.deepEqual(lint(files, '/w/x.yaml/A'), []);
  });

  it('looks at the scripts of the platform', () => {
    const files = { '/w/START.md': '<goto>B</goto>', '/w/B.ps1': `echo "${RESULT}"`, '/w/B.sh': `echo "<goto>NOWHERE</goto>"` };
    assert.deepEqual(lint(files, '/w', 'windows'), []);
    assert.deepEqual(lint(files), ['error missing-target /w/B.sh:1:7-13']);
  });

  it('refuses an archive and an address with what to do, and a place without a workflow', () => {
    const kindOf = (target: string): [string, number] => {
      try { lint({ '/w/a.zip': 'PK', '/w/b.yaml': 'a: 1' }, target); } catch (error) { if (error instanceof Failure) { assert.ok(error.hint.length > 10); return [error.kind, error.exitCode]; } throw error; }
      return ['none', 0];
    };
    assert.deepEqual(['/w/a.zip', '/w/a.zip/START', 'https://example.com/a.zip', '/nowhere', '/w/b.yaml', '/w/X'].map(kindOf), [
      ['unsupported-scope', 2], ['unsupported-scope', 2], ['unsupported-scope', 2], ['no-workflow', 1], ['no-workflow', 1], ['no-workflow', 1],
    ]);
  });

  it('shows a state that is a link as unreadable instead of following it', () => {
    assert.deepEqual(lint({ '/w/START.md': 'link!' }), ['error unreadable-state /w/START.md:1:1-1']);
  });
});
