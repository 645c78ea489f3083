/** An error a person can meet: a kind from the fixed vocabulary, what happened, and what to do about it. */
export class Failure extends Error {
  constructor(
    readonly kind: string,
    message: string,
    /** One sentence: what to do. */
    readonly hint: string,
    /** 1 failed · 2 refused before anything was touched · 3 stale (design §4). */
    readonly exitCode: 1 | 2 | 3 = 1,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

/** The sentence of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system's code of a failed file operation (`ENOENT`, `EIO`), or undefined. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
