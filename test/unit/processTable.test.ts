import assert from 'node:assert/strict';
import { argumentsOf, childrenOf, lineOf, parsePs, parseStat, processTree, readProcessTable } from '../../src/core/disk/processTable';
import type { ProcessRow } from '../../src/core/disk/processTable';
import { startTimeOf } from '../../src/core/disk/processes';

const rest = '0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 114744 5918720 810\n';
const row = (pid: number, parent: number): ProcessRow => ({ pid, parent, group: pid, session: pid, startTime: '1', stopped: false, name: 'x' });

describe('the table of processes', () => {
  it('reads a line of /proc whose name holds spaces and parentheses', () => {
    assert.deepEqual(parseStat(`4711 (a) b (c) T 12 13 14 ${rest}`), { pid: 4711, parent: 12, group: 13, session: 14, startTime: '114744', stopped: true, name: 'a) b (c' });
  });

  it('leaves out zombies and texts of another form', () => {
    for (const text of [`1 (x) Z 1 1 1 ${rest}`, `1 (x) X 1 1 1 ${rest}`, '', 'no process', '1 (x) S 1 1 1', '(x) S 1']) assert.equal(parseStat(text), undefined, text);
  });

  it('reads ps of a system without /proc', () => {
    const text = '    1     0     1 Ss   Mon Nov 30 19:27:11 2026\n  501   1 501 T+   Tue Dec  1 09:07:01 2026    \n  502 501 501 Z    Tue Dec  1 09:07:02 2026\nodd\n';
    assert.deepEqual(parsePs(text).map(({ pid, parent, group, startTime, stopped }) => [pid, parent, group, startTime, stopped]), [
      [1, 0, 1, 'Mon Nov 30 19:27:11 2026', false],
      [501, 1, 501, 'Tue Dec  1 09:07:01 2026', true],
    ]);
  });

  it('gives trees parents first, also where the table contradicts itself', () => {
    const table = new Map([row(1, 0), row(30, 20), row(20, 10), row(10, 1), row(40, 20), row(60, 50), row(50, 60)].map((each) => [each.pid, each]));
    assert.deepEqual(processTree(table, 10).map(({ pid }) => pid), [10, 20, 30, 40]);
    assert.deepEqual(processTree(table, 99), []);
    assert.deepEqual(processTree(table, 50, childrenOf(table)).map(({ pid }) => pid), [50, 60]);
    assert.deepEqual([...lineOf(table, 30)], [30, 20, 10, 1]);
    assert.deepEqual([...lineOf(table, 50)], [50, 60]);
    assert.deepEqual([...lineOf(table, 99)], [99]);
  });

  it('of this machine holds this process, with the start time that others see', () => {
    const table = readProcessTable();
    assert.equal(table.get(process.pid)?.startTime, startTimeOf(process.pid));
    assert.equal(table.get(process.pid)?.parent, process.ppid);
    assert.ok(lineOf(table, process.pid).has(process.ppid));
    assert.ok(argumentsOf(process.pid).join(' ').includes('mocha'));
  });
});
