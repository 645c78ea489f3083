/** One argument for a POSIX shell. */
function quoted(argument: string): string {
  return /^[A-Za-z0-9_\-./:=@%+,]+$/.test(argument) ? argument : `'${argument.replaceAll('\'', '\'\\\'\'')}'`;
}

/** A command as one line to paste into a POSIX shell; `environment` are the variables it needs. */
export function commandLine(argv: readonly string[], directory?: string, environment: Record<string, string> = {}): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  const command = [...variables, ...argv.map(quoted)].join(' ');
  return directory === undefined ? command : `cd ${quoted(directory)} && ${command}`;
}
