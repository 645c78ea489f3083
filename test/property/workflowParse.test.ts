import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseOutput } from '../../src/core/workflow/parse';
import { scanTags } from '../../src/core/workflow/scanTags';

const fragment = fc.oneof(
  fc.constantFrom('<goto>', '</goto>', '<reset cd="', '<reset>', '</reset>', '<result>', '</result>', '<ask next="A">', '</ask>', '<print>', '</print>', '"', '\'', '>', '<', ' x="',
    ' y=\'', 'A.md', ' ', '\n', '<call return="R">', '</call>', '<goto'),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const soup = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''));

/** The same rules without any memory: for each opening tag look ahead to the end of the text. */
function slowScan(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    if (rest.startsWith('<print>') && rest.includes('</print>')) { at += rest.indexOf('</print>') + '</print>'.length; continue; }
    const name = /^<(call-workflow|function-workflow|fork-workflow|reset-workflow|function|result|reset|call|fork|goto|ask)\b/.exec(rest)?.[1];
    const opened = name === undefined ? undefined : endOfOpening(text, at + name.length + 1);
    const close = opened === undefined ? -1 : text.indexOf(`</${name ?? ''}>`, opened);
    if (name === undefined || opened === undefined || close < 0) { at += 1; continue; }
    found.push(`${name}:${text.slice(opened, close)}`);
    at = name === 'result' || name === 'ask' ? close + name.length + 3 : opened;
  }
  return found;
}

function endOfOpening(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '>') return at + 1;
    if ((character === '"' || character === '\'') && /\w=$/.test(text.slice(0, at))) {
      const close = text.indexOf(character, at + 1);
      if (close >= 0) at = close;
    }
  }
  return undefined;
}

describe('workflow parse', () => {
  it('finds what the rules say, for any soup of tags, quotes and text', () => {
    fc.assert(fc.property(soup, (text) => {
      const found = [...scanTags(text)].map((tag) => `${tag.tag}:${text.slice(tag.contentStart, tag.contentEnd)}`);
      assert.deepEqual(found, slowScan(text));
    }), { numRuns: 5000 });
  });

  // Each of these made some pattern run for minutes; linear means that ten times the text takes about ten times as long.
  const hostile: Record<string, string> = {
    prose: 'The loop goes on, a > b and c < d. ', opened: '<goto ', 'opened quotes': '<goto a="', 'mixed quotes': '<goto a="b=\'', 'closed opening': '<goto>',
    closings: '</goto>', nested: '<reset>A', prints: '<print>', results: '<result>', words: 'a', spaces: ' ', greater: '>', equals: 'a=', lines: '\n', 'whole tags': '<fork next="N">A</fork>',
  };
  for (const [label, unit] of Object.entries(hostile)) {
    it(`reads 10 MB of ${label} in linear time`, function () {
      this.timeout(60_000);
      // Alone at the full size; behind an opening tag, in a payload and before a long white space at a quarter of it.
      const frames = [['', '', 10], ['<goto ', '>A</goto>', 2.5], ['<result>', 'x</result>', 2.5], ['', `${' '.repeat(500_000)}</goto>`, 2.5]] as const;
      for (const [before, after, size] of frames) {
        const timeOf = (megabytes: number): number => {
          const text = before + unit.repeat(Math.ceil((megabytes * 1_000_000) / unit.length)) + after;
          const started = process.cpuUsage();
          parseOutput(text, 'markdown');
          const used = process.cpuUsage(started);
          return (used.user + used.system) / 1000;
        };
        const [small, large] = [timeOf(size / 10), timeOf(size)];
        assert.ok(large < 30 * Math.max(small, 30), `${before}…: a tenth takes ${small.toFixed(0)} ms, the whole ${large.toFixed(0)} ms`);
      }
    });
  }
});
