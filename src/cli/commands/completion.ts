import { Failure } from '../../core/disk/failure';
import { commonOptions, type Command } from '../command';

interface Words { noun: string; verb: string; options: string[]; summary: string }

/** Every command with its options, from the same tables that parse the command line. */
async function allWords(): Promise<Words[]> {
  const { nouns } = await import('../nouns');
  const loaded = await Promise.all(Object.entries(nouns).map(async ([noun, load]) => ({ noun, command: (await load()).command })));
  return loaded.flatMap(({ noun, command }) => Object.entries(command.verbs).map(([verb, { options, summary }]) =>
    ({ noun, verb, options: Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`), summary })));
}

function nounsOf(words: Words[]): string[] {
  return [...new Set(words.map(({ noun }) => noun))];
}

const verbsOf = (words: Words[], noun: string): string[] => words.filter((entry) => entry.noun === noun && entry.verb !== '').map(({ verb }) => verb);

function bash(words: Words[]): string {
  return [
    '_loopkeeper() {', '  local current="${COMP_WORDS[COMP_CWORD]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then', `    words="${nounsOf(words).join(' ')}"`, '  else', '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    ...words.filter(({ verb }) => verb !== '').map(({ noun, verb, options }) => `      "${noun} ${verb}") words="${options.join(' ')}" ;;`),
    ...words.filter(({ verb }) => verb === '').map(({ noun, options }) => `      "${noun} "*) words="${options.join(' ')}" ;;`),
    ...nounsOf(words).filter((noun) => verbsOf(words, noun).length > 0).map((noun) => `      "${noun} "*) [ "$COMP_CWORD" -eq 2 ] && words="${verbsOf(words, noun).join(' ')}" ;;`),
    '    esac', '  fi', '  COMPREPLY=($(compgen -W "$words" -- "$current"))', '}', 'complete -o default -F _loopkeeper loopkeeper',
  ].join('\n');
}

// bash's completion also works in zsh, by the loader that zsh ships for it.
const zsh = (words: Words[]): string => ['#compdef loopkeeper', 'autoload -U +X bashcompinit && bashcompinit', bash(words)].join('\n');

function fish(words: Words[]): string {
  const quote = (text: string): string => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  return [
    'complete -c loopkeeper -f',
    ...nounsOf(words).map((noun) => `complete -c loopkeeper -n __fish_use_subcommand -a ${noun}`),
    ...words.filter(({ verb }) => verb !== '').map(({ noun, verb, summary }) => `complete -c loopkeeper -n '__fish_seen_subcommand_from ${noun}; and not __fish_seen_subcommand_from ${verbsOf(words, noun).join(' ')}' -a ${verb} -d ${quote(summary)}`),
    ...words.flatMap(({ noun, verb, options }) => options.map((option) => `complete -c loopkeeper -n '__fish_seen_subcommand_from ${noun}${verb === '' ? '' : `; and __fish_seen_subcommand_from ${verb}`}' -l ${option.slice(2)}`)),
  ].join('\n');
}

const shells: Record<string, (words: Words[]) => string> = { bash, zsh, fish };

export const command: Command = {
  summary: 'completion for your shell',
  verbs: {
    '': {
      summary: 'Print completion for bash, zsh or fish, to be read by the shell at start.',
      usage: '(bash | zsh | fish)',
      options: {},
      positionals: [{ name: 'SHELL' }],
      examples: ['loopkeeper completion bash >> ~/.bashrc', 'loopkeeper completion zsh > ~/.zfunc/_loopkeeper', 'loopkeeper completion fish > ~/.config/fish/completions/loopkeeper.fish'],
      async run(context, _values, [shell = '']) {
        const make = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
        if (!make) throw new Failure('usage', `There is no completion for ${JSON.stringify(shell.slice(0, 40))}.`, 'Choose bash, zsh or fish.', 2);
        const script = make(await allWords());
        context.out.document({ verb: 'completion', shell, script });
        context.out.line(script);
        return 0;
      },
    },
  },
};
