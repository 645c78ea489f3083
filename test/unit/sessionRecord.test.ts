import assert from 'node:assert/strict';
import { isSessionFileName, readSession, withStatusClosed } from '../../src/core/workItems/sessionRecord';
import { memoryReader } from '../support/memoryReader';

const full = {
  workItem: { ref: 'github:octo/repo#15', provider: 'github', owner: 'octo', repo: 'repo', number: 15 }, harness: 'claude', harnessSessionId: 's-15', cwd: '/srv', status: 'paused',
  createdAt: '2026-08-04T09:00:00Z', lastEventAt: null, tmuxTarget: 'loop-github-octo-repo.js:15', recentDeliveries: [], url: 'https://github.com/octo/repo/issues/15',
};
const read = (content: string | Buffer) => readSession(memoryReader({ '/r': content }), '/r');

describe('session records', () => {
  it('are read with the defaults of the-loop', () => {
    const found = read(JSON.stringify({ workItem: { ref: 'github:octo/repo#15' }, harness: 'claude', harnessSessionId: '', cwd: '/srv' }));
    assert.ok(found.kind === 'record');
    const { ref, ...rest } = found.record;
    assert.equal(ref.ref, 'github:octo/repo#15');
    assert.deepEqual(rest, { harness: 'claude', sessionId: '', cwd: '/srv', status: 'active', createdAt: '', lastEventAt: null, terminal: '', pullRequests: [] });
  });

  it('are read in full, terminals as tmux names them', () => {
    const found = read(JSON.stringify(full));
    assert.ok(found.kind === 'record');
    assert.deepEqual([found.record.status, found.record.terminal, found.record.createdAt, found.record.url], ['paused', 'loop-github-octo-repo_js_15', full.createdAt, full.url]);
  });

  it('take pull requests one level deep and pass over bad ones', () => {
    const pr = { ...full, workItem: { ref: 'github:octo/repo#16' }, status: 'active', pullRequests: [full] };
    const found = read(JSON.stringify({ ...full, pullRequests: [pr, { harness: 'x' }, null, 'x', { ...pr, cwd: 5 }] }));
    assert.ok(found.kind === 'record');
    assert.deepEqual(found.record.pullRequests.map((endpoint) => [endpoint.ref.ref, 'pullRequests' in endpoint]), [['github:octo/repo#16', false]]);
    assert.deepEqual((read(JSON.stringify({ ...full, pullRequests: { a: pr } })) as { record: { pullRequests: unknown[] } }).record.pullRequests, []);
  });

  it('take a status of a later version for not live', () => {
    const found = read(JSON.stringify({ ...full, status: 'parked' }));
    assert.ok(found.kind === 'record');
    assert.equal(found.record.status, 'closed');
  });

  it('say why they cannot be read, and whose they are where that can be told', () => {
    const why = (content: string | Buffer) => { const found = read(content); return found.kind === 'unreadable' ? [found.why, found.ref?.ref] : found.kind; };
    assert.deepEqual(why('{ not json'), ['it is no JSON', undefined]);
    assert.deepEqual(why(''), ['it is empty', undefined]);
    assert.deepEqual(why('[]'), ['it is no JSON object', undefined]);
    assert.deepEqual(why('{}'), ['it names no work item (workItem.ref)', undefined]);
    assert.deepEqual(why(JSON.stringify({ ...full, workItem: { ref: 'nonsense' } })), ['it names no work item (workItem.ref)', undefined]);
    assert.deepEqual(why(JSON.stringify({ ...full, harness: undefined })), ['it has no harness', 'github:octo/repo#15']);
    assert.deepEqual(why(JSON.stringify({ ...full, cwd: null })), ['it has no cwd', 'github:octo/repo#15']);
    assert.deepEqual(why(`\ufeff${JSON.stringify(full)}`), ['it is no JSON', undefined]);
    assert.deepEqual(why(Buffer.concat([Buffer.from('{"a": "'), Buffer.from([0xff]), Buffer.from('"}')])), ['it is not UTF-8', undefined]);
    assert.equal(read(JSON.stringify({ ...full, note: '\ufffd' })).kind, 'record', 'a replacement character of its own is fine');
    assert.deepEqual(readSession(memoryReader({}), '/r'), { kind: 'absent' });
    assert.equal(readSession(memoryReader({ '/r': 'link!' }), '/r').kind, 'unsafe');
    const denied = readSession(memoryReader({ '/r': 'denied!' }), '/r');
    assert.ok(denied.kind === 'unreadable' && denied.cause === 'io');
    const large = read(Buffer.alloc(8 * 1024 * 1024 + 1, 32));
    assert.ok(large.kind === 'unreadable' && large.cause === 'too-large' && large.why === 'it is larger than 8 MB');
  });

  it('are told from strangers by their names', () => {
    for (const name of ['github-octo-repo-15.json', 'a-1.json', '.-1.json']) assert.ok(isSessionFileName(name), name);
    for (const name of ['scratch.json', 'standing', 'github-octo-repo-15.json.tmp', 'a-1.JSON', '-1.json', 'a-١.json', 'a b-1.json', 'a-1.json\n']) assert.ok(!isSessionFileName(name), name);
  });

  it('are closed by changing one value and no other byte', () => {
    const text = `${JSON.stringify({ ...full, pullRequests: [full], big: 0 }, null, 2).replace('"big": 0', '"big": 12345678901234567890')}\n`;
    const at = text.indexOf('"paused"');
    assert.equal(withStatusClosed(text), `${text.slice(0, at)}"closed"${text.slice(at + '"paused"'.length)}`);
    assert.equal(withStatusClosed('{"status":"x" , "status" : {"a":"}"} ,"b":1}'), '{"status":"x" , "status" : "closed" ,"b":1}', 'the last of two counts');
    assert.equal(withStatusClosed('{"a":{"status":"active"}}'), '{"a":{"status":"active"}, "status": "closed"}');
    assert.equal(withStatusClosed('{\n  "a": 1\n}\n'), '{\n  "a": 1,\n  "status": "closed"\n}\n');
    assert.equal(withStatusClosed('{\r\n\t"a": [1, 2]\r\n}'), '{\r\n\t"a": [1, 2],\r\n\t"status": "closed"\r\n}');
  });
});
