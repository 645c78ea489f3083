/** One argument for a POSIX shell. */
function quoted(argument: string): string {
  return /^[A-Za-z0-9_\-./:=@%+,]+$/.test(argument) ? argument : `'${argument.replaceAll('\'', '\'\\\'\'')}'`;
}

/** Arguments with more options, put before a `--`: what follows that is text, also where it begins with a dash. */
export function withOptions(args: readonly string[], ...options: readonly string[]): string[] {
  const end = args.indexOf('--') < 0 ? args.length : args.indexOf('--');
  return [...args.slice(0, end), ...options, ...args.slice(end)];
}

/** A command as one line to paste into a POSIX shell; `environment` are the variables it needs. */
export function commandLine(argv: readonly string[], directory?: string, environment: Record<string, string> = {}): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  const command = [...variables, ...argv.map(quoted)].join(' ');
  return directory === undefined ? command : `cd ${quoted(directory)} && ${command}`;
}
