import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openQuestions, readEvents } from '../../src/core/events/eventLog';
import { matches, matchesPattern, parseLevel, parseSince, type LoggedEvent } from '../../src/core/events/filter';
import { followEvents } from '../../src/core/events/follow';
import { Failure } from '../../src/core/disk/failure';

const line = (n: number, more: object = {}) => `${JSON.stringify({ ts: new Date(Date.UTC(2026, 7, 4, 9, 0, n)).toISOString(), source: 's', event: 'session.reset', level: 'info', pid: 1, n, ...more })}\n`;

describe('the event log', () => {
  let dir: string;
  let log: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-events-'));
    log = path.join(dir, 'events.jsonl');
  });
  afterEach(() => { fs.rmSync(dir, { recursive: true }); });
  const numbers = (events: LoggedEvent[]) => events.map((event) => event['n']);

  it('is empty when it is not there', () => {
    assert.deepEqual(readEvents(log, {}), { events: [], problems: [], end: 0 });
    assert.deepEqual(readEvents(path.join(log, 'below'), {}, 5), { events: [], problems: [], end: 0 });
  });

  it('is read past what is broken, each broken line named', () => {
    const text = `${line(1)}\n{ broken\n${line(2)}   \n[1]\n"text"\n${line(3)}{"torn": `;
    fs.writeFileSync(log, text);
    const problems = [{ line: 3, message: 'it is no JSON' }, { line: 6, message: 'it is no JSON object' }, { line: 7, message: 'it is no JSON object' }, { line: 9, message: 'it is not finished' }];
    const end = Buffer.byteLength(text) - '{"torn": '.length;
    for (const limit of [Infinity, 100]) {
      const page = readEvents(log, {}, limit);
      assert.deepEqual([numbers(page.events), page.problems, page.end], [[1, 2, 3], problems, end]);
    }
    const last = readEvents(log, {}, 1);
    assert.deepEqual([numbers(last.events), last.problems], [[3], problems.slice(3)]);
    assert.deepEqual(readEvents(log, {}, 0), { events: [], problems: [], end });
    fs.writeFileSync(log, line(1).trimEnd());
    assert.deepEqual(numbers(readEvents(log, {}).events), [1], 'a last line that lacks only its newline counts');
  });

  it('is cut into lines wherever the reading is cut', () => {
    const lines = Array.from({ length: 40 }, (_, i) => line(i, { pad: 'é'.repeat((i * 7919) % 20_000) }));
    fs.writeFileSync(log, lines.join(''));
    const all = Array.from({ length: 40 }, (_, i) => i);
    assert.deepEqual(numbers(readEvents(log, {}).events), all);
    assert.deepEqual(numbers(readEvents(log, {}, 40).events), all);
    assert.deepEqual(numbers(readEvents(log, {}, 7).events), all.slice(33));
  });

  it('is not loaded whole for its end, nor a line that is too long', () => {
    const big = fs.openSync(log, 'w');
    fs.writeSync(big, line(1));
    fs.ftruncateSync(big, 3 * 1024 * 1024 * 1024); // a hole: one line of 3 GB without a newline
    fs.writeSync(big, `\n${line(2)}${line(3)}`, 3 * 1024 * 1024 * 1024);
    fs.closeSync(big);
    const before = process.memoryUsage().rss;
    const page = readEvents(log, {}, 2);
    assert.deepEqual([numbers(page.events), page.problems], [[2, 3], []]);
    fs.truncateSync(log, 4 * 1024 * 1024);
    const whole = readEvents(log, {});
    assert.deepEqual([numbers(whole.events), whole.problems], [[1], [{ line: 2, message: 'it is longer than 1 MB' }]]);
    assert.deepEqual(readEvents(log, {}, 5).problems, whole.problems);
    assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
  });

  it('is refused where it is no file', () => {
    fs.mkdirSync(log);
    assert.throws(() => readEvents(log, {}), (error: unknown) => error instanceof Failure && error.kind === 'unsafe-path');
  });

  it('is filtered by type, work item, time and level', () => {
    fs.writeFileSync(log, [line(1, { event: 'session.closed', work_item: 'github:o/r#1' }), line(2, { event: 'poll.cycle', level: 'debug' }), line(3, { work_items: ['github:o/r#1', 'x'], level: 'warning' }),
      line(4, { ts: 'junk', level: 'error' }), line(5, { level: 'loud', ts: '2026-08-04T11:00:05+02:00' }), line(6, { event: 7, work_item: 'github:o/r#10' })].join(''));
    const with_ = (filter: Parameters<typeof readEvents>[1], limit?: number) => numbers(readEvents(log, filter, limit).events);
    assert.deepEqual(with_({ types: ['session.*'] }), [1, 3, 4, 5]);
    assert.deepEqual(with_({ types: ['poll.?ycle', 'session.closed'] }), [1, 2]);
    assert.deepEqual(with_({ workItems: ['github:o/r#1'] }), [1, 3]);
    assert.deepEqual(with_({ since: Date.UTC(2026, 7, 4, 9, 0, 3) }), [3, 5, 6]);
    assert.deepEqual(with_({ level: 'warning' }), [3, 4, 5]);
    assert.deepEqual(with_({ level: 'debug' }), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(with_({ types: ['session.*'] }, 2), [4, 5]);
  });

  it('takes patterns as a whole and in little time', () => {
    const cases: [string, string, boolean][] = [['*', '', true], ['?', '', false], ['a*b', 'ab', true], ['a*b', 'axxb', true], ['a*b', 'abc', false], ['*.x.*', 'a.x.x.b', true], ['a.c', 'abc', false], ['(', '(', true], ['**', 'x', true], ['', '', true], ['', 'a', false]];
    for (const [pattern, text, expected] of cases) assert.equal(matchesPattern(pattern, text), expected, `${pattern} ${text}`);
    const start = performance.now();
    assert.equal(matchesPattern('*a'.repeat(30) + 'b', 'a'.repeat(20_000)), false);
    assert.ok(performance.now() - start < 2000);
    assert.ok(matches({}, {}));
  });

  it('takes times as durations and dates', () => {
    const now = new Date('2026-11-30T18:00:00Z');
    const at = (text: string) => new Date(parseSince(text, now)).toISOString();
    assert.deepEqual(['30s', '15m', '2h', '1d'].map(at), ['2026-11-30T17:59:30.000Z', '2026-11-30T17:45:00.000Z', '2026-11-30T16:00:00.000Z', '2026-11-29T18:00:00.000Z']);
    assert.deepEqual(['2026-08-04', '2026-08-04T09:00', '2026-08-04 09:00:00.5', '2026-08-04T09:00:00+0200', '2026-08-04t09:00:00z'].map(at),
      ['2026-08-04T00:00:00.000Z', '2026-08-04T09:00:00.000Z', '2026-08-04T09:00:00.500Z', '2026-08-04T07:00:00.000Z', '2026-08-04T09:00:00.000Z']);
    for (const text of ['', 'yesterday', '5', '5w', '-5m', '2026-13-01', '2026-08-04T25:00', '1.5h']) assert.throws(() => parseSince(text, now), (error: unknown) => error instanceof Failure && error.exitCode === 2, text);
    assert.equal(parseLevel('error'), 'error');
    assert.throws(() => parseLevel('loud'), Failure);
  });

  it('tells who waits for an answer, from its end alone', () => {
    const ask = (n: number, ref: string, question?: unknown) => line(n, { event: 'session.awaiting_input', work_item: ref, question });
    fs.writeFileSync(log, [ask(1, 'a', 'one?'), ask(2, 'b', 'two?'), line(3, { event: 'session.reply_sent', work_item: 'a' }), '{ "session.awaiting_input" broken\n', ask(4, 'c', 5), ask(5, 'd'), line(6, { event: 'session.reset', work_item: 'd' }),
      line(7, { event: 'note', work_item: 'b', text: '"session.reply_sent"' }), ask(8, 'a', 'three?')].join(''));
    assert.deepEqual([...openQuestions(log)].map(([ref, { question, since }]) => [ref, question, since.slice(17, 19)]), [['b', 'two?', '02'], ['c', '', '04'], ['a', 'three?', '08']]);
    assert.deepEqual([...openQuestions(log, 300).keys()], ['a']);
    assert.deepEqual([...openQuestions(path.join(dir, 'absent'))], []);
    assert.deepEqual([...openQuestions(dir)], []);
  });

  describe('followed', () => {
    const collect = async (change: (seen: unknown[]) => void | Promise<void>, until: number, from?: number) => {
      const stop = new AbortController();
      const seen: unknown[] = [];
      const done = (async () => {
        for await (const event of followEvents(log, {}, { signal: stop.signal, pollMs: 20, ...(from === undefined ? {} : { from }) })) { seen.push(event['n']); if (seen.length >= until) stop.abort(); }
      })();
      await new Promise((resolve) => setTimeout(resolve, 30));
      const timer = setTimeout(() => { stop.abort(); }, 4000);
      await change(seen);
      await done;
      clearTimeout(timer);
      return seen;
    };
    const wait = () => new Promise((resolve) => setTimeout(resolve, 60));

    it('gives what is appended, once it is whole', async () => {
      const text = line(2);
      fs.writeFileSync(log, line(1) + text.slice(0, 10));
      assert.deepEqual(await collect(async (seen) => {
        fs.appendFileSync(log, text.slice(10, 30));
        await wait();
        assert.deepEqual(seen, []);
        fs.appendFileSync(log, `${text.slice(30)}\n{ broken\n${line(3)}`);
      }, 2), [2, 3]);
      assert.deepEqual(await collect(() => undefined, 3, 0), [1, 2, 3]);
    });

    it('goes on when the log is truncated, replaced, removed or not there yet', async () => {
      assert.deepEqual(await collect(async () => {
        fs.writeFileSync(log, line(1) + line(2));
        await wait();
        fs.truncateSync(log, 0);
        await wait();
        fs.appendFileSync(log, line(3));
        await wait();
        fs.renameSync(log, `${log}.1`);
        fs.appendFileSync(`${log}.1`, line(4));
        fs.writeFileSync(log, line(5));
        await wait();
        fs.rmSync(log);
        await wait();
        fs.writeFileSync(log, line(6));
      }, 6), [1, 2, 3, 4, 5, 6]);
    });

    it('ends with the signal, at once', async () => {
      const stop = new AbortController();
      setTimeout(() => { stop.abort(); }, 30);
      const start = performance.now();
      for await (const event of followEvents(log, {}, { signal: stop.signal, pollMs: 60_000 })) assert.fail(JSON.stringify(event));
      assert.ok(performance.now() - start < 3000);
    });
  });
});
