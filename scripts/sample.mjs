// The sample: the state of a loop that works on octo/repo, as real files (test/support/sample) with real git checkouts made beside them.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const source = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'test', 'support', 'sample');
/** The home directory that the sample's files name. */
const placeholder = '/home/dev';

function git(directory, ...args) {
  const identity = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com', '-c', 'commit.gpgsign=false', '-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always'];
  const done = spawnSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' } });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')} failed in ${directory}: ${done.stderr ?? done.error?.message}`);
}

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function rewritePaths(directory, home) {
  for (const name of readdirSync(directory)) {
    const file = path.join(directory, name);
    if (statSync(file).isDirectory()) rewritePaths(file, home);
    else {
      const text = readFileSync(file, 'utf8');
      if (text.includes(placeholder)) writeFileSync(file, text.replaceAll(placeholder, home));
    }
  }
}

const requirements = (title) => `---\ntype: requirements\nstatus: approved\n---\n\n# ${title}\n\n> What it must do, and how we know.\n`;
const tasks = '---\ntype: tasks\nstatus: approved\n---\n\n# Tasks\n\n- [x] 1. Read the loop\'s state\n- [x] 2. Decide what is old\n- [x] 3. Keep what a pull request needs\n- [x] 4. Dry run\n- [ ] 5. Prune on write\n';

/**
 * Puts the sample into `home` (a scratch folder): `loops/` with `.the-loop`, the state root and the workspace root. With git, items 15, 16 and
 * 31 have checkouts; the one of 15 holds 5 uncommitted files and 1 unpushed commit.
 * @returns {{ folder: string, stateRoot: string, workspaceRoot: string }}
 */
export function makeSample(home, { checkouts = true } = {}) {
  cpSync(source, home, { recursive: true });
  rewritePaths(home, home);
  const folder = path.join(home, 'loops');
  const workspaceRoot = path.join(folder, 'ws');
  const places = { folder, stateRoot: path.join(folder, 'state'), workspaceRoot };
  if (!checkouts || spawnSync('git', ['--version']).status !== 0) return places;

  const origin = path.join(home, 'origin', 'octo', 'repo.git');
  const clone = path.join(workspaceRoot, 'github.com', 'octo', 'repo');
  mkdirSync(origin, { recursive: true });
  git(origin, 'init', '--quiet', '--bare');
  mkdirSync(clone, { recursive: true });
  git(clone, 'init', '--quiet');
  write(path.join(clone, 'README.md'), '# repo\n');
  write(path.join(clone, 'src/state.js'), 'export const targets = [];\n');
  write(path.join(clone, 'src/prune.js'), 'export function prune() {}\n');
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'First light');
  git(clone, 'remote', 'add', 'origin', origin);
  git(clone, 'push', '--quiet', '-u', 'origin', 'main');

  const worktree = (number, title, branch) => {
    const directory = path.join(workspaceRoot, '.worktrees/github.com/octo/repo', `github-octo-repo-${number}`);
    mkdirSync(path.dirname(directory), { recursive: true });
    git(clone, 'worktree', 'add', '--quiet', '-b', branch, directory);
    write(path.join(directory, `docs/specs/issue-${number}/requirements.md`), requirements(title));
    write(path.join(directory, `docs/specs/issue-${number}/tasks.md`), tasks);
    git(directory, 'add', '.');
    git(directory, 'commit', '--quiet', '-m', `The plan for issue ${number}`);
    git(directory, 'push', '--quiet', '-u', 'origin', branch);
    return directory;
  };
  const fifteen = worktree(15, 'Prune loop state', 'issue-15');
  write(path.join(fifteen, 'src/prune.js'), 'export function prune(targets) {\n  return targets;\n}\n');
  git(fifteen, 'commit', '--quiet', '-am', 'Start on pruning');
  write(path.join(fifteen, 'src/prune.js'), 'export function prune(targets, now) {\n  return targets.filter((target) => now - target.at < 30);\n}\n');
  write(path.join(fifteen, 'src/state.js'), 'export const targets = new Map();\n');
  write(path.join(fifteen, 'README.md'), '# repo\n\nPrunes its state.\n');
  git(fifteen, 'add', 'README.md');
  write(path.join(fifteen, 'notes.txt'), 'ask octocat about the cursor\n');
  write(path.join(fifteen, 'test/prune.test.js'), 'import "../src/prune.js";\n');
  worktree(16, 'Prune loop state, reviewed', 'issue-15-review');
  worktree(31, 'Retry failed uploads', 'issue-31');
  return places;
}

/**
 * Two agents made of a shell with a child, of the items 15 and 16, in the tmux server that `environment` names (TMUX_TMPDIR), so that attaching
 * and ending can be tried. Gives whether they run: without tmux they do not.
 */
export function startAgents(sample, environment) {
  const env = { ...process.env, ...environment };
  delete env.TMUX;
  const agent = 'echo "A sample agent. It does nothing but wait. Ctrl+B, D detaches."; sleep 86400 & wait';
  return ['15', '16'].every((number) => {
    const directory = path.join(sample.workspaceRoot, '.worktrees/github.com/octo/repo', `github-octo-repo-${number}`);
    return spawnSync('tmux', ['new-session', '-d', '-s', `loop-github-octo-repo-${number}`, '-c', existsSync(directory) ? directory : sample.folder, agent], { env }).status === 0;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const home = path.resolve(process.argv[2] ?? '');
  if (process.argv[2] === undefined || existsSync(path.join(home, 'loops'))) throw new Error('usage: node scripts/sample.mjs NEW-FOLDER');
  mkdirSync(home, { recursive: true });
  console.log(makeSample(home).folder);
}
