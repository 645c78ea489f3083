import assert from 'node:assert/strict';
import { plain, plural, table, terminalOf } from '../../src/cli/output';

function streams(isTTY: boolean): { out: string[]; err: string[]; stdout: { write(text: string): void; isTTY: boolean }; stderr: { write(text: string): void; isTTY: boolean } } {
  const [out, err]: [string[], string[]] = [[], []];
  return { out, err, stdout: { write: (text) => { out.push(text); }, isTTY }, stderr: { write: (text) => { err.push(text); }, isTTY } };
}

describe('output', () => {
  it('colours only a terminal that wants it', () => {
    const paint = (isTTY: boolean, env: Record<string, string>, json = false): boolean => { const { stdout, stderr } = streams(isTTY); return terminalOf(stdout, stderr, env, json).paint('red', 'x') !== 'x'; };
    assert.equal(paint(true, {}), true);
    assert.equal(paint(true, { NO_COLOR: '' }), true, 'an empty NO_COLOR is none');
    for (const [isTTY, env, json] of [[false, {}, false], [true, { NO_COLOR: '1' }, false], [true, { TERM: 'dumb' }, false], [true, {}, true]] as const) assert.equal(paint(isTTY, env, json), false);
  });

  it('with --json is one document on standard output; lines for a person are not there', () => {
    const { out, err, stdout, stderr } = streams(false);
    const terminal = terminalOf(stdout, stderr, {}, true);
    terminal.line('for a person');
    terminal.document({ a: 1 });
    terminal.progress(1, 2, 'x');
    terminal.error('e');
    assert.deepEqual(JSON.parse(out.join('')), { a: 1 });
    assert.deepEqual(err, ['{"progress":{"done":1,"total":2,"item":"x"}}\n', 'e\n']);
  });

  it('shows a bar for what is long, on a terminal only, and takes it away before anything else is written', () => {
    const here = streams(true);
    const terminal = terminalOf(here.stdout, here.stderr, {}, false);
    terminal.progress(1, 5);
    assert.deepEqual(here.err, [], 'five are not long');
    terminal.progress(10, 20);
    assert.match(here.err.join(''), /\[#{15}\.{15}\] 10\/20$/);
    terminal.line('done');
    assert.equal(here.err.at(-1), '\r\u001b[K');
    terminal.progress(20, 20);
    assert.equal(here.err.at(-1), '\r\u001b[K', 'a full bar goes by itself');
    const file = streams(false);
    terminalOf(file.stdout, file.stderr, {}, false).progress(10, 20);
    assert.deepEqual(file.err, []);
  });

  it('makes what comes from files harmless, and leaves other text', () => {
    assert.equal(plain('a\u001b[2Jb\nc\r\u202ed\u0007\u009b'), 'a\\u001b[2Jb\\u000ac\\u000d\\u202ed\\u0007\\u009b');
    assert.equal(plain('é \u4e2d \u{1f600} #15'), 'é \u4e2d \u{1f600} #15');
  });

  it('pads columns to the widest cell, without spaces at the end', () => {
    assert.deepEqual(table([['A', 'BB', 'C'], ['aaa', 'b', ''], ['a', '', 'c\n']]), ['A    BB  C', 'aaa  b', 'a        c\\u000a']);
    assert.deepEqual(table([]), []);
    assert.deepEqual(table([['x', 'y']], (row, column, cell) => `<${String(row)}${String(column)}${cell}>`), ['<00x>  <01y>']);
  });

  it('counts in words', () => {
    assert.deepEqual([plural(0, 'item'), plural(1, 'item'), plural(2, 'repository', 'repositories')], ['0 items', '1 item', '2 repositories']);
  });
});
