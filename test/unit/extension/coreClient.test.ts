import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CoreClient, CoreError, type Launch, type Request } from '../../../src/extension/coreClient';
import { StatusReply } from '../../../src/protocol/sessions';

const status = {
  verb: 'status', stateRoot: '/state', exists: true, config: null, attention: [], daemons: [], warnings: [],
  counts: { live: 0, paused: 0, armed: 0, closed: 0, remembered: 0, unreadable: 0, collided: 0 },
};

/** A program that does what its text says, instead of dist/cli.js. */
describe('the program\'s client', () => {
  let directory: string;
  let lines: string[];
  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'lk-client-'));
    lines = [];
  });
  afterEach(() => { rmSync(directory, { recursive: true, force: true }); });

  function clientOf(text: string, launch: Partial<Launch> = {}): CoreClient {
    const program = path.join(directory, 'program.js');
    writeFileSync(program, text);
    const log = { info: (line: string) => { lines.push(line); }, error: (line: string) => { lines.push(line); } };
    return new CoreClient(() => ({ node: process.execPath, program, mayExecute: true, environment: { NODE_OPTIONS: '' }, ...launch }), log);
  }
  const place = () => ({ cwd: directory, stateRoot: '' });
  const ask = (client: CoreClient, more: Partial<Omit<Request<unknown>, 'schema'>> = {}) => client.run({ place: place(), args: ['status'], schema: StatusReply, ...more });
  const failureOf = async (work: Promise<unknown>): Promise<CoreError> => {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof CoreError, String(error));
      return error;
    }
    throw new Error('there was a reply');
  };

  it('gives arguments as they are, asks for JSON and returns the checked reply', async () => {
    const client = clientOf(`console.log(JSON.stringify({ ...${JSON.stringify(status)}, stateRoot: JSON.stringify([process.cwd(), process.env.ELECTRON_RUN_AS_NODE, process.env.X, ...process.argv.slice(2)]) }))`, { environment: { NODE_OPTIONS: '', X: 'y' } });
    const { reply, exitCode } = await ask(client, { args: ['sessions', 'show', '$(touch x); "a b" \'c\''] });
    assert.deepEqual(JSON.parse(reply.stateRoot), [directory, '1', 'y', 'sessions', 'show', '$(touch x); "a b" \'c\'', '--json']);
    assert.equal(exitCode, 0);
  });

  it('names the configuration of the place, and forbids other programs when it must', async () => {
    const client = clientOf(`console.log(JSON.stringify({ ...${JSON.stringify(status)}, stateRoot: process.argv.slice(2).join(' ') }))`, { mayExecute: false });
    const { reply } = await ask(client, { place: { ...place(), config: '/a b.yaml' } });
    assert.equal(reply.stateRoot, 'status --config /a b.yaml --no-exec --json');
  });

  it('leaves text behind -- at the end, where no option is looked for', async () => {
    const client = clientOf(`console.log(JSON.stringify({ ...${JSON.stringify(status)}, stateRoot: process.argv.slice(2).join(' ') }))`);
    const { reply } = await ask(client, { args: ['retest', 'message', 'S-1', '--', '-x'] });
    assert.equal(reply.stateRoot, 'retest message S-1 --json -- -x');
  });

  it('logs each run as a line to paste', async () => {
    await ask(clientOf(`console.log('${JSON.stringify(status)}')`), { args: ['sessions', 'show', 'github:octo/repo#15'] });
    assert.match(lines[0] ?? '', new RegExp(`^cd ${directory} && ELECTRON_RUN_AS_NODE=1 \\S+ \\S+program\\.js sessions show 'github:octo/repo#15' --json$`));
    assert.match(lines[1] ?? '', /exit code 0/);
  });

  it('takes exit code 1 with a reply as an answer', async () => {
    assert.equal((await ask(clientOf(`console.log('${JSON.stringify(status)}'); process.exitCode = 1`))).exitCode, 1);
  });

  it('turns the program\'s own error into a failure with its hint; exit code 3 is stale', async () => {
    const text = `console.log(JSON.stringify({ error: { kind: 'stale-plan', message: 'It changed.', hint: 'Look again.' } })); process.exitCode = 3`;
    const failure = await failureOf(ask(clientOf(text)));
    assert.deepEqual([failure.kind, failure.message, failure.hint, failure.stale], ['stale-plan', 'It changed.', 'Look again.', true]);
    assert.equal((await failureOf(ask(clientOf(text.replace('exitCode = 3', 'exitCode = 2'))))).stale, false);
  });

  it('says so when the reply is none, is cut off, or is not of the protocol', async () => {
    assert.equal((await failureOf(ask(clientOf('')))).kind, 'bad-reply');
    assert.match((await failureOf(ask(clientOf('console.error("boom"); process.exitCode = 7')))).message, /boom/);
    assert.equal((await failureOf(ask(clientOf(`console.log('${JSON.stringify(status).slice(0, 40)}')`)))).kind, 'bad-reply');
    const wrong = await failureOf(ask(clientOf(`console.log('${JSON.stringify({ ...status, counts: { ...status.counts, live: 'many' } })}')`)));
    assert.match(wrong.message, /counts\.live/);
  });

  it('says so when the program or the Node is not there', async () => {
    assert.equal((await failureOf(ask(clientOf('', { node: path.join(directory, 'no-node') })))).kind, 'cannot-run');
    assert.match((await failureOf(ask(clientOf('', { program: path.join(directory, 'no-program.js') })))).kind, /bad-reply/);
    assert.equal((await failureOf(ask(clientOf(''), { place: { cwd: path.join(directory, 'gone'), stateRoot: '' } }))).kind, 'cannot-run');
  });

  it('hears progress, however its lines are cut, and logs the rest', async () => {
    const client = clientOf(`
      process.stderr.write('{"progress":{"done":1,'); setTimeout(() => {
        process.stderr.write('"total":2}}\\nnot json\\n{"progress":{"done":2,"total":2,"item":"x"}}');
        console.log('${JSON.stringify(status)}');
      }, 50)`);
    const heard: unknown[] = [];
    await ask(client, { onProgress: (progress) => { heard.push(progress); } });
    assert.deepEqual(heard, [{ done: 1, total: 2 }, { done: 2, total: 2, item: 'x' }]);
    assert.ok(lines.includes('not json'));
  });

  it('cancels by SIGTERM and still hears what the program says then', async () => {
    const abort = new AbortController();
    const said = clientOf(`process.on('SIGTERM', () => { console.log('${JSON.stringify(status)}'); process.exit(1) }); console.error('{"progress":{"done":0,"total":1}}'); setInterval(() => {}, 1000)`);
    assert.equal((await ask(said, { signal: abort.signal, onProgress: () => { abort.abort(); } })).exitCode, 1);
    const silent = new AbortController();
    const failure = await failureOf(ask(clientOf(`console.error('{"progress":{"done":0,"total":1}}'); setInterval(() => {}, 1000)`), { signal: silent.signal, onProgress: () => { silent.abort(); } }));
    assert.equal(failure.kind, 'cancelled');
  });

  it('hears ten megabytes', async () => {
    const big = clientOf(`const big = ${JSON.stringify(status)}; big.warnings = [{ kind: 'x', message: 'y'.repeat(1e7) }]; console.log(JSON.stringify(big))`);
    assert.equal((await ask(big)).reply.warnings[0]?.message.length, 1e7);
  });

  it('ends what runs when the extension ends', async () => {
    const client = clientOf(`console.error('{"progress":{"done":0,"total":1}}'); setInterval(() => {}, 1000)`);
    assert.equal((await failureOf(ask(client, { onProgress: () => { client.dispose(); } }))).exitCode, -1);
  });
});
