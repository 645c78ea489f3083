import assert from 'node:assert/strict';
import fc from 'fast-check';
import { resolveCliConfig } from '../../src/core/config/cliConfig';
import { parseCliConfig } from '../../src/core/config/cliConfigFile';
import { Failure } from '../../src/core/disk/failure';

const spell = (words: string[]) => words.flatMap((word) => [word, word.toUpperCase(), (word[0] ?? '').toUpperCase() + word.slice(1)]);
const place = { cwd: '/work', home: '/home/dev' };

describe('cli-config.yaml, any', () => {
  it('takes every boolean of YAML 1.1, however the file is laid out', () => {
    const word = fc.constantFrom(...spell(['yes', 'true', 'on']).map((text) => [text, true] as const), ...spell(['no', 'false', 'off']).map((text) => [text, false] as const));
    fc.assert(fc.property(word, fc.constantFrom('\n', '\r\n'), fc.boolean(), fc.integer({ min: 1, max: 6 }), fc.constantFrom('', ' # why', ' '), fc.nat(3), ([text, value], end, bom, indent, tail, before) => {
      const pad = ' '.repeat(indent);
      const source = (bom ? '\ufeff' : '') + [...Array.from({ length: before }, (_, i) => `x${String(i)}: 1`), 'routing:', `${pad}control:`, `${pad}${pad}requireStartCommand: ${text}${tail}`, ''].join(end);
      const config = resolveCliConfig(parseCliConfig('/f', source), '/f', place);
      assert.equal(config.control.requireStartCommand, value);
      assert.equal(config.settings.find((setting) => setting.key === 'routing.control.requireStartCommand')?.from, `/f:${String(before + 3)}`);
    }));
  });

  it('either reads a text or says which line is wrong', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.array(fc.constantFrom('state:', ' root:', 'routing', ' x', '[', ']', '{', '- ', '\n', ': ', '&a', '*a', '"', "'", '#', '\t', 'yes', '0.5.0', '!!set', '|', '>')).map((parts) => parts.join(''))), (source) => {
      try {
        const config = resolveCliConfig(parseCliConfig('/f', source), '/f', place);
        assert.ok(config.stateRoot.startsWith('/'));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        assert.match(error.message, /^\/f:[1-9]\d*: /);
        assert.ok(Number(/^\/f:(\d+)/.exec(error.message)?.[1]) <= source.split('\n').length);
        assert.equal(error.exitCode, 2);
      }
    }), { numRuns: 3000 });
  });
});
