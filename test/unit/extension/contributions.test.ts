import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { gather } from '../../../scripts/l10n.mjs';
import { contextKeys } from '../../../src/extension/contextKeys';
import { settingKeys } from '../../../src/extension/settingKeys';
import { rowWords } from '../../../src/extension/views/row';

const root = path.resolve(__dirname, '../../..');
const text = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface Menu { command?: string; when?: string; group?: string }
interface Contributions {
  commands: { command: string; title: string; category: string; enablement?: string; icon?: string }[];
  menus: Record<string, Menu[]>;
  views: Record<string, { id: string; accessibilityHelpContent?: string }[]>;
  viewsWelcome: { view: string; contents: string; when: string }[];
  keybindings: { command: string; when: string }[];
  configuration: { properties: Record<string, { scope: string; default: unknown; enum?: string[]; enumDescriptions?: string[] }> };
  walkthroughs: { steps: { media: { svg: string }; completionEvents: string[] }[] }[];
}
const manifest = JSON.parse(text('package.json')) as { contributes: Contributions; capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } }; activationEvents: string[] };
const { contributes } = manifest;
const nls = JSON.parse(text('package.nls.json')) as Record<string, string>;
const sources = readdirSync(path.join(root, 'src/extension'), { recursive: true }).map(String).filter((name) => name.endsWith('.ts')).map((name) => text(`src/extension/${name}`)).join('\n');

/** The command ids of the registration table, read from its source because it needs the editor to run. */
function tableIds(): string[] {
  const ids: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && node.name.text.startsWith('loopkeeper.')) ids.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('table.ts', text('src/extension/commands/table.ts'), ts.ScriptTarget.Latest, true));
  return ids;
}

const menus = Object.values(contributes.menus).flat();
const whens = [...menus, ...contributes.viewsWelcome, ...contributes.keybindings].flatMap(({ when }) => when ?? []).concat(contributes.commands.flatMap(({ enablement }) => enablement ?? []));

describe('package.json and the code', () => {
  it('name the same commands', () => {
    assert.deepEqual(contributes.commands.map(({ command }) => command).sort(), tableIds().sort());
    for (const { command } of [...menus, ...contributes.keybindings]) if (command?.startsWith('loopkeeper.')) assert.ok(tableIds().includes(command), command);
  });

  it('name the same settings, each of them read', () => {
    assert.deepEqual(Object.keys(contributes.configuration.properties).sort(), settingKeys.map((key) => `loopkeeper.${key}`).sort());
    for (const key of settingKeys) assert.match(sources, new RegExp(`(setting|affects|variable)(<\\w+>)?\\([^;]*'${key.replace('.', '\\.')}'`), key);
  });

  it('name the same context keys, and every row word that a menu asks for is one that rows have', () => {
    const known = Object.values(contextKeys) as string[];
    for (const when of whens) for (const key of when.match(/(?<!== |view =~ \/\^)\bloopkeeper\.[A-Za-z.]+/g) ?? []) assert.ok(known.includes(key) || contributes.views['loopkeeper']?.some(({ id }) => id === key), `${key} in: ${when}`);
    const words = whens.flatMap((when) => [...when.matchAll(/viewItem =~ \/\\b\(?([a-z|]+)\)?\\b\//g)].flatMap((match) => (match[1] ?? '').split('|')));
    assert.ok(words.length > 10);
    for (const word of words) assert.ok((rowWords as readonly string[]).includes(word), word);
  });

  it('set each reason for which there is welcome content', () => {
    const reasons = contributes.viewsWelcome.flatMap(({ when }) => /loopkeeper\.reason == (\w+)/.exec(when)?.[1] ?? []);
    assert.deepEqual([...reasons].sort(), ['elsewhere', 'noFolder', 'nothing', 'programFailed', 'restricted']);
    for (const reason of reasons) assert.match(sources, new RegExp(`'${reason}'`));
  });

  it('name the same views, each with help for screen readers', () => {
    const ids = Object.values(contributes.views).flat();
    for (const { id, accessibilityHelpContent } of ids) {
      assert.match(sources, new RegExp(`id: '${id}'`), id);
      assert.ok(accessibilityHelpContent, id);
    }
    for (const { view } of contributes.viewsWelcome) assert.ok(ids.some(({ id }) => id === view), view);
  });
});

/** A menu's condition, as far as it is about the view and the row's words. */
function matches(when: string, view: string, words: string): boolean {
  return when.split(' && ').every((clause) => {
    const [, key, operator, value] = /^(view|viewItem) (==|=~) (.+)$/.exec(clause) ?? [];
    const actual = key === 'view' ? view : words;
    return value !== undefined && (operator === '==' ? actual === value : new RegExp(value.slice(1, -1)).test(actual));
  });
}

describe('the menus', () => {
  const palette = new Map(contributes.menus['commandPalette']?.map(({ command, when }) => [command, when]));

  it('keep what needs a row out of the palette, and palette commands have a category and no emoji', () => {
    const rowBound = ['reset', 'showDryRun', 'applyPlan', 'attachHere', 'open', 'openRecord', 'openTicket', 'openCheckout', 'copyReference', 'copyCommandLine', 'concludeRetest', 'adjudicateRetest', 'reopenRetestHere', 'endRetest', 'messageRetest', 'exportRetest', 'openTranscript', 'resetAgent', 'openStateFile', 'openWorkflow', 'showDiagram', 'lintWorkflow', 'changePolicyValue', 'unblock', 'openFile', 'showOnForge'];
    for (const id of rowBound) assert.equal(palette.get(`loopkeeper.${id}`), 'false', id);
    for (const { command, category, title } of contributes.commands) {
      assert.equal(category, 'Loopkeeper', command);
      assert.doesNotMatch(nls[title.slice(1, -1)] ?? '', /\p{Extended_Pictographic}/u);
    }
  });

  it('have at most three inline actions, none destructive, each in the context menu too', () => {
    const entries = contributes.menus['view/item/context'] ?? [];
    const inline = entries.filter(({ group }) => group?.startsWith('inline'));
    const rows: [view: string, words: string][] = [
      ['workItems', 'item live armed attention tmux record ticket checkout'], ['workItems', 'piece pull record tmux ticket'], ['sessions', 'session live record attention tmux ticket checkout'],
      ['sessions', 'session plain live entry checkout'], ['contextPolicy', 'policy entry'], ['loopState', 'target blocked attention entry forge'],
    ];
    for (const [view, words] of rows) {
      const shown = inline.filter(({ when }) => matches(when ?? '', `loopkeeper.${view}`, words)).map(({ command }) => command);
      assert.ok(shown.length > 0 && shown.length <= 3, `${view} ${words}: ${shown.join(', ')}`);
    }
    for (const { command } of inline) {
      assert.ok(contributes.commands.find((one) => one.command === command)?.icon, `${command ?? ''} has an icon`);
      assert.doesNotMatch(command ?? '', /reset/i);
      assert.ok(command === 'loopkeeper.open' || entries.some((other) => other.command === command && !other.group?.startsWith('inline')), command);
    }
  });

  it('have what resets in the last group, last', () => {
    const entries = (contributes.menus['view/item/context'] ?? []).filter(({ group }) => !group?.startsWith('inline'));
    // `navigation` is always the first group; the others follow as text.
    const last = entries.filter(({ group }) => !group?.startsWith('navigation')).sort((a, b) => ((a.group ?? '') < (b.group ?? '') ? -1 : 1)).at(-1);
    assert.equal(last?.command, 'loopkeeper.reset');
  });

  it('enable what changes something only in a trusted workspace with state', () => {
    for (const id of ['resetItems', 'resetAll', 'reset', 'applyPlan', 'startRetest', 'reopenRetest', 'concludeRetest', 'adjudicateRetest', 'reopenRetestHere', 'endRetest', 'messageRetest']) {
      assert.equal(contributes.commands.find(({ command }) => command === `loopkeeper.${id}`)?.enablement, 'isWorkspaceTrusted && loopkeeper.ready', id);
    }
    // A policy belongs to a folder and loop state to a repository: both are there without a loop's state. What a toggle does in Restricted Mode is a menu.
    for (const id of ['changeContextPolicy', 'changePolicyValue']) assert.equal(contributes.commands.find(({ command }) => command === `loopkeeper.${id}`)?.enablement, 'isWorkspaceTrusted && workspaceFolderCount > 0', id);
    for (const id of ['pruneLoopState', 'unblock']) assert.equal(contributes.commands.find(({ command }) => command === `loopkeeper.${id}`)?.enablement, 'isWorkspaceTrusted && loopkeeper.hasLoopState', id);
    // Runs are there without a loop too.
    assert.equal(contributes.commands.find(({ command }) => command === 'loopkeeper.resetAgent')?.enablement, 'isWorkspaceTrusted && loopkeeper.hasRuns');
    assert.equal(contributes.commands.find(({ command }) => command === 'loopkeeper.undo')?.enablement, 'isWorkspaceTrusted && (loopkeeper.ready || workspaceFolderCount > 0)');
  });
});

describe('settings and activation', () => {
  it('restrict every setting that names a folder or a program', () => {
    const naming = Object.keys(contributes.configuration.properties).filter((key) => /Path$|Folder$|Config$|Dir$|Commands$/.test(key));
    assert.deepEqual([...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort(), naming.sort());
    for (const key of naming) assert.equal(contributes.configuration.properties[key]?.scope, /Path$|claudeConfigDir$/.test(key) ? 'machine' : 'resource', key);
  });

  it('wake it by the state\'s folders alone', () => {
    assert.deepEqual(manifest.activationEvents, ['workspaceContains:.the-loop', 'workspaceContains:.raymond', 'workspaceContains:.loop']);
  });
});

describe('texts', () => {
  it('are all in the bundle for translators', () => {
    const { bundle, faults } = gather();
    assert.deepEqual(faults, []);
    assert.equal(text('l10n/bundle.l10n.json'), bundle, 'run `node scripts/l10n.mjs`');
  });

  it('of package.json are in package.nls.json, and nothing else is', () => {
    const used = new Set([...text('package.json').matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]));
    assert.deepEqual([...used].sort(), Object.keys(nls).sort());
  });

  it('reach the editor only through l10n: no raw English in a call that shows text', () => {
    const raw = [...sources.matchAll(/(show(?:Information|Warning|Error)Message|placeHolder:|openLabel:|message:)\s*\(?\s*['"`][A-Z]/g)].map((match) => match[0]);
    assert.deepEqual(raw, []);
  });

  it('name commands in links that exist', () => {
    const linked = Object.values(nls).flatMap((value) => [...value.matchAll(/\(command:([\w.]+)/g)].map((match) => match[1] ?? ''));
    for (const id of linked.filter((one) => one.startsWith('loopkeeper.'))) assert.ok(tableIds().includes(id) || id.endsWith('.focus'), id);
  });
});
