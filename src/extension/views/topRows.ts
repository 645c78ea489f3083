import type { CoreError } from '../coreClient';
import { tildePath, type Place } from '../places';
import type { Loaded } from '../source';
import { visible } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Row } from './row';

export interface Surroundings {
  now: Date;
  /** The home directory, for short paths. */
  home: string;
}

/** A row that says why the program gave nothing for a root; its hint is in the tooltip. */
export function problemRow(error: CoreError, place: Place): Row {
  const message = visible(error.message);
  return {
    id: `problem:${place.stateRoot || place.cwd}`,
    label: message,
    icon: 'error',
    colour: 'list.errorForeground',
    words: ['problem'],
    spoken: l10n.t('Problem: {0}', message),
    tooltip: { sentence: error.message, facts: error.hint ? [{ name: l10n.t('What to do'), value: error.hint }] : [], paths: [], links: [{ title: l10n.t('Show Output'), command: 'loopkeeper.showOutput' }] },
    subject: { place },
  };
}

/** The rows of all roots: one root's rows as they are, those of several below a row for each root. Ids stay apart. */
export function topRows<T, P extends Place>(loaded: readonly Loaded<T, P>[], around: Surroundings, rowsOf: (value: T, place: Place) => Row[]): Row[] {
  const rows = loaded.map((one) => 'error' in one ? [problemRow(one.error, one.root)] : rowsOf(one.value, one.root));
  if (loaded.length < 2) return rows.flat();
  return loaded.map(({ root }, index) => {
    const label = visible(tildePath(root.stateRoot, around.home));
    const children = (rows[index] ?? []).map((row) => withPrefix(row, root.stateRoot));
    return {
      id: `root:${root.stateRoot}`, label, icon: 'folder', words: ['root'] as const, expanded: true, children,
      spoken: l10n.t('State in {0}, {1} entries', label, children.length), subject: { place: root, path: root.stateRoot },
    };
  });
}

function withPrefix(row: Row, stateRoot: string): Row {
  const children = typeof row.children === 'object' ? { children: row.children.map((child) => withPrefix(child, stateRoot)) } : {};
  return { ...row, id: `${stateRoot}:${row.id}`, ...children };
}
