import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { nouns } from '../../src/cli/nouns';
import { makePlace, runCli, type Place } from '../support/program';

describe('help and completion', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { assert.deepEqual(fs.readdirSync(place.work), [], 'help makes nothing'); place.remove(); });
  const commands = async (): Promise<{ noun: string; verb: string; examples: string[] }[]> =>
    (await Promise.all(Object.entries(nouns).map(async ([noun, load]) => Object.entries((await load()).command.verbs).map(([verb, { examples }]) => ({ noun, verb, examples }))))).flat();

  it('the program names every command in a line each', async () => {
    const { code, stdout } = await runCli(['--help'], { cwd: place.work });
    assert.equal(code, 0);
    for (const { noun, verb } of await commands()) assert.match(stdout, new RegExp(`^  ${`${noun} ${verb}`.trim()} +\\S`, 'm'));
    assert.equal((await runCli([], { cwd: place.work })).code, 2, 'nothing asked for is a usage error');
  });

  it('every command has help with usage, options and examples of its own', async () => {
    const waiting = await commands();
    assert.ok(waiting.length > 30);
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { noun, verb, examples } = next;
        const words = verb === '' ? [noun] : [noun, verb];
        const { code, stdout, stderr } = await runCli([...words, '--help'], { cwd: place.work });
        assert.deepEqual([code, stderr], [0, ''], words.join(' '));
        assert.ok(stdout.startsWith(`loopkeeper ${words.join(' ')}`) && stdout.includes('\nOptions:\n') && stdout.includes('--json') && stdout.includes('\nExamples:\n'), stdout);
        assert.ok(examples.length > 0, words.join(' '));
        for (const example of examples) assert.ok(stdout.includes(example) && (example.startsWith('#') || example.includes(`loopkeeper ${words.join(' ')}`)), `${words.join(' ')}: ${example}`);
      }
    }));
  });

  it('an unknown noun, verb and option are usage errors that say where to look', async () => {
    for (const words of [['nothing'], ['sessions', 'nothing'], ['sessions', 'list', '--nothing'], ['__proto__'], ['sessions', 'constructor']]) {
      const { code, stdout } = await runCli([...words, '--json'], { cwd: place.work });
      const { error } = JSON.parse(stdout) as { error: { kind: string; hint: string } };
      assert.deepEqual([code, error.kind], [2, 'usage'], words.join(' '));
      assert.match(error.hint, /--help/);
    }
  });

  it('completion is read by the shells that are here and completes nouns, verbs and options', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await runCli(['completion', shell], { cwd: place.work });
      assert.equal(code, 0);
      for (const noun of Object.keys(nouns)) assert.match(stdout, new RegExp(`\\b${noun}\\b`), `${shell}: ${noun}`);
      const file = path.join(place.home, `completion.${shell}`);
      fs.writeFileSync(file, stdout);
      const parsed = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
      if (parsed.error === undefined) assert.deepEqual([parsed.status, parsed.stderr], [0, ''], shell);
      else assert.notEqual(shell, 'bash', 'bash is everywhere');
    }
    const complete = (...words: string[]): string[] => {
      const script = `source ${path.join(place.home, 'completion.bash')}; COMP_WORDS=(loopkeeper ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${String(words.length)}; _loopkeeper; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
    };
    assert.deepEqual(complete('und'), ['undo']);
    assert.deepEqual(complete('sessions', 're').includes('reset'), true);
    assert.deepEqual(complete('sessions', 'reset', '--wo'), ['--work-item']);
    assert.deepEqual(complete('undo', '--dr'), ['--dry-run']);
  });
});
