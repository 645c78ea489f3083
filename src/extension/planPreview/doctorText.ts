import type { DoctorReply } from '../../protocol/sessions';
import { visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';

/** The doctor's reply as plain text: what needs a hand first, then where each value in force comes from. */
export function doctorText({ findings, config, warnings }: DoctorReply): string {
  const levels = ['error', 'warning', 'info'] as const;
  const marks = { error: l10n.t('Error'), warning: l10n.t('Warning'), info: l10n.t('Note') };
  const needed = findings.filter(({ level }) => level !== 'info').length;
  const lines = [needed === 0 ? l10n.t('Nothing needs a hand.') : plural(needed, '{0} finding needs a hand.', '{0} findings need a hand.'), ''];
  for (const level of levels) {
    for (const finding of findings.filter((one) => one.level === level)) {
      lines.push(l10n.t('{0}: {1}', marks[level], visible(finding.message)));
      if (finding.path !== undefined) lines.push(`    ${visible(finding.path)}`);
      if (finding.hint) lines.push(`    ${visible(finding.hint)}`);
    }
  }
  for (const warning of warnings) lines.push(l10n.t('{0}: {1}', marks.warning, visible(warning.message)));
  lines.push('', l10n.t('Values in force'));
  for (const { key, value, from } of config) lines.push(`    ${visible(key)} = ${visible(JSON.stringify(value) ?? '')}  (${visible(from)})`);
  return lines.join('\n') + '\n';
}
