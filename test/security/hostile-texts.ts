/** Generates texts that trigger catastrophic backtracking in a regular expression, if any does. */

// biome-ignore format: one a line would hide what they have in common
const pumps = [
  'a', 'A', '0', ' ', '\t', '\n', '\r', '.', '-', '_', '/', '\\', '"', '<', '>', '=', ':', ',', ';', '(', '[', '{', '@',
  '#', '&', '%', 'é', '水', 'a ', 'A ', 'a.', '1.', '/a', 'a/', '<!--', '<a', 'a=', '\\"', '" ', 'a,', ' \n', '\r\n',
  '--', '..', 'a-', '[a]', '%4', 'sk-', 'data:', 'http://', '1:', '=a ', 'AB', '\n\n', ' .', '"a',
];
const ends = ['!', '\n'];

export function* hostileTexts(source: string, length: number): Generator<string> {
  const own = [...new Set(source.match(/[^\\()[\]?*+^$|{}]{1,3}/g) ?? [])].slice(0, 6);
  for (const start of startsOf(source))
    for (const pump of [...pumps, ...own])
      for (const end of ends) yield start + pump.repeat(Math.ceil(length / pump.length)) + end;
}

/** Nothing, and the first literal words of the pattern. */
const startsOf = (source: string): readonly string[] => {
  const plain = source.replace(/\\(.)/g, (_, escaped: string) => (/\w/.test(escaped) ? '\0' : escaped));
  return ['', ...(plain.match(/[\w"'<:;=@/. -]{1,20}/g) ?? []).slice(0, 2)];
};
