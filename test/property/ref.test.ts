import assert from 'node:assert/strict';
import fc from 'fast-check';
import { byCodePoint, parseRef, tryRef } from '../../src/core/workItems/ref';

const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/);
const number = fc.stringMatching(/^0{0,3}(?:0|[1-9][0-9]{0,24})$/);

describe('refs, any', () => {
  it('are read back from their canonical text as themselves', () => {
    fc.assert(fc.property(fc.constantFrom('github', 'jira', 'g-1'), fc.option(fc.constantFrom('github.com', 'ghe.corp', 'h:1')), name, name, number, (provider, host, owner, repo, digits) => {
      const ref = parseRef(`${provider}:${host ? `${host}/` : ''}${owner}/${repo}#${digits}`);
      assert.deepEqual(parseRef(ref.ref), ref);
      assert.equal(BigInt(ref.number), BigInt(digits));
      assert.match(ref.slug, /^[A-Za-z0-9._-]+-\d+$/);
    }));
  });

  it('never throw from tryRef, and what it takes stays itself and names a plain file', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })).map(([a, b]) => `github:${a}/${b}#1`)), (text) => {
      const ref = tryRef(text);
      if (!ref) return;
      assert.deepEqual(tryRef(ref.ref), ref);
      assert.match(ref.slug, /^[A-Za-z0-9._-]{1,250}$/);
    }), { numRuns: 2000 });
  });

  it('sort as lists of code points do', () => {
    const points = (text: string) => [...text].map((c) => c.codePointAt(0) ?? 0);
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      const [x, y] = [points(a), points(b)];
      let expected = x.length - y.length;
      for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) { expected = (x[i] ?? 0) - (y[i] ?? 0); break; }
      assert.equal(Math.sign(byCodePoint(a, b)), Math.sign(expected));
    }));
  });
});
