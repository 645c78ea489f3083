/** A line of a Markdown file. `offset` counts characters from the file's start, `number` lines from 1; `text` has no line break. */
export interface MarkdownLine {
  text: string;
  offset: number;
  number: number;
  /** In front matter, a code fence or an HTML comment: it says nothing about tasks, headings or entries. */
  hidden: boolean;
}

export interface MarkdownText {
  lines: MarkdownLine[];
  /** The line of a code fence that is never closed: everything behind it is hidden. */
  openFence?: number;
  /** The line break in use. */
  end: '\n' | '\r\n';
}

/** Front matter: the YAML between two lines `---` at the very start of a file. Offsets of the YAML text itself. */
export interface FrontMatter { start: number; end: number; bodyStart: number }

const fence = /^( *)(`{3,}|~{3,})(.*)$/;

/**
 * Finds the front matter as the-loop does: the first line is `---` and a later line is nothing but `---`.
 * Without the second there is no front matter. A byte order mark before it is let pass.
 */
export function findFrontMatter(text: string): FrontMatter | undefined {
  const first = /^\uFEFF?---[ \t]*(\r?\n|$)/.exec(text);
  if (!first) return undefined;
  const start = first[0].length;
  const closing = /^[ \t]*---[ \t]*(\r?\n|$)/gm;
  closing.lastIndex = start;
  const match = closing.exec(text);
  return match ? { start, end: match.index, bodyStart: match.index + match[0].length } : undefined;
}

/** Splits a file into lines and marks those that are no content: front matter, code fences, block comments. */
export function scanMarkdown(text: string): MarkdownText {
  const bodyStart = findFrontMatter(text)?.bodyStart ?? 0;
  const lines: MarkdownLine[] = [];
  let open: { mark: string; indent: number; line: number } | undefined;
  let comment = false;
  let offset = 0;
  for (const raw of text.split('\n')) {
    const line: MarkdownLine = { text: raw.replace(/\r$/, ''), offset, number: lines.length + 1, hidden: offset < bodyStart };
    offset += raw.length + 1;
    lines.push(line);
    if (line.hidden) continue;
    const match = fence.exec(line.text);
    const mark = match?.[2] ?? '';
    if (open) {
      // A fence inside a list item ends with the item, even unclosed.
      const leftItem = open.indent >= 2 && /^\S/.test(line.text) && !/^[`~]/.test(line.text);
      if (!leftItem) {
        line.hidden = true;
        if (mark.startsWith(open.mark) && match?.[3]?.trim() === '') open = undefined;
        continue;
      }
      open = undefined;
    }
    if (comment) {
      line.hidden = true;
      comment = !line.text.includes('-->');
    } else if (/^\s*<!--/.test(line.text)) {
      line.hidden = true;
      comment = !line.text.slice(line.text.indexOf('<!--') + 4).includes('-->');
    } else if (match && !(mark.startsWith('`') && match[3]?.includes('`'))) {
      line.hidden = true;
      open = { mark, indent: match[1]?.length ?? 0, line: line.number };
    }
  }
  return { lines, end: /\r\n/.test(text) && !/[^\r]\n/.test(text) ? '\r\n' : '\n', ...(open ? { openFence: open.line } : {}) };
}

/** The heading on a line: its level and its text without closing marks. */
export function headingOf(line: MarkdownLine): { level: number; title: string } | undefined {
  if (line.hidden) return undefined;
  const match = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(line.text);
  return match ? { level: match[1]?.length ?? 1, title: (match[2] ?? '').trim() } : undefined;
}

/** The lines of every section whose heading of level 2 matches, without the heading: up to the next heading of level 1 or 2. */
export function sectionLines(lines: readonly MarkdownLine[], title: RegExp): MarkdownLine[] {
  const found: MarkdownLine[] = [];
  let inside = false;
  for (const line of lines) {
    const heading = headingOf(line);
    if (heading && heading.level <= 2) inside = heading.level === 2 && title.test(heading.title);
    else if (inside) found.push(line);
  }
  return found;
}

/** Text without its inline comments, emphasis and code marks: for comparing what is said, not how. */
export function plainText(text: string): string {
  return text.replace(/<!--[\s\S]*?-->/g, '').replace(/[*_`]+/g, '').replace(/\s+/g, ' ').trim();
}
