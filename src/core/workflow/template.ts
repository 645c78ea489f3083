/**
 * Puts values in for `{{name}}`; unknown names stay as they are. In one pass, so that a value that happens to hold `{{item}}` is not
 * expanded again.
 */
export function renderTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole));
}
