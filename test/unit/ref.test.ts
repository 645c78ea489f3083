import assert from 'node:assert/strict';
import { Failure } from '../../src/core/disk/failure';
import { byCodePoint, parseRef, terminalName, tryRef } from '../../src/core/workItems/ref';

describe('refs', () => {
  const table: [input: string, ref: string, slug: string, url: string | undefined][] = [
    [' github:octo/repo#15\n', 'github:octo/repo#15', 'github-octo-repo-15', 'https://github.com/octo/repo/issues/15'],
    ['github:github.com/octo/repo#15', 'github:octo/repo#15', 'github-octo-repo-15', 'https://github.com/octo/repo/issues/15'],
    ['github:GitHub.com/octo/repo#15', 'github:GitHub.com/octo/repo#15', 'github-GitHub.com-octo-repo-15', 'https://GitHub.com/octo/repo/issues/15'],
    ['github:octo/repo#015', 'github:octo/repo#15', 'github-octo-repo-15', 'https://github.com/octo/repo/issues/15'],
    ['github:octo/repo#0', 'github:octo/repo#0', 'github-octo-repo-0', 'https://github.com/octo/repo/issues/0'],
    ['github:octo/repo#000', 'github:octo/repo#0', 'github-octo-repo-0', 'https://github.com/octo/repo/issues/0'],
    ['github:octo/re po#1', 'github:octo/re po#1', 'github-octo-re-po-1', undefined],
    ['github:é/repo#1', 'github:é/repo#1', 'github---repo-1', undefined],
    ['github:ghe:8443/octo/repo#1', 'github:ghe:8443/octo/repo#1', 'github-ghe-8443-octo-repo-1', 'https://ghe:8443/octo/repo/issues/1'],
    ['github:ghe.corp.example/octo/repo.js#7', 'github:ghe.corp.example/octo/repo.js#7', 'github-ghe.corp.example-octo-repo.js-7', 'https://ghe.corp.example/octo/repo.js/issues/7'],
    ['jira:jira.corp.example/A/B#1', 'jira:A/B#1', 'jira-A-B-1', undefined],
    ['github:../..#1', 'github:../..#1', 'github-..-..-1', 'https://github.com/../../issues/1'],
    ['github:octo/re\u0000po#1', 'github:octo/re\u0000po#1', 'github-octo-re-po-1', undefined],
    ['github:octo/repo#99999999999999999999', 'github:octo/repo#99999999999999999999', 'github-octo-repo-99999999999999999999', 'https://github.com/octo/repo/issues/99999999999999999999'],
  ];
  for (const [input, ref, slug, url] of table) {
    it(`reads ${JSON.stringify(input)}`, () => {
      const found = parseRef(input);
      assert.deepEqual([found.ref, found.slug, found.url], [ref, slug, url]);
    });
  }

  for (const input of ['GitHub:o/r#1', 'github:o#1', 'github:o/r/sub#1', 'github:o/r#1x', 'nonsense', '', ' ', '-rf', 'github:octo/repo#٢١', 'github:/etc/passwd#1',
    'github:o/r/#1', 'github://r#1', 'github:a.b/c.d/o/r#1', 'github:o/r#', 'github:o/r#-1', 'github:o/r##1', 'github:-/o/r#1']) {
    it(`refuses ${JSON.stringify(input)}`, () => {
      assert.throws(() => parseRef(input), (error: unknown) => error instanceof Failure && error.kind === 'invalid-ref' && error.exitCode === 2);
      assert.equal(tryRef(input), undefined);
    });
  }

  it('answers a ref of 10,000 characters shortly', () => {
    assert.throws(() => parseRef(`github:octo/${'r'.repeat(10_000)}#1`), (error: unknown) => error instanceof Failure && error.message.length < 200 && /10014 characters/.test(error.message));
  });

  it('takes a ref whose file name just fits, and not one more', () => {
    const longest = `github:o/${'r'.repeat(239)}#1`;
    assert.equal(parseRef(longest).slug.length, 250);
    assert.throws(() => parseRef(longest.replace('#', 'r#')), /251 characters/);
  });

  it('shows no raw control characters in its message', () => {
    assert.throws(() => parseRef('a\u001b[31m\u202e'), (error: unknown) => error instanceof Failure && !/[\u001b\u202e]/.test(error.message));
  });

  it('names terminals as tmux does', () => {
    assert.equal(terminalName('github-ghe.corp.example-octo-repo.js-7'), 'loop-github-ghe_corp_example-octo-repo_js-7');
  });

  it('orders by code points', () => {
    assert.deepEqual(['\u{1f600}', '\uff5e', 'a', 'ab', 'B'].sort(byCodePoint), ['B', 'a', 'ab', '\uff5e', '\u{1f600}']);
  });
});
