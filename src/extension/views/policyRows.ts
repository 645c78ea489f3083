import type { ContextShowReply, PolicyValueView } from '../../protocol/context';
import { tildePath, type Place } from '../places';
import { fileAndLine, policyMeaning, policyName, policyWord } from '../text/contextWords';
import { shown, visible } from '../text/foreign';
import { l10n } from '../text/l10n';
import type { Row } from './row';
import type { Surroundings } from './topRows';

/** The context policy of one folder: what is wrong with it first, then each value with the line it stands in. */
export function policyRows(reply: ContextShowReply, place: Place, around: Surroundings): Row[] {
  const isOff = reply.values.some(({ key, value }) => key === 'enabled' && value === false);
  return [...reply.problems.map((problem) => problemRow(problem, place, around)), ...reply.values.map((value) => valueRow(value, isOff, reply, place, around))];
}

function problemRow({ file, line, message }: ContextShowReply['problems'][number], place: Place, around: Surroundings): Row {
  const label = shown(message);
  const where = fileAndLine(file, line);
  return {
    id: `problem:${file}:${String(line)}:${message.slice(0, 200)}`, label, description: where, icon: 'error', colour: 'list.errorForeground', words: ['invalid', 'entry'],
    spoken: l10n.t('Problem in {0}: {1}', where, visible(message)),
    tooltip: { sentence: message, facts: [{ name: l10n.t('Until it is mended'), value: l10n.t('the policy is unknown and nothing acts on it') }], paths: [`${tildePath(file, around.home)}:${String(line)}`], links: [openFile()] },
    subject: { place, path: file, line }, opens: 'loopkeeper.openFile',
  };
}

const openFile = () => ({ title: l10n.t('Open File'), command: 'loopkeeper.openFile' });

function valueRow({ key, value, file, line }: PolicyValueView, isOff: boolean, reply: ContextShowReply, place: Place, around: Surroundings): Row {
  const label = policyName(key);
  const where = file === null ? reply.file === null ? l10n.t('default, no policy file') : l10n.t('default') : fileAndLine(file, line);
  const isIdle = isOff && key !== 'enabled';
  const description = [policyWord(value), where, ...isIdle ? [l10n.t('not in force')] : []].join(' · ');
  const meaning = policyMeaning(key, value);
  return {
    id: `value:${key}`, label, description, icon: key === 'enabled' ? (value === true ? 'layers' : 'circle-slash') : 'circle-small', words: file === null ? ['policy'] : ['policy', 'entry'],
    spoken: l10n.t('{0}: {1}', label, description.replaceAll(' · ', ', ')),
    tooltip: {
      sentence: l10n.t('{0}: {1}', label, policyWord(value)),
      facts: [{ name: l10n.t('Meaning'), value: meaning }, ...isIdle ? [{ name: l10n.t('Not in force'), value: l10n.t('the policy is off') }] : []],
      paths: file === null ? [] : [`${tildePath(file, around.home)}${line === null ? '' : `:${String(line)}`}`],
      links: [...file === null ? [] : [openFile()], { title: l10n.t('Change…'), command: 'loopkeeper.changePolicyValue' }],
    },
    subject: { place, key, ...file === null ? {} : { path: file, ...line === null ? {} : { line } } },
  };
}
