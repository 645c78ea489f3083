import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { appendOnce, endOf } from '../../src/core/disk/append';
import type { Failure } from '../../src/core/disk/failure';
import { makePlace, type Place } from '../support/program';

describe('appending once', () => {
  let place: Place;
  let file: string;
  beforeEach(() => { place = makePlace(); file = path.join(place.work, 'logs', 'log.jsonl'); fs.mkdirSync(path.dirname(file)); });
  afterEach(() => { place.remove(); });

  const ours = '{"plan":"p","n":1}\n{"plan":"p","n":2}\n';
  const append = (offset: number, more: { exclusive?: boolean } = {}) => appendOnce({ file, offset, bytes: Buffer.from(ours), ...more });
  const text = (): string => fs.readFileSync(file, 'utf8');

  // The rows of design §3, each with what stands behind the offset before, what is there after, and what is said.
  const rows: [name: string, behind: string, after: string, said: 'done' | 'already'][] = [
    ['the file ends at the offset', '', ours, 'done'],
    ['all of it is there', ours, ours, 'already'],
    ['a beginning of it is there', ours.slice(0, 7), ours, 'done'],
    ['the first line of it is there', ours.slice(0, 19), ours, 'done'],
    ['all but the last byte of it is there', ours.slice(0, -1), ours, 'done'],
    ['others appended meanwhile', 'other\n', `other\n${ours}`, 'done'],
    ['others appended a line without its end', 'oth', `oth\n${ours}`, 'done'],
    ['others appended before and behind all of ours', `a\n${ours}b\n`, `a\n${ours}b\n`, 'already'],
    ['others appended behind all of ours', `${ours}b\n`, `${ours}b\n`, 'already'],
    ['others appended behind a whole line of ours', `${ours.slice(0, 19)}b\n`, `${ours.slice(0, 19)}b\n${ours.slice(19)}`, 'done'],
    ['others appended behind a torn line of ours', `${ours.slice(0, 5)}\nb\n`, `${ours.slice(0, 5)}\nb\n${ours}`, 'done'],
  ];
  for (const [name, behind, after, said] of rows) {
    it(`${name}: ${said}, and once more changes nothing`, () => {
      fs.writeFileSync(file, `first\n${behind}`);
      assert.equal(append(6), said);
      assert.equal(text(), `first\n${after}`);
      assert.equal(append(6), 'already');
      assert.equal(text(), `first\n${after}`);
    });
  }

  it('makes a log that is not there, for its owner only', () => {
    fs.rmSync(path.dirname(file), { recursive: true });
    assert.equal(append(0), 'done');
    assert.equal(text(), ours);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  });

  it('refuses a log that has shrunk, and leaves it', () => {
    fs.writeFileSync(file, 'short\n');
    assert.throws(() => append(100), (error: Failure) => error.kind === 'changed');
    assert.equal(text(), 'short\n');
  });

  it('exclusive: refuses behind what others appended, finishes a beginning of its own', () => {
    fs.writeFileSync(file, 'first\nother\n');
    assert.throws(() => append(6, { exclusive: true }), (error: Failure) => error.kind === 'changed');
    assert.equal(text(), 'first\nother\n');
    fs.writeFileSync(file, `first\n${ours.slice(0, 9)}`);
    assert.equal(append(6, { exclusive: true }), 'done');
    assert.equal(text(), `first\n${ours}`);
  });

  it('follows no link and takes no folder for a log', () => {
    const victim = path.join(place.top, 'victim');
    fs.writeFileSync(victim, 'v\n');
    fs.symlinkSync(victim, file);
    assert.throws(() => append(0));
    assert.equal(fs.readFileSync(victim, 'utf8'), 'v\n');
    fs.rmSync(file);
    fs.mkdirSync(file);
    assert.throws(() => append(0));
  });

  it('knows where a log ends and whether its last line is whole', () => {
    assert.deepEqual(endOf(file), { size: 0, endsWithNewline: true });
    for (const [content, whole] of [['', true], ['a\n', true], ['a', false]] as const) {
      fs.writeFileSync(file, content);
      assert.deepEqual(endOf(file), { size: content.length, endsWithNewline: whole });
    }
  });
});
