import { homedir } from 'node:os';
import { DoctorReply } from '../../protocol/sessions';
import { doctorText } from '../planPreview/doctorText';
import { l10n } from '../text/l10n';
import type { Command } from './command';
import { pickRoot } from './pickRoot';

/** What is wrong or worth knowing, each finding with what to do, as a read-only document. */
export const runDoctor: Command = async (services, target) => {
  const root = await pickRoot(services, target) ?? { cwd: homedir(), stateRoot: '' };
  const { reply } = await services.client.run({ place: root, args: ['doctor'], schema: DoctorReply });
  await services.documents.show(l10n.t('Doctor'), doctorText(reply));
};
