import path from 'node:path';
import { agentGuideText, guideText } from '../core/context/guide';
import { handoverFile, readHandover } from '../core/context/handover';
import { handoverReentry, reentryOf } from '../core/context/reentry';
import { Failure } from '../core/disk/failure';
import { diskReader } from '../core/disk/reader';
import { claudeDirectory, findSessions, isSessionId, type ClaudeSession } from '../core/harness/claudeSessions';
import { isSessionFileName, readSession } from '../core/workItems/sessionRecord';
import type { GuideReply, ReentryReply, UsageReply, UsageView } from '../protocol/context';
import type { CliConfig } from '../core/config/cliConfig';
import { flag, stateOptions, text, texts, type Context, type Values, type Verb } from './command';
import { artifactsOf, folderOption, itemOf, itemOptions } from './contextItem';
import { plain, table } from './output';
import { printWarnings } from './planReply';
import { contextWarnings, loadConfig } from './state';

const usageFailure = (message: string, verb: string) => new Failure('usage', message, `See \`loopkeeper context ${verb} --help\`.`, 2);

/** Which work item's record names a session: of the item itself or of one of its pull requests. */
function refsBySession(config: CliConfig): Map<string, string> {
  const refs = new Map<string, string>();
  for (const name of diskReader.list(config.registryDir).filter(isSessionFileName)) {
    const session = readSession(diskReader, path.join(config.registryDir, name));
    if (session.kind !== 'record') continue;
    for (const endpoint of [session.record, ...session.record.pullRequests]) if (endpoint.sessionId !== '' && !refs.has(endpoint.sessionId)) refs.set(endpoint.sessionId, endpoint.ref.ref);
  }
  return refs;
}

function viewOf(session: ClaudeSession, refs: Map<string, string>, given: number | undefined): UsageView {
  const { tail } = session;
  const window = given ?? tail.window;
  return {
    id: session.id, harness: 'claude', ref: refs.get(session.id) ?? null, title: tail.title, cwd: tail.cwd, model: tail.model,
    tokens: tail.tokens, reason: tail.reason, window, windowFrom: given === undefined ? tail.windowFrom : 'given', share: tail.tokens === null ? null : tail.tokens / window,
    lastActive: tail.lastRecord ?? session.modifiedAt, running: session.running, transcript: session.transcript,
  };
}

async function usage(context: Context, values: Values): Promise<number> {
  const id = text(values, 'session');
  if (id !== undefined && !isSessionId(id)) throw usageFailure(`${JSON.stringify(id.slice(0, 80))} is no session id.`, 'usage');
  const size = text(values, 'window') ?? context.env['CLAUDE_CODE_MAX_CONTEXT_TOKENS'];
  const given = size === undefined || size === '' ? undefined : Number(size);
  if (given !== undefined && !(Number.isSafeInteger(given) && given > 0)) throw usageFailure(`${JSON.stringify(size)} is no number of tokens.`, 'usage');
  const directory = claudeDirectory(text(values, 'claude-config-dir'), context.env, context.home);
  if (directory === undefined) throw new Failure('not-found', 'Claude Code’s folder is not known: there is no home directory.', 'Name it with --claude-config-dir.', 1);
  const config = await loadConfig(context, values);
  const chosen = texts(values, 'folder').map((folder) => path.resolve(context.cwd, folder));
  const folders = flag(values, 'all') || (id !== undefined && chosen.length === 0) ? [] : chosen.length > 0 ? chosen : [context.cwd];
  const found = findSessions({ directory, folders, ...(id === undefined ? {} : { id }) });
  if (id !== undefined && found.sessions.length === 0) throw new Failure('no-session', `There is no transcript of session ${id} in ${directory}.`, 'Look at the id, or name Claude Code’s folder with --claude-config-dir.', 1);
  const refs = refsBySession(config);
  const reply: UsageReply = { verb: 'context-usage', folders, sessions: found.sessions.map((session) => viewOf(session, refs, given)), bytesRead: found.bytesRead, warnings: contextWarnings(context) };
  context.out.document(reply);
  if (!context.out.json) printUsage(context, reply);
  return 0;
}

const reasons = { 'after-boundary': 'unknown until its next answer', 'not-started': 'no answer yet', 'not-in-tail': 'unknown' } as const;

function shownTokens(count: number): string {
  return count < 1000 ? String(count) : `${String(Math.round(count / 1000))}k`;
}

function printUsage({ out }: Context, reply: UsageReply): void {
  printWarnings(out, reply.warnings);
  if (reply.sessions.length === 0) {
    out.line(reply.folders.length === 0 ? 'There is no Claude Code session.' : `There is no Claude Code session of ${reply.folders.map(plain).join(', ')}. --all shows those of every folder.`);
    return;
  }
  const assumed = (view: UsageView) => view.windowFrom === 'assumed' ? '~' : '';
  const rows = reply.sessions.map((view) => [
    view.share === null ? '–' : `${String(Math.round(view.share * 100))} % of ${assumed(view)}${shownTokens(view.window)}`,
    view.tokens === null ? reasons[view.reason ?? 'not-in-tail'] : `${shownTokens(view.tokens)} tokens`,
    view.running ? view.running.status ?? 'running' : '', view.lastActive.slice(0, 16).replace('T', ' '),
    (view.ref ?? view.title ?? view.id).slice(0, 60),
  ]);
  for (const line of table([['SHARE', 'WINDOW', 'STATE', 'LAST ACTIVE', 'SESSION'], ...rows], (row, _column, cell) => row === 0 ? out.paint('bold', cell) : cell)) out.line(line);
  if (reply.sessions.some((view) => view.windowFrom === 'assumed' && view.share !== null)) out.line(out.paint('dim', '~ the size of the window is assumed; --window N sets it.'));
}

export const usageVerb: Verb = {
  summary: 'Tokens in the window of each Claude Code session of a folder, and the share of it.',
  usage: '[--folder DIR… | --all] [--session ID] [--window N] [--claude-config-dir DIR] [--json]',
  options: {
    folder: { type: 'string', multiple: true, value: 'DIR', help: 'Sessions that work in this folder or below. Default: the working directory.' },
    all: { type: 'boolean', help: 'Sessions of every folder.' },
    session: { type: 'string', value: 'ID', help: 'Only this session.' },
    window: { type: 'string', value: 'N', help: 'The size of the window in tokens, where the transcript does not tell.' },
    'claude-config-dir': { type: 'string', value: 'DIR', help: "Claude Code's own folder. Default: CLAUDE_CONFIG_DIR, else ~/.claude." },
    ...stateOptions,
  },
  examples: ['loopkeeper context usage', 'loopkeeper context usage --all --json'],
  run: usage,
};

async function reentry(context: Context, values: Values): Promise<number> {
  const session = text(values, 'session');
  if ((text(values, 'work-item') === undefined) === (session === undefined)) throw usageFailure('Name the work item with --work-item, or a session of no work item with --session.', 'reentry');
  const now = context.clock.now();
  let found;
  let where: string;
  let warnings = contextWarnings(context);
  if (session === undefined) {
    const item = await itemOf(context, values);
    const artifacts = artifactsOf(diskReader, item);
    found = reentryOf(artifacts, item.ref.ref, now);
    where = path.join(item.folder.directory, 'execution-log.md');
    warnings = [...warnings, ...item.warnings];
  } else {
    if (!isSessionId(session)) throw usageFailure(`${JSON.stringify(session.slice(0, 80))} is no session id.`, 'reentry');
    const config = await loadConfig(context, values);
    where = handoverFile(config.stateRoot, session);
    const note = readHandover(diskReader, where)?.text;
    found = note === undefined ? undefined : handoverReentry(note, where, session, now);
  }
  if (!found) throw new Failure('no-next-step', `${where} has no entry that names a next step.`, 'Write a checkpoint with loopkeeper context checkpoint.', 1);
  const reply: ReentryReply = { verb: 'context-reentry', ...found, warnings };
  context.out.document(reply);
  if (!context.out.json) {
    printWarnings(context.out, warnings);
    // Line by line: the text is for an agent's prompt, but it passes through a terminal.
    for (const line of reply.text.trimEnd().split('\n')) context.out.line(plain(line));
  }
  return 0;
}

export const reentryVerb: Verb = {
  summary: 'Print what a fresh window needs: the next step first, then only the files that step needs.',
  usage: '(--work-item REF | --session ID) [--spec NAME] [--folder DIR] [--json]',
  options: { ...itemOptions, session: { type: 'string', value: 'ID', help: 'A session of no work item: from its hand-over note.' }, ...folderOption, ...stateOptions },
  examples: ["loopkeeper context reentry --work-item 'github:octo/repo#15'"],
  run: reentry,
};

function guide(context: Context, values: Values): Promise<number> {
  const agent = flag(values, 'agent');
  const reply: GuideReply = { verb: 'context-guide', agent, text: agent ? agentGuideText : guideText };
  context.out.document(reply);
  for (const line of reply.text.trimEnd().split('\n')) context.out.line(line);
  return Promise.resolve(0);
}

export const guideVerb: Verb = {
  summary: 'When to clear and when to compact, what survives, how each fails, and how each harness does it.',
  usage: '[--agent] [--json]',
  options: { agent: { type: 'boolean', help: 'The protocol for an agent, to be put into CLAUDE.md or AGENTS.md.' } },
  examples: ['loopkeeper context guide', 'loopkeeper context guide --agent >> CLAUDE.md'],
  run: guide,
};
