import { diskReader } from '../../core/disk/reader';
import { statusReply } from '../../core/sessions/list';
import { runningDaemons } from '../../core/workItems/daemons';
import { stateOptions, type Command } from '../command';
import { plain, plural } from '../output';
import { printWarnings } from '../planReply';
import { loadList, stateExists } from '../sessionsList';
import { loadConfig } from '../state';

export const command: Command = {
  summary: 'how things stand, in a few lines',
  verbs: {
    '': {
      summary: 'How many items are live, paused, armed and closed, and what needs a person.',
      usage: '[--config PATH] [--json]',
      options: stateOptions,
      examples: ['loopkeeper status', 'loopkeeper status --json'],
      async run(context, values) {
        const { out } = context;
        const config = await loadConfig(context, values);
        const reply = statusReply(loadList(context, config), stateExists(config), runningDaemons(diskReader, config));
        out.document(reply);
        if (out.json) return 0;
        printWarnings(out, reply.warnings);
        out.line(`${out.paint('dim', 'state')}    ${plain(reply.stateRoot)}${reply.exists ? '' : ' (not there)'}`);
        const counts = Object.entries(reply.counts).filter(([, count]) => count > 0).map(([state, count]) => `${String(count)} ${state}`);
        out.line(`${out.paint('dim', 'items')}    ${counts.join(', ') || 'none'}`);
        out.line(`${out.paint('dim', 'daemons')}  ${reply.daemons.map(({ name, pid }) => `${name} (pid ${String(pid)})`).join(', ') || 'none run'}`);
        if (reply.attention.length > 0) out.line(out.paint('bold', `${plural(reply.attention.length, 'thing')} for you:`));
        for (const { ref, attention } of reply.attention) out.line(`  ${plain(ref)}: ${plain(attention.sentence)}${attention.command === '' ? '' : out.paint('dim', `  ${plain(attention.command)}`)}`);
        return 0;
      },
    },
  },
};
