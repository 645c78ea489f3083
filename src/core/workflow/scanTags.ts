import { isSpace, isTag, TAGS, type Tag } from './tags';

/** A tag with its closing tag, by offsets into the text (UTF-16 units, ends exclusive). */
export interface FoundTag {
  tag: Tag;
  /** Where its `<` is, and where its closing tag ends. */
  start: number;
  end: number;
  attributes: Record<string, string>;
  contentStart: number;
  contentEnd: number;
  /** The content without white space at both ends, and whether a `/` or `\\` is in it. */
  target: string;
  isPath: boolean;
}

const NONE = -1;

/**
 * Finds tags in order (decisions P1 to P4): a name ends at a word boundary; the payload of `result`, `ask` and `print` is opaque;
 * a `>` in a quoted attribute value belongs to the value; an opening tag without its closing tag is no tag and hides nothing.
 * Linear in the length of the text, whatever it holds: every look ahead is remembered.
 */
export function* scanTags(text: string): Generator<FoundTag> {
  // `-workflow` names first, so that `<reset-workflow` is not read as `<reset`. A print tag takes no attributes.
  const names = [...TAGS].sort((a, b) => b.length - a.length).join('|');
  const opening = new RegExp(`<(?:(${names})\\b|print>)`, 'g');
  const ends = new OpeningEnds(text);
  const closings = new Closings(text);
  const contents = new Contents(text);
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const name = match[1];
    if (name === undefined) {
      const close = closings.after('print', opening.lastIndex);
      if (close !== NONE) opening.lastIndex = close + '</print>'.length;
      continue;
    }
    if (!isTag(name)) continue;
    const attributesStart = opening.lastIndex;
    const tagEnd = ends.from(attributesStart);
    const contentEnd = tagEnd === NONE ? NONE : closings.after(name, tagEnd + 1);
    if (contentEnd === NONE) continue;
    const end = contentEnd + `</${name}>`.length;
    yield {
      tag: name, start: match.index, end, attributes: attributesOf(text.slice(attributesStart, tagEnd)), contentStart: tagEnd + 1, contentEnd,
      ...contents.of(tagEnd + 1, contentEnd),
    };
    opening.lastIndex = name === 'result' || name === 'ask' ? end : tagEnd + 1;
  }
}

/** `name="value"` and `name='value'`: no space round `=`, no escapes, the last of a name wins. */
function attributesOf(text: string): Record<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', double, single] of text.matchAll(/\b(\w+)=(?:"([^"]*)"|'([^']*)')/g)) found.set(name, double ?? single ?? '');
  return Object.fromEntries(found);
}

/** Where opening tags end: the first `>` that is in no quoted attribute value. */
class OpeningEnds {
  /** The end found from each event looked at, plus 2 (0 = not looked at). Made when first needed: most texts hold few tags. */
  private known: Int32Array | undefined;
  // What matters: a `>`, or the quote that opens a value.
  private readonly event = />|(?<=\w=)["']/g;
  /** The event that the last start met first; starts only go forward. */
  private first = 0;

  constructor(private readonly text: string) {}

  from(start: number): number {
    if (this.first !== NONE && this.first < start) this.first = this.next(start);
    this.known ??= new Int32Array(this.text.length);
    const chain: number[] = [];
    let end = NONE;
    for (let at = this.first; at !== NONE;) {
      const known = this.known[at] ?? 0;
      if (known > 0) { end = known - 2; break; }
      chain.push(at);
      const character = this.text.charAt(at);
      if (character === '>') { end = at; break; }
      const close = this.text.indexOf(character, at + 1);
      at = this.next((close === NONE ? at : close) + 1);
    }
    for (const at of chain) this.known[at] = end + 2;
    return end;
  }

  private next(from: number): number {
    this.event.lastIndex = from;
    return this.event.exec(this.text)?.index ?? NONE;
  }
}

/** Where closing tags are, by name, found once. */
class Closings {
  private byName: Map<string, number[]> | undefined;

  constructor(private readonly text: string) {}

  /** The first `</name>` at or behind an offset, or -1. */
  after(name: string, offset: number): number {
    const places = (this.byName ??= this.find()).get(name) ?? [];
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < offset) low = middle + 1; else high = middle;
    }
    return places[low] ?? NONE;
  }

  private find(): Map<string, number[]> {
    const found = new Map<string, number[]>();
    for (const match of this.text.matchAll(/<\/([a-z-]{1,17})>/g)) {
      const name = match[1] ?? '';
      const places = found.get(name);
      if (places) places.push(match.index); else found.set(name, [match.index]);
    }
    return found;
  }
}

/** What is in the contents, which overlap when tags are nested: each place is looked at once. Contents come in the order of their starts. */
class Contents {
  private readonly trimmedEnds = new Map<number, number>();
  private separator = 0;

  constructor(private readonly text: string) {}

  of(start: number, end: number): { target: string; isPath: boolean } {
    let last = this.trimmedEnds.get(end) ?? end;
    while (last > start && isSpace(this.text.charAt(last - 1))) last -= 1;
    this.trimmedEnds.set(end, last);
    let first = start;
    while (first < last && isSpace(this.text.charAt(first))) first += 1;
    while (this.separator < start || (this.separator < this.text.length && !/[/\\]/.test(this.text.charAt(this.separator)))) this.separator += 1;
    return { target: this.text.slice(first, Math.max(first, last)), isPath: this.separator < end };
  }
}
