/** Where a command prints, and how: JSON or for a person, coloured only on a terminal that wants it. */
export interface Terminal {
  json: boolean;
  /** A line on standard output, for a person only: nothing with --json. */
  line(text?: string): void;
  /** The one document of --json. */
  document(value: unknown): void;
  /** A line on standard output as it is, in both modes: for what streams. */
  raw(text: string): void;
  /** A line on standard error, in both modes but for progress. */
  error(text: string): void;
  progress(done: number, total: number, item?: string): void;
  paint(style: Style, text: string): string;
  columns: number;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
const codes: Record<Style, [number, number]> = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39], green: [32, 39], cyan: [36, 39] };

interface Stream { write(text: string): unknown; isTTY?: boolean; columns?: number }

/** Text from files shown on a terminal: control characters and those that turn the writing direction as escapes, so that no record can paint the screen. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Colours follow https://no-color.org; progress is a bar on a terminal, one JSON object a line with --json, nothing otherwise. */
export function terminalOf(stdout: Stream, stderr: Stream, env: Record<string, string | undefined>, json: boolean): Terminal {
  const colours = !json && stdout.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  let barShown = false;
  const clearBar = (): void => {
    if (barShown) stderr.write('\r\u001b[K');
    barShown = false;
  };
  return {
    json,
    columns: stdout.columns ?? 100,
    line: (text = '') => { clearBar(); if (!json) stdout.write(text + '\n'); },
    raw: (text) => { clearBar(); stdout.write(text + '\n'); },
    document: (value) => { clearBar(); if (json) stdout.write(JSON.stringify(value, null, 2) + '\n'); },
    error: (text) => { clearBar(); stderr.write(text + '\n'); },
    progress: (done, total, item) => {
      if (json) { stderr.write(JSON.stringify({ progress: { done, total, ...(item === undefined ? {} : { item }) } }) + '\n'); return; }
      if (stderr.isTTY !== true || total < 20) return;
      const filled = Math.floor((done / total) * 30);
      stderr.write(`\r[${'#'.repeat(filled)}${'.'.repeat(30 - filled)}] ${String(done)}/${String(total)}`);
      barShown = true;
      if (done === total) clearBar();
    },
    paint: (style, text) => (colours ? `\u001b[${String(codes[style][0])}m${text}\u001b[${String(codes[style][1])}m` : text),
  };
}

/** Columns padded to their widest cell; the last one is not padded. Cells are made plain here. */
export function table(rows: readonly (readonly string[])[], paintCell: (row: number, column: number, padded: string) => string = (_row, _column, padded) => padded): string[] {
  const cells = rows.map((row) => row.map(plain));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row, rowIndex) => row.map((cell, column) => paintCell(rowIndex, column, column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ').trimEnd());
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
