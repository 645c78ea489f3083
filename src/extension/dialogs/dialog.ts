import { l10n } from '../text/l10n';

/** A modal question, as data: what is asked, what a person is told first, and the verb on its button. Cancel is always there. */
export interface Dialog {
  message: string;
  detail: string;
  /** The button that applies: a verb. */
  apply: string;
  /** Show Dry Run comes first, so that Enter is harmless. */
  harmlessFirst: boolean;
  /** No Show Dry Run: the dialog has said all there is. */
  whole?: boolean;
}

export const lineLimit = 12;

/** Joins the lines of a dialog, at most twelve; what is left out is counted in the last one. */
export function detailOf(lines: readonly string[]): string {
  if (lines.length <= lineLimit) return lines.join('\n');
  return [...lines.slice(0, lineLimit - 1), l10n.t('… and {0} more lines in the dry run', lines.length - lineLimit + 1)].join('\n');
}
