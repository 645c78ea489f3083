import { Failure } from '../disk/failure';
import { terminalText } from '../workItems/ref';

/** How tmux is reached: its program, and the name of a private server (`-L`) instead of the default one. */
export interface Tmux { command: string; socket?: string }

const SAFE = /^loop-[A-Za-z0-9_-]+$/;

/** True for the only names that are ever given to tmux (reference the-loop §1.4). */
export function isSafeTerminal(name: string): boolean {
  return SAFE.test(name);
}

/** The name, as it may be given to tmux. Failure `unsafe-name`, exit code 2. */
export function safeTerminal(name: string): string {
  if (isSafeTerminal(name)) return name;
  throw new Failure('unsafe-name', `${JSON.stringify(name)} is no terminal of a loop.`, 'Terminals of loops are named loop-, then letters, digits, _ and -.', 2);
}

/** The arguments before tmux's own command. `-u`: paths come back as they are, whatever the locale. */
export function tmuxArguments(tmux: Tmux): string[] {
  return [...(tmux.socket === undefined ? [] : ['-L', tmux.socket]), '-u'];
}

/** What opens a terminal, to be started without a shell. `readOnly`: nothing that is typed reaches it. Failure `unsafe-name`. */
export function attachCommand(name: string, tmux: Tmux, readOnly: boolean): { command: string; args: string[] } {
  const target = `=${safeTerminal(name)}`;
  const socket = tmux.socket === undefined ? [] : ['-L', tmux.socket];
  return { command: tmux.command, args: [...socket, 'attach', ...(readOnly ? ['-r'] : []), '-t', target] };
}

/** The line a person pastes to read a terminal: `tmux attach -r -t loop-github-octo-repo-15`. Failure `unsafe-name`. */
export function terminalOpenCommand(name: string, tmux: Tmux): string {
  // Without tmux's `=`: zsh would take a word that begins with it for something else.
  const words = [tmux.command, ...(tmux.socket === undefined ? [] : ['-L', tmux.socket]), 'attach', '-r', '-t', safeTerminal(name)];
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/**
 * Terminals that two live records name, each with those records (issue: a terminal that two live records name is not ended).
 * `users`: every terminal that a live record names, with what tells the records apart (the record's path or ref; for a pull
 * request's session that of the record that holds it). Names are compared as tmux keeps them; empty ones are left out.
 */
export function sharedTerminals(users: Iterable<{ terminal: string; record: string }>): Map<string, string[]> {
  const records = new Map<string, Set<string>>();
  for (const { terminal, record } of users) {
    if (terminal === '') continue;
    const name = terminalText(terminal);
    const known = records.get(name) ?? new Set();
    records.set(name, known.add(record));
  }
  return new Map([...records].filter(([, by]) => by.size > 1).map(([name, by]) => [name, [...by].sort()]));
}
