/** A place in a file, both counted from 1; `length` = how many characters of that line it covers. */
export interface Place { line: number; column: number; length: number }

/** Offsets of a text as lines and columns. A span that goes over its line is cut there. */
export class Places {
  private readonly starts: number[] = [0];

  constructor(private readonly text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1);
  }

  at(offset: number, end = offset): Place {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle; else high = middle - 1;
    }
    const start = this.starts[low] ?? 0;
    const lineEnd = this.text.indexOf('\n', offset);
    const stop = Math.min(end, lineEnd < 0 ? this.text.length : lineEnd);
    return { line: low + 1, column: offset - start + 1, length: Math.max(0, stop - offset) };
  }

  /** A whole line. */
  line(line: number): Place {
    const start = this.starts[line - 1] ?? 0;
    return { ...this.at(start, this.text.length), line, column: 1 };
  }
}
