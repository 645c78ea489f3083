// Text that others wrote (titles, prompts, branches, commands): shown as text, whatever is in it.

/** Controls, line separators, zero-width and direction marks, tags, lone surrogates: all that can hide or reorder what is read. */
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Every hidden character as an escape (`\u202e`), a line break as `\n`. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** At most `length` characters, the cut marked by `…`. Characters are code points, so that none is cut in half. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const characters = Array.from(text.slice(0, length * 2));
  return characters.length <= length && text.length <= length * 2 ? text : characters.slice(0, length - 1).join('').trimEnd() + '…';
}

/** Visible and short: what labels, dialogs and messages show of a foreign text. */
export function shown(text: string, length = 120): string {
  return shorten(visible(shorten(text, length * 2)), length);
}

/** For a Markdown string: nothing in it is markup, a link, an icon or HTML. */
export function markdown(text: string): string {
  return visible(text).replace(/[\\`*_{}[\]()#+\-.!|<>&~$:@/]/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

/** For a notification or dialog, where `[text](target)` is a link: the brackets are parted. */
export function unlinked(text: string): string {
  return text.replace(/\]\(/g, '] (');
}

/** For a quick pick, where `$(name)` is an icon. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\(/g, '\\$(');
}
