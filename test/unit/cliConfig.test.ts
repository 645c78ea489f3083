import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { locateCliConfig, readCliConfig } from '../../src/core/config/cliConfig';
import { Failure } from '../../src/core/disk/failure';
import { diskReader } from '../../src/core/disk/reader';

describe('cli-config.yaml', () => {
  let cwd: string;
  let home: string;
  beforeEach(() => {
    cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'loopkeeper-config-'));
    home = path.join(cwd, 'home');
  });
  afterEach(() => { fs.rmSync(cwd, { recursive: true, force: true }); });
  const put = (file: string, text: string) => {
    const full = path.join(cwd, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
    return full;
  };
  const read = (env: Record<string, string> = {}, configFlag?: string) => readCliConfig(diskReader, { cwd, home, env, ...(configFlag === undefined ? {} : { configFlag }) });
  const withText = (text: string) => { put('.the-loop/cli-config.yaml', text); return read(); };
  const fails = async (text: string, kind: string, message: RegExp, hint = /./) => {
    await assert.rejects(withText(text), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.kind, kind);
      assert.match(error.message, message);
      assert.match(error.hint, hint);
      assert.equal(error.exitCode, 2);
      return true;
    });
  };

  it('is the-loop’s defaults when there is none', async () => {
    const config = await read();
    assert.equal(config.file, null);
    assert.equal(config.stateRoot, path.join(cwd, '.the-loop'));
    assert.equal(config.registryDir, path.join(cwd, '.the-loop/local'));
    assert.deepEqual(config.eventLog, { enabled: true, path: path.join(cwd, '.the-loop/logs/events.jsonl') });
    assert.deepEqual(config.workspace, { root: null, strategy: 'worktree', defaultHost: 'github.com', keepCheckoutOnClose: false, gitBinary: 'git' });
    assert.deepEqual(config.tmux, { keepSessionOnClose: true, killHarnessOnClose: true, harnessKillGraceSeconds: 5 });
    assert.equal(config.control.requireStartCommand, true);
    assert.equal(config.spawnOnUnmatched, 'never');
    assert.ok(config.settings.every((setting) => setting.from === 'default'));
    assert.deepEqual(config.problems, []);
  });

  it('is looked for in the order of the-loop', () => {
    const place = { cwd, home, env: {} as Record<string, string> };
    assert.equal(locateCliConfig(place), undefined);
    const atHome = put('home/.the-loop/cli-config.yaml', '');
    assert.equal(locateCliConfig(place), atHome);
    fs.mkdirSync(path.join(cwd, '.the-loop/cli-config.yaml'), { recursive: true });
    assert.equal(locateCliConfig(place), atHome, 'a folder of that name is no configuration');
    fs.rmSync(path.join(cwd, '.the-loop'), { recursive: true });
    const here = put('.the-loop/cli-config.yaml', '');
    assert.equal(locateCliConfig(place), here);
    const byEnv = put('env.yaml', '');
    assert.equal(locateCliConfig({ ...place, env: { THE_LOOP_CLI_CONFIG: 'env.yaml' } }), byEnv);
    const byFlag = put('flag.yaml', '');
    assert.equal(locateCliConfig({ ...place, env: { THE_LOOP_CLI_CONFIG: 'env.yaml' }, configFlag: byFlag }), byFlag);
    assert.equal(locateCliConfig({ ...place, env: { THE_LOOP_CLI_CONFIG: '' } }), here);
  });

  it('refuses a file that was named and is not there', async () => {
    await assert.rejects(read({}, 'absent.yaml'), (error: unknown) => error instanceof Failure && error.kind === 'config-missing' && error.message.includes('--config'));
    await assert.rejects(read({ THE_LOOP_CLI_CONFIG: 'absent.yaml' }), (error: unknown) => error instanceof Failure && error.message.includes('THE_LOOP_CLI_CONFIG'));
  });

  it('is read through a link', async () => {
    const real = put('dotfiles/config.yaml', 'state: {root: elsewhere}\n');
    fs.mkdirSync(path.join(cwd, '.the-loop'));
    fs.symlinkSync(real, path.join(cwd, '.the-loop/cli-config.yaml'));
    assert.equal((await read()).stateRoot, path.join(cwd, 'elsewhere'));
  });

  it('resolves every value and says where it comes from', async () => {
    const config = await withText([
      'version: "0.5.0"', 'state:', '  root: ~/loops', 'unknown: {a: 1}', 'eventLog:', '  enabled: off', '  path: /var/log/e.jsonl', 'routing:', '  registryDir: handles', '  spawnOnUnmatched: labeled',
      '  control: {requireStartCommand: no}', '  workspace:', '    root: ~/ws', '    strategy: clone', '    keepCheckoutOnClose: Yes', '  tmux:', '    harnessKillGraceSeconds: 0.5', 'webhooks: {ghWebhook: {pidfile: r.pid}}', '',
    ].join('\n'));
    assert.equal(config.stateRoot, path.join(cwd, '~/loops'), 'a ~ in the state root is not expanded');
    assert.equal(config.registryDir, path.join(cwd, 'handles'));
    assert.equal(config.portableDir, path.join(cwd, '~/loops/portable'));
    assert.equal(config.pidfiles.service, path.join(cwd, '~/loops/local/service.pid'), 'registryDir moves session records only');
    assert.deepEqual(config.eventLog, { enabled: false, path: '/var/log/e.jsonl' });
    assert.equal(config.control.requireStartCommand, false);
    assert.deepEqual(config.workspace, { root: path.join(home, 'ws'), strategy: 'clone', defaultHost: 'github.com', keepCheckoutOnClose: true, gitBinary: 'git' });
    assert.equal(config.tmux.harnessKillGraceSeconds, 0.5);
    assert.deepEqual([config.pidfiles.receiver, config.pidfiles.receiverInForce], [path.join(cwd, '~/loops/gh-webhook.pid'), path.join(cwd, 'r.pid')]);
    assert.equal(config.legacy.olderPollState, path.join(cwd, '.the-loop/poll-state.json'));
    const from = Object.fromEntries(config.settings.map((setting) => [setting.key, setting.from.replace(`${config.file ?? ''}:`, '')]));
    assert.deepEqual(from, {
      'state.root': '3', 'routing.registryDir': '9', 'eventLog.enabled': '6', 'eventLog.path': '7', 'routing.spawnOnUnmatched': '10', 'routing.control.requireStartCommand': '11', 'routing.workspace.root': '13',
      'routing.workspace.strategy': '14', 'routing.workspace.defaultHost': 'default', 'routing.workspace.keepCheckoutOnClose': '15', 'routing.workspace.gitBinary': 'default', 'routing.tmux.keepSessionOnClose': 'default',
      'routing.tmux.killHarnessOnClose': 'default', 'routing.tmux.harnessKillGraceSeconds': '17', 'webhooks.ghWebhook.pidfile': '18',
    });
    assert.equal(config.settings.find((setting) => setting.key === 'state.root')?.value, config.stateRoot);
  });

  it('reads CRLF and a byte order mark', async () => {
    const config = await withText('\ufeffversion: "0.5.0"\r\nstate:\r\n  root: data\r\n');
    assert.equal(config.stateRoot, path.join(cwd, 'data'));
    assert.equal(config.settings[0]?.from, `${path.join(cwd, '.the-loop/cli-config.yaml')}:3`);
  });

  it('takes empty files, blocks and texts as absent', async () => {
    for (const text of ['', '# nothing\n', '---\n', 'state:\nrouting:\n  workspace:\n  control:\n', 'state: {root: ""}\nrouting: {workspace: {root: ""}}\n']) {
      const config = await withText(text);
      assert.equal(config.stateRoot, path.join(cwd, '.the-loop'), text);
      assert.equal(config.workspace.root, null, text);
    }
  });

  it('follows anchors and merges, and takes the last of two', async () => {
    assert.equal((await withText('base: &b {root: one}\nstate: *b\n')).stateRoot, path.join(cwd, 'one'));
    assert.equal((await withText('base: &b {root: one}\nstate:\n  <<: *b\n')).stateRoot, path.join(cwd, 'one'));
    const twice = await withText('state: {root: one}\nstate: {root: two}\n');
    assert.equal(twice.stateRoot, path.join(cwd, 'two'));
    assert.match(twice.problems.join(), /:2: state is written more than once/);
  });

  it('says what it does not know, and goes on as the-loop does', async () => {
    const config = await withText('routing:\n  spawnOnUnmatched: sometimes\n  workspace:\n    root: ws\n    strategy: copies\n');
    assert.equal(config.workspace.strategy, 'worktree');
    assert.equal(config.spawnOnUnmatched, 'sometimes');
    assert.match(config.problems.join('\n'), /:2: routing.spawnOnUnmatched is "sometimes".*\n.*:5: routing.workspace.strategy is "copies"/);
  });

  it('never takes a default for what it cannot read', async () => {
    await fails('state:\n  root: [a\n', 'config-unreadable', /cli-config\.yaml:3: the configuration is no YAML/);
    await fails('\tstate: x\n', 'config-unreadable', /cli-config\.yaml:1: /);
    await fails('a: 1\n---\nb: 2\n', 'config-unreadable', /cli-config\.yaml:\d: /);
    await fails('- a\n- b\n', 'config-unreadable', /:1: the configuration must be a block of settings/);
    await fails('just text\n', 'config-unreadable', /must be a block of settings/);
    await fails('a: 1\nstate:\n  root: 2024\n', 'config-unreadable', /:3: state\.root must be a text/, /quotes/);
    await fails('a: 1\nstate: elsewhere\n', 'config-unreadable', /:2: state must be a block of settings/);
    await fails('routing:\n  control:\n    requireStartCommand: "no"\n', 'config-unreadable', /:3: routing\.control\.requireStartCommand must be true or false/);
    await fails('routing: {tmux: {harnessKillGraceSeconds: -1}}\n', 'config-unreadable', /must be a number of seconds/);
    await fails('routing: {tmux: {harnessKillGraceSeconds: soon}}\n', 'config-unreadable', /must be a number of seconds/);
    await fails(`a: ${'['.repeat(50_000)}\n`, 'config-unreadable', /cli-config\.yaml:1/);
    await fails(`a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n`, 'config-unreadable', /cannot be read/);
  });

  it('says when the configuration is too old', async () => {
    await fails('state: {root: x}\nversion: "0.4.9"\n', 'config-too-old', /:2: the configuration is of version 0\.4\.9; 0\.5\.0/, /upgrade-the-loop/);
    await fails('routing:\n  control:\n    ghBinary: gh\n', 'config-too-old', /:3: routing\.control\.ghBinary/);
    await fails('polling: {stateFile: x}\n', 'config-too-old', /polling\.stateFile/);
    await fails('webhooks: {ghWebhook: {routing: {}}}\n', 'config-too-old', /webhooks\.ghWebhook\.routing/);
    await fails('integrations: {slack: {}}\n', 'config-too-old', /integrations\.slack/);
    for (const version of ['"0.5.0"', '0.5', '"0.10.0"', '1.0', '"11.2.0"']) assert.ok(await withText(`version: ${version}\n`));
  });

  it('does not read a file that no configuration can be', async () => {
    await fails(`# ${'x'.repeat(1024 * 1024)}\n`, 'config-unreadable', /larger than 1048576 bytes/);
  });
});
