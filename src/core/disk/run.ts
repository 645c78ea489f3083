import { childProcess } from './builtin';
import { Failure, messageOf } from './failure';

export interface RunOptions {
  cwd?: string;
  /** The whole environment of the child; absent = `baseEnvironment` as it was set at start. */
  env?: Record<string, string | undefined>;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Standard output beyond this is an error. Default 64 MiB. */
  maxBytes?: number;
  input?: string;
}
export interface RunResult { code: number; stdout: Buffer; stderr: string }

/**
 * Runs a program with an argument array, never through a shell, and waits for its end.
 * Failures: `program-missing` (cannot be started), `timeout`, `aborted`, `output-too-large`. A non-zero code is a result, not a failure.
 */
export function runProgram(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const limit = options.maxBytes ?? 64 * 1024 * 1024;
  return new Promise((resolve, reject) => {
    const child = childProcess().spawn(command, [...args], {
      cwd: options.cwd, env: options.env as NodeJS.ProcessEnv | undefined, stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], shell: false,
    });
    const out: Buffer[] = [];
    let size = 0;
    let stderr = '';
    let failure: Failure | undefined;
    const stop = (why: Failure) => { failure ??= why; child.kill('SIGKILL'); };
    const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => {
      stop(new Failure('timeout', `${command} did not answer within ${String(options.timeoutMs)} ms.`, 'Try again; if it stays so, run it by hand to see why.'));
    }, options.timeoutMs);
    const onAbort = () => { stop(new Failure('aborted', `${command} was stopped.`, 'Run the command again.')); };
    if (options.signal?.aborted) onAbort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) stop(new Failure('output-too-large', `${command} printed more than ${String(limit)} bytes.`, 'Run it by hand to see why.'));
      else out.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => { if (stderr.length < 64 * 1024) stderr += chunk.toString('utf8'); });
    const done = () => { clearTimeout(timer); options.signal?.removeEventListener('abort', onAbort); };
    child.once('error', (error) => {
      done();
      reject(failure ?? new Failure('program-missing', `${command} cannot be started: ${messageOf(error)}.`, `Install ${command} or name it in the settings.`));
    });
    child.once('close', (code, signal) => {
      done();
      if (failure) reject(failure);
      else resolve({ code: code ?? (signal ? 128 : 1), stdout: Buffer.concat(out), stderr });
    });
    if (options.input !== undefined) {
      child.stdin?.on('error', () => undefined); // a child that ends early closes its input; its code tells
      child.stdin?.end(options.input);
    }
  });
}
