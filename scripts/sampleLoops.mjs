// What other loops of the sample remember: the state of a CI loop, two retests, a stopped workflow run and a context policy. Ages are counted
// from now, so that the sample always has something that goes and something that stays.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'dist', 'cli.js');
const day = 24 * 60 * 60 * 1000;
const ago = (days) => new Date(Date.now() - days * day).toISOString().replace(/\.\d+Z$/, 'Z');

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof text === 'string' ? text : `${JSON.stringify(text, null, 2)}\n`);
}

function loopState(directory) {
  const target = (days, outcome, failures, more = {}) => ({ last_run: ago(days), outcome, consecutive_failures: failures, open_rejections: [], ...more });
  write(path.join(directory, 'state-ci-sweeper.json'), { targets: {
    'integration:main': target(4, 'rejected', 3, { last_reject_reason: 'No file changes produced', last_sha: 'b874a1e0baf564a4c56770f19b5baabc319c7b13' }),
    'integration:release': target(41, 'rejected', 3, { last_reject_reason: 'A workflow file is not on the list of what may be changed', last_sha: '1c2b8d2f9a7e6c5b4a39281706f5e4d3c2b1a098' }),
    'pull_request:452': target(38, 'rejected', 3, { last_reject_reason: 'No file changes produced' }),
    'pull_request:460': target(18, 'rejected', 1, { last_reject_reason: 'The failing job is not touched' }),
    'pull_request:471': target(33, 'rejected', 1, { pending: { sha: 'bed927ac8d40e130bf69690d4c0a30b7b138f94b', pr: 472, pr_url: 'https://github.com/octo/repo/pull/472', loop_name: 'ci-sweeper', created_at: ago(33) } }),
    'pull_request:480': target(2, 'merged', 0, { last_sha: '5d9a3b1c0e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b' }),
  } });
  write(path.join(directory, 'state-ci-sweeper-run-ledger.json'), { runs: Object.fromEntries([[29310573442, 45, 'rejected'], [29710573460, 12, 'pr-created'], [29810573471, 1, 'rejected']].map(([id, days, outcome]) => [String(id), {
    workflow_name: 'on-ci-push', head_sha: 'b874a1e0baf564a4c56770f19b5baabc319c7b13', outcome, reject_count: outcome === 'rejected' ? 1 : 0, loop_run_id: String(id + 7), updated_at: ago(days),
  }])) });
  const line = (days, outcome) => JSON.stringify({ run_id: ago(days), loop_name: 'ci-sweeper', duration_s: 212, outcome, skip_reason: outcome === 'skipped' ? 'circuit_breaker' : 'none', tokens_total: 48_211, workflow_run: '29310573449' });
  write(path.join(directory, 'loop-run-log.md'), `# Loop Run Log\n\nAppend one entry per run. Prune entries older than 30 days.\n\n## Recent Runs\n\n<!-- Loop appends below this line -->\n\n${[line(41, 'rejected'), line(12, 'pr-created'), line(4, 'rejected'), line(3, 'skipped')].join('\n')}\n`);
}

function workflowRun(folder) {
  const flow = (name) => path.join(folder, 'flows', name);
  const flows = {
    review: { 'START.md': 'Read the issue.\n<call return="WRAP_UP.md">CHECK.md</call>\n', 'CHECK.md': 'Look at one file.\n<reset>CHECK.md</reset> while files are left, else <goto>REPORT.md</goto>\n', 'REPORT.md': '<result>reviewed</result>\n', 'WRAP_UP.md': '<result>done</result>\n' },
  };
  for (const [name, files] of Object.entries(flows)) for (const [file, text] of Object.entries(files)) write(path.join(flow(name), file), text);
  write(path.join(folder, '.raymond', 'state', 'nightly.json'), {
    workflow_id: 'nightly', scope_dir: flow('review'), total_cost_usd: 1.24, budget_usd: 10, started_at: ago(3),
    agents: [{
      id: 'main', current_state: 'CHECK.md', session_id: '0f1c5e7a-1111-2222-3333-444455556666', stack: [{ session: 's-1', state: 'WRAP_UP.md', scope_dir: flow('review'), cwd: folder }],
      cwd: folder, scope_dir: flow('review'), status: 'paused', error: 'Claude Code execution failed', nesting_depth: 1, ask_entered_at: '0001-01-01T00:00:00Z',
    }],
  });
}

function retests(folder, home) {
  const retest = (...args) => {
    const done = spawnSync(process.execPath, [program, 'retest', ...args, '--json'], { cwd: folder, encoding: 'utf8', env: { ...process.env, HOME: home } });
    if (done.status !== 0) throw new Error(`retest ${args.join(' ')} failed: ${done.stdout}${done.stderr}`);
  };
  retest('start', '--finding', 'F-12', '--goal', 'Replay the login bypass', '--scope', 'http://lab:3000/rest/user/login');
  retest('conclude', 'S-1', '--status', 'fixed', '--rationale', 'No token is returned any more', '--actor', 'agent');
  retest('start', '--finding', 'F-20', '--goal', 'Read another basket', '--scope', 'http://lab:3000/rest/basket');
  retest('message', 'S-2', 'Try it with the guest account first.');
}

const policy = `version: "0.5.0"

# When an agent's window is cleared or compacted. \`loopkeeper context guide\` says what that means.
contextManagement:
  enabled: true
  phaseBoundary: clear     # a phase ends
  taskBoundary: compact    # a task is done
  midTask: compact         # near the limit
`;

/** The folder is a repository, as that of a CI loop is. */
function commit(folder) {
  const git = (...args) => spawnSync('git', ['-c', 'commit.gpgsign=false', ...args], { cwd: folder, env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' } }).status === 0;
  return git('init', '--quiet', '--initial-branch=main') && git('config', 'user.name', 'Sample') && git('config', 'user.email', 'sample@example.com')
    && git('add', '.loop', 'flows', '.the-loop/harness-config.yaml') && git('commit', '--quiet', '-m', 'State of the CI loop');
}

/** Adds them to a sample that `makeSample` has put into \`home\`. Needs the built program. */
export function addOtherLoops(home, { folder }) {
  loopState(path.join(folder, '.loop'));
  workflowRun(folder);
  write(path.join(folder, '.the-loop', 'harness-config.yaml'), policy);
  retests(folder, home);
  commit(folder);
}
