import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { commandLine, withOptions } from '../../../src/extension/commandLine';
import { isWithin, placesToLook, tildePath } from '../../../src/extension/places';
import { markdown, shorten, shown, unlinked, visible, withoutIcons } from '../../../src/extension/text/foreign';
import { numberRef, repositoryOf, severalRepositories, shortRef } from '../../../src/extension/text/refs';

describe('foreign text', () => {
  it('shows every hidden character as an escape', () => {
    assert.equal(visible('a\u202eb\u0007c\nd\te\u200bf\ufeff'), 'a\\u202eb\\u0007c\\nd\\te\\u200bf\\ufeff');
    assert.equal(visible('\u{e0041}\ud800'), '\\u{e0041}\\ud800');
    assert.equal(visible('naïve 漢字 👍 עברית'), 'naïve 漢字 👍 עברית');
  });

  it('is cut without splitting a character', () => {
    assert.equal(shorten('short', 10), 'short');
    assert.equal(shorten('👍'.repeat(50), 10), '👍'.repeat(9) + '…');
    assert.equal(shown('x'.repeat(5000)).length, 120);
    assert.ok(shown('\u202e'.repeat(5000)).length <= 120);
  });

  it('is no markup in Markdown, no link in a message, no icon in a pick', () => {
    const markup = markdown('**b** [a](command:x) <img src=y> `c` $(zap) https://e.com ![i](j) | # - 1. > ~~s~~ a_b_ & @u');
    assert.doesNotMatch(markup, /[*[\]()<>`$_~|@]|command:|https:|^#[^0-9]/);
    assert.doesNotMatch(markup, /&(?!#\d+;)/);
    assert.equal(unlinked('[run](command:x)'), '[run] (command:x)');
    assert.equal(withoutIcons('$(zap) go'), '\\$(zap) go');
  });
});

describe('refs as people write them', () => {
  it('lose the provider, or all but the number', () => {
    assert.equal(shortRef('github:octo/repo#15'), 'octo/repo#15');
    assert.equal(shortRef('github:ghe.corp.example/octo/repo.js#7'), 'ghe.corp.example/octo/repo.js#7');
    assert.equal(numberRef('github:octo/repo#15'), '#15');
    assert.equal(numberRef('github-octo-repo-50.json'), 'github-octo-repo-50.json');
    assert.equal(repositoryOf('github:octo/repo#15'), 'octo/repo');
  });

  it('need the repository only when there are several', () => {
    assert.equal(severalRepositories(['github:octo/repo#1', 'github:octo/repo#2', 'broken']), false);
    assert.equal(severalRepositories(['github:octo/repo#1', 'github:octo/other#1']), true);
  });
});

describe('a command as a line to paste', () => {
  it('options come before the text that follows --', () => {
    assert.deepEqual(withOptions(['unblock', '--loop', 'a', '--', '-key'], '--json', '--dry-run'), ['unblock', '--loop', 'a', '--json', '--dry-run', '--', '-key']);
    assert.deepEqual(withOptions(['list'], '--json'), ['list', '--json']);
  });

  it('reads back as the same arguments in a shell', () => {
    const hostile = ['plain', 'with space', 'it\'s', '$HOME `id` "x"', 'a\nb', '', '#15', '*', '\\'];
    const line = commandLine([process.execPath, '-e', 'process.stdout.write(JSON.stringify([process.cwd(), process.env.X, ...process.argv.slice(1)]))', ...hostile], '/tmp', { X: 'a b' });
    const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } });
    assert.deepEqual(JSON.parse(stdout), ['/tmp', 'a b', ...hostile]);
  });
});

describe('where it is looked', () => {
  it('is the folder that the setting names, else the workspace folder, each once', () => {
    const folder = (path: string, loopFolder = '', cliConfig = '') => ({ path, loopFolder, cliConfig });
    assert.deepEqual(placesToLook([folder('/a'), folder('/b', '~/loops'), folder('/c', '/home/dev/loops'), folder('/d', '../e', 'x.yaml')], '/home/dev'), [
      { cwd: '/a', stateRoot: '' }, { cwd: '/home/dev/loops', stateRoot: '' }, { cwd: '/e', stateRoot: '', config: '/d/x.yaml' },
    ]);
    assert.deepEqual(placesToLook([], '/home/dev'), []);
  });

  it('knows what lies within what', () => {
    assert.equal(isWithin('/a/b', '/a/b/c'), true);
    assert.equal(isWithin('/a/b', '/a/b'), true);
    assert.equal(isWithin('/a/b', '/a/bc'), false);
    assert.equal(isWithin('/a/b', '/a'), false);
    assert.equal(isWithin('/a', '/a/..b'), true);
    assert.equal(tildePath('/home/dev/x', '/home/dev'), '~/x');
    assert.equal(tildePath('/home/device', '/home/dev'), '/home/device');
  });
});
