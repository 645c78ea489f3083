// State roots as fast-check makes them: every mix of what a record, its neighbours and the older layout can be.
import fc from 'fast-check';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resolveCliConfig, type CliConfig } from '../../src/core/config/cliConfig';
import { diskReader } from '../../src/core/disk/reader';
import { buildPortableIndex } from '../../src/core/workItems/portableIndex';
import { parseRef } from '../../src/core/workItems/ref';
import { control, endpoint, poll } from './state';

/** Two pairs share a file name; two names are so long that little else fits into the name of a file. */
export const pool = [
  'github:octo/repo#1', 'github:octo/repo#2', 'github:octo/repo.js#3', 'github:ghe.corp.example/octo/repo#4', 'jira:team/board#5',
  'github:octo-x/repo#6', 'github:octo/x-repo#6', `github:octo/${'long'.repeat(52)}#8`, `github:octo/${'long'.repeat(57)}#9`,
];
/** Always there and never asked for. */
export const bystander = 'github:octo/other#99';

type FileText = string | Buffer | 'link!' | 'folder!';
export interface GeneratedItem {
  ref: string;
  session?: FileText;
  portable?: FileText;
  legacyControl?: Record<string, unknown>;
  legacyPoll?: Record<string, unknown>;
  olderPoll?: Record<string, unknown>;
  checkout: boolean;
  channel: boolean;
}
export interface GeneratedState { items: GeneratedItem[]; index: boolean; strangers: boolean; log: 'absent' | 'whole' | 'torn'; logEnabled: boolean; daemon: boolean; respawn: boolean }

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const layouts: ((value: unknown) => string)[] = [pretty, (value) => JSON.stringify(value), (value) => `\n${JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n')}`];
const layout = fc.constantFrom(...layouts);
/** Behind the last member: what no reader knows, and numbers that JavaScript would round. */
const foreign = fc.constantFrom('', '"zzz": [1, {"a": null}]', '"big": 12345678901234567890', '"exp": 1.50e3, "neg": -0, "é": "\\u00e9 \u{1f600}"', '"status2": "active", "sealed2": true');
const withForeign = (text: string, more: string): string => (more === '' ? text : text.replace(/(\s*)\}(\s*)$/, (_, gap: string, end: string) => `,${gap || ' '}${more}${gap}}${end}`));

const status = fc.constantFrom('active', 'paused', 'closed', 'ended', null, undefined);
const terminal = (ref: string) => fc.constantFrom('', `loop-${parseRef(ref).slug.slice(0, 60)}`, 'loop-shared');
const garbage = fc.constantFrom<FileText[]>('', '{', 'null', '[]', '\ufeff{}', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), '{"workItem": {}}', 'link!', 'folder!');

const sessionOf = (ref: string, other: string): fc.Arbitrary<FileText | undefined> => {
  const pulls = fc.array(fc.tuple(fc.constantFrom(`${ref.split('#')[0] ?? ''}#71`, `${ref.split('#')[0] ?? ''}#72`), status, terminal(ref)), { maxLength: 2 });
  const fields = (owner: string) => fc.tuple(status, terminal(ref), fc.option(pulls), foreign, layout).map(([is, tmux, pullRequests, more, write]) => withForeign(write({
    ...endpoint(owner, { terminal: tmux, cwd: '/nowhere' }), status: is,
    ...(pullRequests ? { pullRequests: pullRequests.map(([pull, own, pane]) => ({ ...endpoint(pull, { terminal: pane, cwd: '/nowhere/else' }), status: own })) } : {}),
  }), more));
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 8, arbitrary: fields(ref) }, { weight: 1, arbitrary: garbage }, { weight: 1, arbitrary: fields(other) },
    { weight: 1, arbitrary: fc.constant(pretty({ workItem: { ref } })) });
};

const sectionOf = (value: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<unknown> => fc.oneof({ weight: 4, arbitrary: value }, { weight: 2, arbitrary: fc.constant(undefined) }, fc.constant(null), fc.constant({}), fc.constant('odd'), fc.constant([]));
const commands = fc.constantFrom('start', 'resume', 'contribute', 'do', 'pause', 'stop', 'none');
const controlOf = (ref: string) => commands.map((command) => control(ref, command));
const pollOf = fc.array(fc.constantFrom('IC_1', 'IC_2', 'IC_3'), { maxLength: 3 }).map((seen) => poll(...seen));
const graphOf = fc.constant({ loop: 'feature', workItem: 'issue-1', nodes: [{ id: 'n', status: 'done' }] });

const portableOf = (ref: string, other: string): fc.Arbitrary<FileText | undefined> => {
  const url = parseRef(ref).url;
  const record = (owner: string) => fc.tuple(sectionOf(controlOf(ref)), sectionOf(pollOf), sectionOf(graphOf), fc.option(fc.constantFrom(true, false, 1, '')), foreign, layout, fc.boolean())
    .map(([ours, seen, graph, sealed, more, write, sectionsFirst]) => {
      const sections = { control: ours, poll: seen, graph, ...(sealed === null ? {} : { sealed }) };
      const head = { ref: owner, ...(url === undefined ? {} : { url }) };
      return withForeign(write(sectionsFirst ? { ...sections, ...head } : { ...head, ...sections }), more);
    });
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 8, arbitrary: record(ref) }, { weight: 1, arbitrary: garbage }, { weight: 1, arbitrary: record(other) }, { weight: 1, arbitrary: fc.constant('{"notes": "no ref here"}') });
};

const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

function itemOf(ref: string): fc.Arbitrary<GeneratedItem> {
  const slug = parseRef(ref).slug;
  const other = pool.find((candidate) => candidate !== ref && parseRef(candidate).slug === slug) ?? 'github:somebody/else#1';
  return fc.record({
    session: sessionOf(ref, other), portable: portableOf(ref, other), legacyControl: rarely(controlOf(ref)), legacyPoll: rarely(pollOf), olderPoll: rarely(pollOf), checkout: fc.boolean(), channel: fc.boolean(),
  }).map(({ session, portable, legacyControl, legacyPoll, olderPoll, checkout, channel }) => ({
    ref, checkout, channel, ...(session === undefined ? {} : { session }), ...(portable === undefined ? {} : { portable }),
    ...(legacyControl ? { legacyControl } : {}), ...(legacyPoll ? { legacyPoll } : {}), ...(olderPoll ? { olderPoll } : {}),
  }));
}

const refsOf = fc.shuffledSubarray(pool, { minLength: 1, maxLength: 3 });
export const generatedState: fc.Arbitrary<GeneratedState> = refsOf.chain((refs) => fc.record({
  items: fc.tuple(...refs.map(itemOf)), index: fc.boolean(), strangers: fc.boolean(), log: fc.constantFrom('absent', 'whole', 'torn'), logEnabled: fc.boolean().map((off) => !off || refs.length > 1), daemon: fc.boolean(), respawn: fc.boolean(),
}));

export interface Built { root: string; config: CliConfig; remove(): void }

/** Where generated states live: in memory where the machine has such a place. */
const base = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

function put(file: string, content: FileText): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (fs.lstatSync(file, { throwIfNoEntry: false })) return;
  if (content === 'link!') fs.symlinkSync('/etc/hostname', file);
  else if (content === 'folder!') fs.mkdirSync(file);
  else fs.writeFileSync(file, content, { mode: file.includes('portable') ? 0o640 : 0o600 });
}

/** The configuration of a state root at `root`: a workspace beside it, all else as it comes. */
export function configOf(root: string, state: Pick<GeneratedState, 'logEnabled' | 'respawn'>): CliConfig {
  const config = resolveCliConfig(undefined, null, { cwd: root, home: root });
  return {
    ...config, eventLog: { ...config.eventLog, enabled: state.logEnabled }, control: { requireStartCommand: !state.respawn }, spawnOnUnmatched: state.respawn ? 'always' : 'never',
    workspace: { ...config.workspace, root: path.join(root, 'ws') },
  };
}

/** Puts the state on disk. Of two items that share a file the first has it. */
export function build(state: GeneratedState): Built {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(base, 'lk-state-')));
  const config = configOf(root, state);
  fs.mkdirSync(config.stateRoot);
  const polls: Record<string, Record<string, unknown>> = { new: {}, older: {} };
  const threads: Record<string, unknown> = {};
  const all: GeneratedItem[] = [...state.items, { ref: bystander, session: pretty({ ...endpoint(bystander, { status: 'active', cwd: '/nowhere' }) }), portable: pretty({ ref: bystander, control: control(bystander), poll: poll('IC_99') }), checkout: true, channel: false }];
  for (const item of all) {
    const { slug, owner, repo, host } = parseRef(item.ref);
    if (item.session !== undefined) put(path.join(config.registryDir, `${slug}.json`), item.session);
    if (item.portable !== undefined) put(path.join(config.portableDir, `${slug}.json`), item.portable);
    if (item.legacyControl) put(path.join(config.legacy.controlDir, `${slug}.json`), pretty(item.legacyControl));
    if (item.legacyPoll) (polls['new'] ??= {})[item.ref] = item.legacyPoll;
    if (item.olderPoll) (polls['older'] ??= {})[item.ref] = item.olderPoll;
    if (item.channel) threads[`T${slug}`] = { workItem: item.ref };
    if (item.checkout) put(path.join(root, 'ws/.worktrees', host || 'github.com', owner, repo, slug, 'wip', 'notes.txt'), `not committed of ${item.ref}\n`);
    // One checkout of a pull request that several records can name.
    if (item.checkout) put(path.join(root, 'ws/.worktrees', host || 'github.com', owner, repo, parseRef(`${item.ref.split('#')[0] ?? ''}#71`).slug, 'wip.txt'), 'not committed of a pull request\n');
  }
  if (Object.keys(polls['new'] ?? {}).length > 0) put(config.legacy.pollState, pretty({ items: polls['new'] }));
  if (Object.keys(polls['older'] ?? {}).length > 0 && config.legacy.olderPollState !== config.legacy.pollState) put(config.legacy.olderPollState, pretty({ items: polls['older'] }));
  if (Object.keys(threads).length > 0) put(path.join(config.channelsDir, 'slack.json'), pretty({ threads }));
  if (state.daemon) put(config.pidfiles.poller, `${String(process.pid)}\n`);
  if (state.strangers) {
    put(path.join(config.registryDir, 'scratch.json'), '{}');
    put(path.join(config.standingDir, 'supervisor.json'), pretty(endpoint('github:octo/repo#1', { status: 'active' })));
    put(path.join(config.portableDir, 'notes.json'), '{"a": 1}');
    put(path.join(config.portableDir, 'github-nobody-knows-77.json'), 'no json');
    put(path.join(config.registryDir, 'github-nobody-knows-78.json'), Buffer.from([0xff]));
  }
  if (state.log !== 'absent') put(config.eventLog.path, `{"ts":"2026-08-04T09:00:00.000Z","event":"poll.cycle"}\n${state.log === 'torn' ? '{"torn' : ''}`);
  if (state.index) {
    const made = buildPortableIndex(diskReader, config.portableDir);
    if (made.kind === 'write') put(path.join(config.portableDir, 'index.json'), made.text);
  }
  return { root, config, remove: () => { fs.rmSync(root, { recursive: true, force: true }); } };
}

/** Everything below a folder: what it is (kind, mode, bytes), and its inode and time stamps (not that of reading). Folders have stamps only. */
export function everything(root: string, skip: (relative: string) => boolean = () => false): { content: Record<string, string>; stamps: Record<string, string> } {
  const content: Record<string, string> = {};
  const stamps: Record<string, string> = {};
  const visit = (relative: string): void => {
    const file = path.join(root, relative);
    const stat = fs.lstatSync(file, { bigint: true });
    stamps[relative] = `${String(stat.ino)} ${String(stat.mode)} ${String(stat.mtimeNs)} ${String(stat.ctimeNs)}`;
    if (stat.isDirectory()) {
      for (const name of fs.readdirSync(file)) {
        const inner = path.join(relative, name);
        if (!skip(inner)) visit(inner);
      }
    } else content[relative] = stat.isSymbolicLink() ? `-> ${fs.readlinkSync(file)}` : `${String(stat.mode)} ${fs.readFileSync(file, 'latin1')}`;
  };
  visit('.');
  return { content, stamps };
}
