import assert from 'node:assert/strict';
import { parseRef } from '../../src/core/workItems/ref';
import { locateCheckout } from '../../src/core/workspaces/locate';
import { memoryReader } from '../support/memoryReader';

describe('where a checkout is', () => {
  const workspace = { root: '/ws', strategy: 'worktree' as 'worktree' | 'clone', defaultHost: 'git.example', keepCheckoutOnClose: false, gitBinary: 'git' };
  const locate = (ref: string, files: Parameters<typeof memoryReader>[0] = {}, more: Partial<typeof workspace> | { root: null } = {}) =>
    locateCheckout(memoryReader(files), { workspace: { ...workspace, ...more } }, parseRef(ref));

  it('follows from the ref and the configuration', () => {
    assert.deepEqual(locate('github:octo/repo#15'), {
      kind: 'place', path: '/ws/.worktrees/github.com/octo/repo/github-octo-repo-15', root: '/ws', strategy: 'worktree', sharedClone: '/ws/github.com/octo/repo', exists: false,
    });
    const there = { '/ws/.worktrees/github.com/octo/repo/github-octo-repo-15/README.md': 'x' };
    assert.equal((locate('github:octo/repo#15', there) as { exists: boolean }).exists, true);
    assert.deepEqual(locate('github:octo/repo#15', {}, { strategy: 'clone' }), { kind: 'place', path: '/ws/.work-items/github-octo-repo-15', root: '/ws', strategy: 'clone', sharedClone: null, exists: false });
    assert.deepEqual(locate('github:octo/repo#15', there, { root: null }), { kind: 'disabled' });
  });

  it('takes the host of the ref, without its port, else the default', () => {
    const clone = (ref: string) => (locate(ref) as { sharedClone: string }).sharedClone;
    assert.equal(clone('github:ghe:8443/octo/repo#1'), '/ws/ghe/octo/repo');
    assert.equal(clone('github:ghe.corp.example/octo/repo.git#1'), '/ws/ghe.corp.example/octo/repo');
    assert.equal(clone('jira:A/B#1'), '/ws/git.example/A/B');
  });

  it('is nowhere for a name that no checkout can have', () => {
    for (const ref of ['github:octo/.github#1', 'github:octo/re po#1', 'github:../..#1', 'github:octo/.git#1', 'github:-x/repo#1', 'github:octo/_#1']) {
      const found = locate(ref);
      assert.ok(found.kind === 'impossible' && found.why.length > 0, ref);
    }
    assert.equal(locate('github:octo/.github#1', {}, { root: null }).kind, 'disabled');
  });

  it('is not followed through links or past files', () => {
    const at = (path: string, what: 'link!' | 'a file') => locate('github:octo/repo#15', { [path]: what });
    for (const path of ['/ws/.worktrees', '/ws/.worktrees/github.com', '/ws/.worktrees/github.com/octo/repo/github-octo-repo-15']) {
      for (const what of ['link!', 'a file'] as const) {
        const found = at(path, what);
        assert.ok(found.kind === 'unsafe' && found.path === path, `${path} ${what}`);
      }
    }
  });
});
