import type { FolderPlace } from '../folders';
import type { Loaded } from '../source';
import { visible } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Row } from './row';
import { problemRow } from './topRows';

/** Something that is said of a folder of the window. */
export type OfFolder<T> = Loaded<T, FolderPlace>;

/** The rows of all folders: one folder's rows as they are, those of several below a row for each. Ids stay apart. */
export function folderRows<T>(loaded: readonly OfFolder<T>[], rowsOf: (value: T, place: FolderPlace) => Row[], descriptionOf: (value: T) => string): Row[] {
  const rows = loaded.map((one) => ('error' in one ? [problemRow(one.error, one.root)] : rowsOf(one.value, one.root)).map((row) => ({ ...row, id: `${one.root.folder}:${row.id}` })));
  if (loaded.length < 2) return rows.flat();
  return loaded.map((one, index) => {
    const label = visible(one.root.name);
    const description = 'value' in one ? descriptionOf(one.value) : '';
    return {
      id: `folder:${one.root.folder}`, label, ...description === '' ? {} : { description }, icon: 'folder', words: ['folder'] as const, expanded: true, children: rows[index] ?? [],
      spoken: description === '' ? l10n.t('Folder {0}', label) : l10n.t('Folder {0}, {1}', label, description.replaceAll(' · ', ', ')),
      subject: { place: one.root },
    };
  });
}
