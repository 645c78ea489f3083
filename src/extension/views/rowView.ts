import * as vscode from 'vscode';
import { Owner } from '../lifecycle';
import { markdown, shown } from '../text/foreign';
import type { Row, Tooltip } from './row';

export interface RowViewOptions {
  /** The view's id in package.json. */
  id: string;
  canSelectMany?: boolean;
  /** The rows at the top. Called when the view is drawn and after each refresh; never while it is hidden. Must not reject. */
  load: () => Promise<readonly Row[]>;
  /** The rows below one whose `children` are `later`. Must not reject. */
  later?: (row: Row) => Promise<readonly Row[]>;
  /** Called before a tooltip is shown, to put more into the row. Must not reject. */
  hover?: (row: Row) => Promise<void>;
}

/**
 * A tree of rows. To add a view: write a pure function that makes `Row`s of a reply (vscode-free, in views/<noun>Rows.ts, with unit tests), a
 * `Source` for that reply, and a small file that gives both to `new RowView({ id, load })`; list the view in package.json and create it in extension.ts.
 *
 * Refreshes while hidden are remembered and done when the view is shown. Selection, focus and open rows stay, by `Row.id`.
 */
export class RowView extends Owner implements vscode.TreeDataProvider<Row> {
  private readonly changed = this.own(new vscode.EventEmitter<Row | undefined>());
  readonly onDidChangeTreeData = this.changed.event;
  readonly tree: vscode.TreeView<Row>;
  private rows = new Map<string, Row>();
  private parents = new Map<string, Row>();
  /** Undefined until the editor has asked for the rows, which it does by itself when the view is first seen. */
  private missed: boolean | undefined;

  constructor(private readonly options: RowViewOptions) {
    super();
    this.tree = this.own(vscode.window.createTreeView(options.id, {
      treeDataProvider: this, canSelectMany: options.canSelectMany ?? false, showCollapseAll: true,
    }));
    this.own(this.tree.onDidChangeVisibility(({ visible }) => {
      if (visible && this.missed) this.refresh();
    }));
  }

  /** Draws the tree anew whenever this fires, for example a `Source`'s `onDidChange`. */
  follow(event: vscode.Event<unknown>): void {
    this.own(event(() => { this.refresh(); }));
  }

  /** Draws the tree anew, at once or when it is next seen. */
  refresh(): void {
    if (this.missed === undefined) return;
    this.missed = !this.tree.visible;
    if (this.tree.visible) this.changed.fire(undefined);
  }

  /** Draws one row anew, after its fields were changed in place. */
  redraw(row: Row): void {
    if (this.rows.get(row.id) === row) this.changed.fire(row);
  }

  /** A row that is drawn now, by its id. */
  find(id: string): Row | undefined {
    return this.rows.get(id);
  }

  async getChildren(parent?: Row): Promise<Row[]> {
    if (!parent) {
      this.missed = false;
      const rows = [...await this.options.load()];
      this.rows = new Map();
      this.parents = new Map();
      this.remember(rows);
      return rows;
    }
    const children = parent.children === 'later' ? await this.options.later?.(parent) ?? [] : parent.children ?? [];
    this.remember(children, parent);
    return [...children];
  }

  getParent(row: Row): Row | undefined {
    return this.parents.get(row.id);
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(row.label, stateOf(row));
    item.id = row.id;
    if (row.description !== undefined) item.description = row.description;
    item.iconPath = row.colour === undefined ? new vscode.ThemeIcon(row.icon) : new vscode.ThemeIcon(row.icon, new vscode.ThemeColor(row.colour));
    item.contextValue = row.words.join(' ');
    item.accessibilityInformation = { label: row.spoken };
    const opens = row.opens ?? (row.words.includes('piece') && row.subject.path !== undefined ? 'loopkeeper.open' : undefined);
    if (opens !== undefined) item.command = { command: opens, title: 'Open', arguments: [row] };
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, row: Row): Promise<vscode.TreeItem> {
    await this.options.hover?.(row);
    item.tooltip = row.tooltip ? tooltipMarkdown(row.tooltip, row.id) : row.spoken;
    return item;
  }

  private remember(rows: readonly Row[], parent?: Row): void {
    for (const row of rows) {
      this.rows.set(row.id, row);
      if (parent) this.parents.set(row.id, parent);
      if (Array.isArray(row.children)) this.remember(row.children as readonly Row[], row);
    }
  }
}

function stateOf(row: Row): vscode.TreeItemCollapsibleState {
  if (row.children === undefined || row.children.length === 0) return vscode.TreeItemCollapsibleState.None;
  return row.expanded ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
}

/** All text is escaped; only the commands of its own links may run. */
export function tooltipMarkdown(tooltip: Tooltip, rowId: string): vscode.MarkdownString {
  const links = tooltip.links.slice(0, 4);
  const argument = encodeURIComponent(JSON.stringify([rowId]));
  const blocks = [
    markdown(tooltip.sentence),
    tooltip.facts.map(({ name, value }) => `**${markdown(name)}** ${markdown(shown(value, 300))}`).join('  \n'),
    tooltip.paths.map((path) => markdown(path)).join('  \n'),
    links.map(({ title, command }) => `[${markdown(title)}](command:${command}?${argument})`).join(' · '),
  ];
  const text = new vscode.MarkdownString(blocks.filter((block) => block !== '').join('\n\n'));
  text.isTrusted = { enabledCommands: links.map(({ command }) => command) };
  return text;
}
