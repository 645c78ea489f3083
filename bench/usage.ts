import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findSessions } from '../src/core/harness/claudeSessions';
import { TAIL_BYTES } from '../src/core/harness/claudeTranscript';

export interface UsageFigures {
  transcripts: number;
  /** The sizes of all transcripts together, in bytes. */
  size: number;
  milliseconds: number;
  bytesRead: number;
  /** The most that was read of one of them. */
  most: number;
  /** How many gave a figure, and how many are rightly unknown. */
  known: number;
  unknown: number;
}

const record = (fields: Record<string, unknown>) => `${JSON.stringify(fields)}\n`;

/** The end of a transcript: tool output of some size, then the answer whose figure counts; every tenth ends at a boundary, every other one in bulky records. */
function tailOf(index: number, cwd: string): string {
  const common = { cwd, sessionId: `s${String(index)}`, timestamp: '2026-11-30T19:00:00.000Z' };
  const answer = record({ type: 'assistant', ...common, message: { model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'x'.repeat(400) }], usage: { input_tokens: 5, cache_creation_input_tokens: 1000, cache_read_input_tokens: 100_000 + index, output_tokens: 9 } } });
  const output = (kilobytes: number) => record({ type: 'user', ...common, message: { content: [{ type: 'tool_result', content: 'line of output\n'.repeat(kilobytes * 68) }] } });
  const end = index % 10 === 0 ? record({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto', preTokens: 150_000 } }) : '';
  return output(3).repeat(8) + answer + output(index % 2 === 0 ? 1 : 30) + record({ type: 'last-prompt', lastPrompt: 'go on' }) + end;
}

/**
 * Usage of many transcripts of 10 KB to 20 MB, all in one folder: the time of the look and what it read of the disk (the start of the program
 * is not part of it). The files are sparse but for their ends. Throws when more than 64 KB of one was read, or a figure is wrong.
 */
export function usageOfTranscripts(count = 1_000): UsageFigures {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'lk-bench-')));
  try {
    const work = path.join(directory, 'work');
    const project = path.join(directory, 'claude/projects', work.replace(/[^A-Za-z0-9]/g, '-'));
    fs.mkdirSync(project, { recursive: true });
    fs.mkdirSync(work);
    let size = 0;
    for (let index = 0; index < count; index += 1) {
      const bytes = Math.round(10_000 * (2_000 ** (index / Math.max(1, count - 1))));
      const tail = Buffer.from(tailOf(index, work));
      const start = Math.max(0, bytes - tail.length);
      const fd = fs.openSync(path.join(project, `s${String(index)}.jsonl`), 'w');
      // What is cut off at the front of a small one would be half a line; a line break makes it whole.
      fs.writeSync(fd, Buffer.concat([Buffer.from('\n'), tail.subarray(tail.length - Math.min(tail.length, Math.max(bytes, 10_000)))]), 0, undefined, start);
      fs.closeSync(fd);
      size += fs.statSync(path.join(project, `s${String(index)}.jsonl`)).size;
    }
    const started = performance.now();
    const { sessions, bytesRead } = findSessions({ directory: path.join(directory, 'claude'), folders: [work] });
    const milliseconds = performance.now() - started;
    const most = Math.max(...sessions.map((session) => session.tail.bytesRead));
    if (most > TAIL_BYTES) throw new Error(`${String(most)} bytes of one transcript were read`);
    for (const session of sessions) {
      const index = Number(session.id.slice(1));
      const { tokens, reason } = session.tail;
      if (index % 10 === 0 ? reason !== 'after-boundary' : tokens !== null && tokens !== 101_005 + index) throw new Error(`${session.id}: ${String(tokens)} ${String(reason)}`);
    }
    const known = sessions.filter((session) => session.tail.tokens !== null).length;
    return { transcripts: sessions.length, size, milliseconds, bytesRead, most, known, unknown: sessions.length - known };
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
