import { isWhiteSpace } from './jsonText';
import type { Member } from './jsonText';

/** Replace the text from `start` to `end`. Edits of one text are in order and do not overlap. */
export interface Edit { start: number; end: number; text: string }

/** How a file is written: on lines of their own, indented by `unit`, or on one line with `comma` and `colon`. */
export interface Layout { lines: boolean; unit: string; eol: string; comma: string; colon: string }

/** What to do with an object's members; the values are JSON text. */
export interface ObjectChange {
  remove?: ReadonlySet<Member>;
  replace?: ReadonlyMap<Member, string>;
  add?: readonly { key: string; json: string }[];
}

/** The text with the edits made, in one pass. No edits give the very same string. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let position = 0;
  for (const edit of edits) {
    pieces.push(text.slice(position, edit.start), edit.text);
    position = edit.end;
  }
  pieces.push(text.slice(position));
  return pieces.join('');
}

function spaceBefore(text: string, position: number): string {
  let start = position;
  while (start > 0 && isWhiteSpace(text.charCodeAt(start - 1))) start--;
  return text.slice(start, position);
}

function afterLastLineFeed(space: string): string {
  return space.slice(space.lastIndexOf('\n') + 1);
}

/** The layout of a document, read off its first member. */
export function layoutOf(text: string, members: readonly Member[]): Layout {
  const first = members[0];
  const lineFeed = text.indexOf('\n');
  const eol = lineFeed > 0 && text[lineFeed - 1] === '\r' ? '\r\n' : '\n';
  const space = first === undefined ? '' : spaceBefore(text, first.keyStart);
  if (space.includes('\n')) return { lines: true, unit: afterLastLineFeed(space), eol, comma: ',', colon: ': ' };
  const spaced = first !== undefined && isWhiteSpace(text.charCodeAt(first.start - 1));
  return { lines: false, unit: '', eol, comma: spaced ? ', ' : ',', colon: spaced ? ': ' : ':' };
}

/**
 * Lays JSON text out anew, tokens (and so number text and key order) as they are.
 * @param indent what stands before the line the value begins on; only used on lines.
 */
export function layOut(json: string, layout: Layout, indent: string): string {
  let depth = 0;
  let out = '';
  const newLine = (): string => (layout.lines ? layout.eol + indent + layout.unit.repeat(depth) : '');
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs) ?? [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (token === '{' || token === '[') {
      const next = tokens[i + 1];
      if (next === '}' || next === ']') {
        out += token + next;
        i++;
      } else {
        depth++;
        out += token + newLine();
      }
    } else if (token === '}' || token === ']') {
      depth--;
      out += newLine() + token;
    } else if (token === ',') {
      out += layout.lines ? ',' + newLine() : layout.comma;
    } else {
      out += token === ':' ? layout.colon : token;
    }
  }
  return out;
}

/**
 * The edits that change one object and leave every other byte: what is left reads as if the removed members had never been written,
 * and a new member looks like its neighbours.
 * @param object where the object stands, braces included, and its members
 * @param depth how many objects it lies in: 0 for the document itself
 */
export function changeObject(
  text: string, object: { start: number; end: number; members: readonly Member[] }, change: ObjectChange, layout: Layout, depth: number,
): Edit[] {
  const { members } = object;
  const remaining = change.remove === undefined || change.remove.size === 0 ? members : members.filter((member) => !change.remove?.has(member));
  const first = remaining[0];
  const last = remaining.at(-1);
  const added = change.add ?? [];
  if (first === undefined || last === undefined) {
    if (members.length === 0 && added.length === 0) return [];
    return [{ start: object.start, end: object.end, text: fillEmpty(added, layout, depth) }];
  }

  const space = spaceBefore(text, (last === first ? members[0] ?? first : last).keyStart);
  const style: Layout = space.includes('\n')
    ? { ...layout, lines: true, comma: ',', colon: ': ' }
    : { ...layout, lines: false, ...(layout.lines ? { comma: ', ', colon: ': ' } : {}) };
  const separator = style.lines || last !== first ? ',' + space : style.comma;
  const indent = style.lines ? afterLastLineFeed(space) : '';
  const tail = added.map(({ key, json }) => separator + JSON.stringify(key) + style.colon + layOut(json, style, indent)).join('');

  const edits: Edit[] = [];
  const firstStart = members[0]?.keyStart ?? first.keyStart;
  if (firstStart < first.keyStart) edits.push({ start: firstStart, end: first.keyStart, text: '' });
  let index = members.indexOf(first);
  for (const member of remaining) {
    const json = change.replace?.get(member);
    if (json !== undefined) edits.push({ start: member.start, end: member.end, text: layOut(json, style, indent) });
    // Everything between the end of this value and the end of the last one removed behind it goes.
    let end = member.end;
    for (index++; index < members.length; index++) {
      const next = members[index];
      if (next === undefined || !change.remove?.has(next)) break;
      end = next.end;
    }
    const behind = member === last ? tail : '';
    if (end > member.end || behind !== '') edits.push({ start: member.end, end, text: behind });
  }
  return edits;
}

function fillEmpty(added: readonly { key: string; json: string }[], layout: Layout, depth: number): string {
  if (added.length === 0) return '{}';
  const indent = layout.unit.repeat(depth + 1);
  const parts = added.map(({ key, json }) => JSON.stringify(key) + layout.colon + layOut(json, layout, indent));
  if (!layout.lines) return `{${parts.join(layout.comma)}}`;
  return `{${layout.eol}${indent}${parts.join(`,${layout.eol}${indent}`)}${layout.eol}${layout.unit.repeat(depth)}}`;
}
