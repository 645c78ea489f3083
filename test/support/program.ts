import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The project's folder; mocha runs in it. */
export const root = process.cwd();
export const cli = path.join(root, 'dist', 'cli.js');

export interface Ran { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }
export interface RunOptions { cwd: string; env?: Record<string, string>; uid?: number; nodeArgs?: string[]; program?: string }

/** A clean environment: nothing of the person who runs the tests, and an empty HOME inside the temporary folder. */
export function cleanEnv(home: string, extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', USER: 'tester', TMUX_TMPDIR: home, GIT_CONFIG_NOSYSTEM: '1', ...extra };
}

/** Runs the built program and waits for its end. */
export function runCli(args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.program ?? cli, ...args], {
      cwd: options.cwd, env: options.env ?? cleanEnv(homeOf(options.cwd)), stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => { stdout += chunk; });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => { stderr += chunk; });
    child.once('error', reject);
    child.once('close', (code, signal) => { resolve({ code, signal, stdout, stderr }); });
  });
}

function homeOf(cwd: string): string {
  const home = path.join(path.dirname(cwd), 'home');
  fs.mkdirSync(home, { recursive: true });
  return home;
}

/** A temporary folder with `work` and `home` in it. */
export interface Place { top: string; work: string; home: string; remove(): void }

/** `base`: where to make it, else where temporary files go. */
export function makePlace(base = os.tmpdir()): Place {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(base, 'lk-')));
  const place = { top, work: path.join(top, 'work'), home: path.join(top, 'home'), remove: () => { fs.rmSync(top, { recursive: true, force: true }); } };
  fs.mkdirSync(place.work);
  fs.mkdirSync(place.home);
  return place;
}

/** Writes files given by path relative to `directory`. */
export function writeFiles(directory: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}

/** Every file below a folder, by relative path: text of files, `-> target` of links, `<folder>` of empty ones. `skip` leaves subtrees out. */
export function readTree(directory: string, skip: (relative: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (relative: string): void => {
    const names = fs.readdirSync(path.join(directory, relative)).sort();
    if (names.length === 0 && relative !== '') found[relative] = '<folder>';
    for (const name of names) {
      const inner = path.join(relative, name);
      if (skip(inner)) continue;
      const stat = fs.lstatSync(path.join(directory, inner));
      if (stat.isDirectory()) visit(inner);
      else if (stat.isSymbolicLink()) found[inner] = `-> ${fs.readlinkSync(path.join(directory, inner))}`;
      else found[inner] = fs.readFileSync(path.join(directory, inner), 'latin1');
    }
  };
  visit('');
  return found;
}
