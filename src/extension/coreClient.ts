import { spawn } from 'node:child_process';
import type * as z from 'zod/mini';
import { ErrorReply } from '../protocol/message';
import { ProgressLine } from '../protocol/plan';
import { commandLine, withOptions } from './commandLine';
import type { Place } from './places';

/** How the program is run; read anew for each run, because settings and trust change. */
export interface Launch {
  /** The Node that runs it: the editor's own (`process.execPath`). */
  node: string;
  /** dist/cli.js. */
  program: string;
  /** False in an untrusted workspace: the program then starts no other program (`--no-exec`). */
  mayExecute: boolean;
  /** Variables for the program beside the editor's own environment, for example where tmux is. */
  environment: Record<string, string>;
}

export interface Request<T> {
  place: Place;
  /** Command and options, without `--json`, `--config` and `--no-exec`. */
  args: readonly string[];
  schema: z.ZodMiniType<T>;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ProgressLine['progress']) => void) | undefined;
}

export interface Answer<T> {
  reply: T;
  /** 0, or 1 when something in the reply failed or was not found; others: design.md, exit codes. */
  exitCode: number;
}

/**
 * Why there is no reply. `cannot-run`: the program did not start. `bad-reply`: it answered something else than its protocol.
 * `cancelled`: the person stopped it. Any other kind is the program's own (its `message` and `hint` are the program's English).
 */
export class CoreError extends Error {
  constructor(readonly kind: string, message: string, readonly hint: string, readonly exitCode?: number) {
    super(message);
  }

  /** The plan is not what it was when it was shown, or a file has changed since. Nothing was done. */
  get stale(): boolean {
    return this.exitCode === 3;
  }
}

export interface Log {
  info(line: string): void;
  error(line: string): void;
}

/** After a cancel the program may finish the step it is in; then it is killed. Its journal makes that safe. */
const killAfterMilliseconds = 5_000;
/** Far above the reply for 10,000 items; a program that prints more than this is broken. */
const replyLimit = 256 * 1024 * 1024;

/**
 * Runs the command-line program and hears its replies. It is the extension's only way to the core: one process a request, arguments as an
 * array, one JSON document on standard output, progress as JSON lines on standard error.
 */
export class CoreClient {
  private readonly running = new Set<() => void>();

  constructor(private readonly launch: () => Launch, private readonly log: Log) {}

  /** The command as a line to paste into a terminal, as a person would write it (without `--json`). */
  pasteable(place: Place, args: readonly string[]): string {
    const { node, program } = this.launch();
    return commandLine([node, program, ...withOptions(args, ...(place.config === undefined ? [] : ['--config', place.config]))], place.cwd, { ELECTRON_RUN_AS_NODE: '1' });
  }

  /**
   * Runs one command and returns its validated reply.
   * @throws {CoreError} when there is none (see its kinds); exit codes 0 and 1 with a reply are answers, not errors.
   */
  async run<T>({ place, args, schema, signal, onProgress }: Request<T>): Promise<Answer<T>> {
    const { node, program, mayExecute, environment } = this.launch();
    const argv = [program, ...withOptions(args, ...(place.config === undefined ? [] : ['--config', place.config]), ...(mayExecute ? [] : ['--no-exec']), '--json')];
    const started = performance.now();
    this.log.info(commandLine([node, ...argv], place.cwd, { ELECTRON_RUN_AS_NODE: '1' }));
    const ended = await this.process(node, argv, place.cwd, environment, signal, onProgress);
    this.log.info(`  exit code ${String(ended.exitCode)}, ${String(Math.round(performance.now() - started))} ms`);
    if (ended.errorOutput) this.log.error(ended.errorOutput.trimEnd());
    return this.answer(schema, ended, signal);
  }

  /** Stops whatever still runs; for the end of the extension. */
  dispose(): void {
    for (const stop of this.running) stop();
  }

  private answer<T>(schema: z.ZodMiniType<T>, ended: Ended, signal: AbortSignal | undefined): Answer<T> {
    const text = ended.output.trim();
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      if (signal?.aborted) throw new CoreError('cancelled', 'Cancelled.', '', ended.exitCode);
      const said = ended.errorOutput.trim().split('\n')[0] ?? '';
      throw new CoreError('bad-reply', said || `The program ended with exit code ${String(ended.exitCode)} and no reply.`, '', ended.exitCode);
    }
    const failed = ErrorReply.safeParse(document);
    if (failed.success) {
      const { kind, message, hint } = failed.data.error;
      throw new CoreError(kind, message, hint, ended.exitCode);
    }
    const parsed = schema.safeParse(document);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      this.log.error(`  not a reply of the protocol: ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`);
      throw new CoreError('bad-reply', `The reply is not what this version expects, at "${issue?.path.map(String).join('.') ?? ''}".`, '', ended.exitCode);
    }
    return { reply: parsed.data, exitCode: ended.exitCode };
  }

  private process(
    node: string, argv: string[], cwd: string, environment: Record<string, string>,
    signal: AbortSignal | undefined, onProgress: Request<unknown>['onProgress'],
  ): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(node, argv, { cwd, env: { ...process.env, ...environment, ELECTRON_RUN_AS_NODE: '1' }, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
      let kill: NodeJS.Timeout | undefined;
      const stop = (): void => {
        child.kill('SIGTERM');
        kill ??= setTimeout(() => child.kill('SIGKILL'), killAfterMilliseconds);
        kill.unref();
      };
      this.running.add(stop);
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });

      const output: Buffer[] = [];
      let size = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > replyLimit) stop();
        else output.push(chunk);
      });
      const errors = new ErrorLines(onProgress);
      child.stderr.setEncoding('utf8').on('data', (text: string) => { errors.take(text); });

      const settle = (): void => {
        clearTimeout(kill);
        this.running.delete(stop);
        signal?.removeEventListener('abort', stop);
      };
      child.once('error', (error) => {
        settle();
        this.log.error(`  ${error.message}`);
        reject(new CoreError('cannot-run', error.message, ''));
      });
      child.once('close', (code) => {
        settle();
        resolve({ output: Buffer.concat(output).toString('utf8'), errorOutput: errors.rest(), exitCode: code ?? -1 });
      });
    });
  }
}

interface Ended { output: string; errorOutput: string; exitCode: number }

/** Sorts standard error: progress lines go to the listener, all else is kept to be logged. */
class ErrorLines {
  private pending = '';
  private kept = '';

  constructor(private readonly onProgress: Request<unknown>['onProgress']) {}

  take(text: string): void {
    const lines = (this.pending + text).split('\n');
    this.pending = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  rest(): string {
    if (this.pending) this.line(this.pending);
    return this.kept;
  }

  private line(line: string): void {
    const progress = line.startsWith('{') ? progressOf(line) : undefined;
    if (progress) this.onProgress?.(progress);
    else if (this.kept.length < 65_536) this.kept += line + '\n';
  }
}

function progressOf(line: string): ProgressLine['progress'] | undefined {
  try {
    const parsed = ProgressLine.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data.progress : undefined;
  } catch {
    return undefined;
  }
}
