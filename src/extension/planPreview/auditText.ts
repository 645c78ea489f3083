import type { AuditReply } from '../../protocol/retest';
import { visible } from '../text/foreign';
import { l10n, plural } from '../text/l10n';

/** What an audit of the retest sessions found, as plain text. */
export function auditText({ stateRoot, ok, sessions, discrepancies, problems, warnings }: AuditReply): string {
  const checked = plural(sessions, '{0} session was computed anew from its transcript.', '{0} sessions were computed anew from their transcripts.');
  const lines = [
    ok ? l10n.t('The audit is clean: what is stored is what the transcripts say.') : plural(discrepancies.length, 'The audit found {0} discrepancy.', 'The audit found {0} discrepancies.'),
    checked, l10n.t('State: {0}', visible(stateRoot)), '',
  ];
  for (const { session, finding, message } of discrepancies) {
    const about = session ?? finding;
    lines.push(about === undefined ? visible(message) : l10n.t('{0}: {1}', visible(about), visible(message)));
  }
  if (discrepancies.length > 0) lines.push('', l10n.t('The transcripts count. The next command on a retest session writes the stored verdicts anew.'), '');
  for (const { session, line, kind } of problems) lines.push(l10n.t('{0}: line {1} of the transcript: {2}', visible(session), line, kind));
  for (const { message } of warnings) lines.push(l10n.t('Warning: {0}', visible(message)));
  return lines.join('\n').trimEnd() + '\n';
}
