import assert from 'node:assert/strict';
import { resolveCliConfig } from '../../src/core/config/cliConfig';
import { parseRef } from '../../src/core/workItems/ref';
import { isCoveredByAll, snapshotAll, snapshotItem } from '../../src/core/workItems/snapshot';
import { memoryReader } from '../support/memoryReader';

const config = resolveCliConfig(undefined, null, { cwd: '/w', home: '' });
const local = (name: string) => `/w/.the-loop/local/${name}.json`;
const portable = (name: string) => `/w/.the-loop/portable/${name}.json`;
const session = (ref: string, more: object = {}) => JSON.stringify({ workItem: { ref }, harness: 'claude', harnessSessionId: 's', cwd: '/c', status: 'closed', ...more });
const start = (ref: string) => JSON.stringify({ ref, control: { ref, command: 'start' } });
const item = (files: Parameters<typeof memoryReader>[0], ref: string) => snapshotItem(memoryReader(files), config, parseRef(ref));

describe('snapshots', () => {
  it('hold what is known of one item', () => {
    const found = item({ [local('github-octo-repo-1')]: session('github:octo/repo#1'), [portable('github-octo-repo-1')]: start('github:octo/repo#1') }, 'github:octo/repo#1');
    assert.equal(found.session.kind, 'record');
    assert.deepEqual([found.sections.control?.source, found.sections.control?.path, found.armed, found.legacyHolds], ['record', portable('github-octo-repo-1'), true, false]);
    assert.deepEqual([found.bad, found.collisions], [[], []]);
    const none = item({}, 'github:octo/repo#1');
    assert.deepEqual([none.session.kind, none.portable.kind, none.sections, none.armed], ['absent', 'absent', {}, false]);
  });

  it('are armed by four commands only', () => {
    const armed = (control: unknown) => item({ [portable('github-octo-repo-1')]: JSON.stringify({ ref: 'github:octo/repo#1', control }) }, 'github:octo/repo#1').armed;
    const commands = ['start', 'stop', 'pause', 'resume', 'execute', 'contribute', 'cleanup', 'do', 'START', ''];
    assert.deepEqual(commands.filter((command) => armed({ ref: 'x', command })), ['start', 'resume', 'contribute', 'do']);
    assert.equal(armed({ command: 'start' }), false);
    assert.equal(armed(null), false);
  });

  it('follow the read rule: record, null and seal before the older layout', () => {
    const older = { '/w/.the-loop/sessions/control/github-octo-repo-1.json': '{"ref": "github:octo/repo#1", "command": "start"}', '/w/.the-loop/sessions/poll-state.json': '{"items": {"github:octo/repo#1": {}}}' };
    const sections = (record: string | undefined) => {
      const found = item({ ...older, ...(record === undefined ? {} : { [portable('github-octo-repo-1')]: record }) }, 'github:octo/repo#1');
      return [Object.entries(found.sections).map(([name, section]) => `${name} ${section.source}`).join(), found.armed, found.legacyHolds];
    };
    assert.deepEqual(sections(undefined), ['control legacy,poll legacy', true, true]);
    assert.deepEqual(sections('{"ref": "github:octo/repo#1", "control": null}'), ['poll legacy', false, true]);
    assert.deepEqual(sections('{"ref": "github:octo/repo#1", "control": {}, "graph": {}}'), ['control record,poll legacy,graph record', false, true]);
    assert.deepEqual(sections('{"ref": "github:octo/repo#1", "sealed": true}'), ['', false, true]);
    assert.deepEqual(sections('{ broken'), ['', true, true], 'the-loop takes an unreadable record for none: still armed, though no section of it can be told');
  });

  it('name records that are another item’s', () => {
    const mine = { [local('github-a-b-c-1')]: session('github:a/b-c#1'), [portable('github-a-b-c-1')]: start('github:a-b/c#1') };
    const found = item(mine, 'github:a/b-c#1');
    assert.deepEqual(found.collisions.map(({ piece, ref }) => [piece, ref.ref]), [['portable', 'github:a-b/c#1']]);
    assert.deepEqual([found.sections, found.armed], [{}, false], 'the other item’s start is not this one’s');
    assert.deepEqual(item(mine, 'github:a-b/c#1').collisions.map(({ piece, ref }) => [piece, ref.ref]), [['session', 'github:a/b-c#1']]);
    const broken = item({ [local('github-a-b-c-1')]: '{"workItem": {"ref": "github:a-b/c#1"}}' }, 'github:a/b-c#1');
    assert.equal(broken.collisions.length, 1, 'a broken record that says whose it is counts');
    assert.equal(item({ [portable('github-octo-repo-1')]: start('github:github.com/octo/repo#01') }, 'github:octo/repo#1').collisions.length, 0, 'another spelling is no other item');
  });

  it('name files that are no records', () => {
    const bad = (files: Parameters<typeof memoryReader>[0]) => item(files, 'github:octo/repo#1').bad.map(({ piece, cause, ref }) => [piece, cause, ref?.ref]);
    assert.deepEqual(bad({ [local('github-octo-repo-1')]: '{', [portable('github-octo-repo-1')]: 'link!' }), [['session', 'format', undefined], ['portable', 'unsafe', undefined]]);
    assert.deepEqual(bad({ [local('github-octo-repo-1')]: '{"workItem": {"ref": "github:octo/repo#1"}}', [portable('github-octo-repo-1')]: 'denied!' }), [['session', 'format', 'github:octo/repo#1'], ['portable', 'io', undefined]]);
    assert.deepEqual(bad({ [portable('github-octo-repo-1')]: '{"control": {}}' }), [['portable', 'format', undefined]]);
    assert.deepEqual(bad({ [portable('github-octo-repo-1')]: '{"ref": "nonsense"}' }), [['portable', 'format', undefined]]);
  });

  it('cover the whole state root, each file read once', () => {
    const files = {
      [local('github-octo-repo-9')]: session('github:octo/repo#9'),
      [local('github-octo-repo-100')]: session('github:octo/repo#100', { harness: 5 }),
      [local('github-octo-repo-50')]: '{ not json',
      [local('scratch')]: '{}',
      [local('other-1')]: session('github:octo/repo#12'),
      [local('github-a-b-c-1')]: session('github:a/b-c#1'),
      [portable('github-a-b-c-1')]: start('github:a-b/c#1'),
      [portable('github-octo-repo-9')]: JSON.stringify({ ref: 'github:octo/repo#9', graph: {} }),
      [portable('github-octo-repo-41')]: JSON.stringify({ ref: 'github:octo/repo#41', graph: {} }),
      [portable('github-octo-repo-42')]: JSON.stringify({ ref: 'github:octo/repo#42', sealed: true }),
      [portable('github-octo-repo-51')]: '{ not json',
      [portable('github-octo-repo-52')]: '{"hello": "world"}',
      [portable('index')]: '{}',
      '/w/.the-loop/local/standing/supervisor.json': '{}',
      '/w/.the-loop/sessions/control/github-octo-repo-40.json': '{"ref": "github:octo/repo#40", "command": "start"}',
      '/w/.the-loop/poll-state.json': '{"items": {"github:octo/repo#43": {}, "github:octo/repo#42": {}}}',
    };
    const reader = memoryReader(files);
    const all = snapshotAll(reader, config);
    assert.deepEqual(all.items.map(({ ref }) => ref.ref), ['github:a-b/c#1', 'github:a/b-c#1', 'github:octo/repo#100', 'github:octo/repo#40', 'github:octo/repo#41', 'github:octo/repo#42', 'github:octo/repo#43', 'github:octo/repo#9']);
    const covered = (graph: boolean) => all.items.filter((found) => isCoveredByAll(found, graph)).map(({ ref }) => ref.ref.replace('github:octo/repo', ''));
    assert.deepEqual(covered(false), ['github:a-b/c#1', 'github:a/b-c#1', '#100', '#40', '#43', '#9']);
    assert.deepEqual(covered(true), ['github:a-b/c#1', 'github:a/b-c#1', '#100', '#40', '#41', '#43', '#9']);
    assert.deepEqual(all.strays.map((stray) => [stray.piece, stray.path]), [['session', local('github-octo-repo-50')], ['portable', portable('github-octo-repo-51')]]);
    assert.deepEqual(all.misplaced.map(({ path, ref }) => [path, ref.ref]), [[local('other-1'), 'github:octo/repo#12']]);
    assert.deepEqual([...reader.reads].filter(([, count]) => count !== 1), []);
    assert.ok(!reader.reads.has(local('scratch')) && !reader.reads.has(portable('index')));
    for (const found of all.items) assert.deepEqual(snapshotItem(memoryReader(files), config, found.ref), found, 'alone or among all, an item is the same');
  });
});
