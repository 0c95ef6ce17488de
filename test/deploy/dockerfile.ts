/** Parses a Dockerfile into stages, each a list of instructions. */
export interface Instruction {
  readonly word: string;
  readonly rest: string;
}

export const readDockerfile = (text: string): readonly (readonly Instruction[])[] => {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [word = '', ...words] = line.trim().split(/\s+/);
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, rest: words.join(' ') });
  }
  return stages;
};

export const all = (stage: readonly Instruction[], word: string): readonly string[] =>
  stage.filter((instruction) => instruction.word === word).map(({ rest }) => rest);

/** What ENV sets, as `NAME=value` with blanks between. */
export const environmentOf = (stage: readonly Instruction[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    all(stage, 'ENV')
      .flatMap((rest) => rest.split(' '))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
