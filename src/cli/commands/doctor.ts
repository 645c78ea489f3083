import fs from 'node:fs';
import type { CliConfig } from '../../core/config/cliConfig';
import { Failure } from '../../core/disk/failure';
import { breakLock } from '../../core/disk/lock';
import { diskReader } from '../../core/disk/reader';
import { lockFile } from '../../core/plan/store';
import type { DoctorReply } from '../../protocol/sessions';
import { flag, stateOptions, type Command, type Context, type Values } from '../command';
import { daemonFindings, recordFindings, storeFindings, terminalFindings, trySnapshot } from '../doctorFindings';
import { plain, table } from '../output';
import { contextWarnings, loadConfig, storesHere, tmuxOf } from '../state';

type Finding = DoctorReply['findings'][number];

/** The configuration, or the finding that it cannot be read: doctor is what people run when it is broken. */
async function configOrFinding(context: Context, values: Values): Promise<CliConfig | Finding> {
  try {
    return await loadConfig(context, values);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { kind: error.kind, level: 'error', message: error.message, hint: error.hint };
  }
}

async function gather(context: Context, values: Values): Promise<{ settings: DoctorReply['config']; findings: Finding[] }> {
  const config = await configOrFinding(context, values);
  if ('level' in config) return { settings: [], findings: [config] };
  const findings: Finding[] = config.problems.map((message) => ({ kind: 'config', level: 'warning', message, hint: 'Correct that line.' }));
  if (!fs.existsSync(config.stateRoot)) {
    findings.push({ kind: 'no-state', level: 'info', message: `There is no state root at ${config.stateRoot}.`, hint: 'Go to the folder the loop runs in, or name its configuration with --config.', path: config.stateRoot });
  }
  for (const store of storesHere(context, config)) {
    if (flag(values, 'unlock') && breakLock(lockFile(store))) findings.push({ kind: 'unlocked', level: 'info', message: 'The lock was removed.', hint: 'Nothing to do.', path: lockFile(store) });
    findings.push(...storeFindings(store, context.clock.now()));
  }
  const snapshot = trySnapshot(diskReader, config);
  if ('level' in snapshot) findings.push(snapshot);
  else {
    findings.push(...recordFindings(config, snapshot), ...daemonFindings(diskReader, config));
    if (!flag(values, 'no-exec')) findings.push(...await terminalFindings(config, snapshot, tmuxOf(context), context.signal));
  }
  return { settings: [{ key: 'config file', value: config.file, from: config.file === null ? 'none found: all is default' : 'found' }, ...config.settings], findings };
}

async function doctor(context: Context, values: Values): Promise<number> {
  const { out } = context;
  const { settings, findings } = await gather(context, values);
  const reply: DoctorReply = { verb: 'doctor', config: settings, findings, warnings: contextWarnings(context) };
  out.document(reply);
  if (!out.json) {
    for (const line of table(settings.map(({ key, value, from }) => [key, value === null || value === '' ? '-' : String(value), from]))) out.line(line);
    out.line();
    const colour = { info: 'cyan', warning: 'yellow', error: 'red' } as const;
    for (const finding of findings) {
      out.line(`${out.paint(colour[finding.level], finding.level)}: ${plain(finding.message)}`);
      out.line(out.paint('dim', `  ${plain(finding.hint)}${finding.path === undefined ? '' : `  [${plain(finding.path)}]`}`));
    }
    if (findings.every((finding) => finding.level === 'info')) out.line(out.paint('green', 'Nothing needs a hand.'));
  }
  return findings.some((finding) => finding.level !== 'info') ? 1 : 0;
}

export const command: Command = {
  summary: 'what is in force and what needs a hand',
  verbs: {
    '': {
      summary: 'Show the configuration in force and its sources, and everything that needs a hand, with what to do.',
      usage: '[--unlock] [--no-exec] [--config PATH] [--json]',
      options: { unlock: { type: 'boolean', help: 'Remove a lock that no living process of this host holds.' }, ...stateOptions },
      examples: ['loopkeeper doctor', 'loopkeeper doctor --json', 'loopkeeper doctor --unlock'],
      run: doctor,
    },
  },
};
