import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Row, RowWord } from '../../../src/extension/views/row';

/** The window's folder: a sample made afresh for the run. */
export const folder = (): string => {
  const found = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (found === undefined) throw new Error('the window has no folder');
  return found;
};
export const stateRoot = (): string => path.join(folder(), 'state');
export const record = (number: number): string => path.join(stateRoot(), 'local', `github-octo-repo-${String(number)}.json`);
export const portable = (number: number): string => path.join(stateRoot(), 'portable', `github-octo-repo-${String(number)}.json`);

/** A line for whoever reads the run's output. */
export function report(line: string): void {
  const out = process.env['LK_SUITE_OUT'];
  if (out !== undefined) appendFileSync(out, `    ${line}\n`);
}

/** Every file below a folder with its bytes, but for what the program keeps beside the state and the event log. */
export function contents(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true }).map(String).sort()) {
    const file = path.join(directory, name);
    if (statSync(file).isFile() && !name.startsWith('loopkeeper') && !name.startsWith('logs')) found[name] = readFileSync(file, 'utf8');
  }
  return found;
}

/** A row as a view would hand it to a command. */
export function row(ref: string, words: RowWord[] = ['item'], subject: Partial<Row['subject']> = {}): Row {
  return { id: ref, label: ref, icon: 'x', words, spoken: ref, subject: { place: { cwd: folder(), stateRoot: stateRoot() }, ref, ...subject } };
}

export async function until(check: () => boolean | Promise<boolean>, what: string, milliseconds = 30_000): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!await check()) {
    if (Date.now() > end) throw new Error(`not within ${String(milliseconds / 1000)} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Question { message: string; detail: string; buttons: string[]; modal: boolean }
interface Pick { label: string; description?: string; detail?: string }

/** Stands in for the person: answers questions and picks, and remembers what was asked and said. */
export class Person {
  readonly questions: Question[] = [];
  readonly said: string[] = [];
  readonly picks: Pick[][] = [];
  /** Answers, the first for the first modal question, and so on; a function may do something first. Without one: Cancel. */
  answers: (string | undefined | (() => string | undefined))[] = [];
  /** What is clicked in the next notification that has such a button. */
  clicks: string[] = [];
  /** Which picks are chosen, by label. */
  choose: (pick: Pick) => boolean = () => false;
  private readonly real = { ...vscode.window };

  constructor() {
    const ask = (message: string, ...rest: unknown[]): Promise<unknown> => {
      const [first, ...others] = rest;
      const options = isOptions(first) ? first : undefined;
      const items = options ? others : rest;
      const titles = items.map((item) => typeof item === 'string' ? item : (item as { title: string }).title);
      const itemOf = (title: string | undefined): unknown => items[titles.indexOf(title ?? '')];
      if (options?.modal) {
        this.questions.push({ message, detail: options.detail ?? '', buttons: titles, modal: true });
        const answer = this.answers.shift();
        return Promise.resolve(itemOf(typeof answer === 'function' ? answer() : answer));
      }
      this.said.push(message);
      const click = this.clicks.findIndex((title) => titles.includes(title));
      return Promise.resolve(click < 0 ? undefined : itemOf(this.clicks.splice(click, 1)[0]));
    };
    Object.assign(vscode.window, {
      showWarningMessage: ask, showInformationMessage: ask, showErrorMessage: ask,
      showQuickPick: async (given: unknown, options?: { canPickMany?: boolean }) => {
        const picks = await given as Pick[];
        this.picks.push(picks);
        const chosen = picks.filter((pick) => this.choose(pick));
        return options?.canPickMany ? chosen : chosen[0];
      },
    });
  }

  /** The person leaves; the editor answers again. */
  leave(): void {
    const { showWarningMessage, showInformationMessage, showErrorMessage, showQuickPick } = this.real;
    Object.assign(vscode.window, { showWarningMessage, showInformationMessage, showErrorMessage, showQuickPick });
  }
}

function isOptions(value: unknown): value is { modal?: boolean; detail?: string } {
  return typeof value === 'object' && value !== null && !('title' in value);
}
