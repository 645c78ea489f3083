/** JSON as the-loop writes it: every character outside ASCII as `\uXXXX`. */
export function toAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * One line of the event log, without its newline: compact JSON in ASCII, the fields in the order given (`ts`, `source`, `event`, `level`,
 * `pid` first), null and undefined left out (the-loop's format).
 */
export function formatEvent(fields: Record<string, unknown>): string {
  return toAscii(JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))));
}
