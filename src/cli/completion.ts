/** `sluice completion`: prints what makes a shell complete commands and options. */
import { type Command, UsageError } from './command.ts';
import { print } from './output.ts';

/** `all`: the command table, which has this one, too. */
export const completion = (all: () => readonly Command[]): Command => ({
  name: 'completion',
  operands: 'SHELL',
  arity: [1, 1],
  summary: 'print completions for bash, zsh or fish',
  details: [
    'bash: echo \'eval "$(sluice completion bash)"\' >> ~/.bashrc',
    'zsh:  echo \'eval "$(sluice completion zsh)"\' >> ~/.zshrc',
    'fish: sluice completion fish > ~/.config/fish/completions/sluice.fish',
  ].join('\n'),
  run: async ({ operands: [shell = ''] }) => {
    const script = scripts[shell];
    if (script === undefined)
      throw new UsageError(`there are completions for ${Object.keys(scripts).join(', ')}, not "${shell}"`);
    print(script(wordsAfter(all())));
  },
});

/** By the words typed so far, joined by a space: those that may follow. */
const wordsAfter = (commands: readonly Command[]): ReadonlyMap<string, readonly string[]> => {
  const following = new Map<string, Set<string>>();
  const add = (typed: string, word: string): void => {
    const words = following.get(typed) ?? new Set();
    following.set(typed, words.add(word));
  };
  for (const { name, options = {} } of commands) {
    const words = name.split(' ');
    for (const [at, word] of words.entries()) add(words.slice(0, at).join(' '), word);
    for (const option of [...Object.keys(options), 'help']) add(name, `--${option}`);
  }
  return new Map([...following].map(([typed, words]) => [typed, [...words]]));
};

type Script = (following: ReadonlyMap<string, readonly string[]>) => string;

const cases: Script = (following) =>
  [...following].map(([typed, words]) => `    '${typed}') words='${words.join(' ')}' ;;`).join('\n');

const bash: Script = (following) => `_sluice() {
  local typed words='' at
  typed=''
  for ((at = 1; at < COMP_CWORD && at <= 2; at++)); do
    [[ \${COMP_WORDS[at]} == -* ]] && break
    typed="\${typed:+$typed }\${COMP_WORDS[at]}"
  done
  case "$typed" in
${cases(following)}
    *) case "\${typed%% *}" in
${cases(following)}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice`;

const fish: Script = (following) =>
  [
    'complete -c sluice -f',
    ...[...following].flatMap(([typed, words]) =>
      words.map((word) => {
        const seen =
          typed === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${typed.split(' ').at(-1)}`;
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
        return `complete -c sluice -n '${seen}' ${what}`;
      }),
    ),
  ].join('\n');

const scripts: Readonly<Record<string, Script>> = {
  bash,
  zsh: (following) => `autoload -U +X bashcompinit && bashcompinit\n${bash(following)}`,
  fish,
};
