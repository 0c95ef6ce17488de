/** Colours of output on a terminal: `NO_COLOR` switches them off, `FORCE_COLOR` on. */
import { environment } from '../environment.ts';

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;
export type Style = keyof typeof codes;

const areOn = (): boolean => {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment();
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return process.stdout.isTTY === true && TERM !== 'dumb';
};

/** For standard output. */
export const paint = (style: Style | undefined, text: string): string => {
  if (style === undefined || text === '' || !areOn()) return text;
  const [on, off] = codes[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};

const words: Readonly<Record<string, Style>> = {
  ...of('green', ['active', 'ok', 'delivered', 'completed', 'yes']),
  ...of('yellow', ['suspended', 'expired', 'waiting', 'queued', 'half-open', 'drained', 'cancelled']),
  ...of('red', ['closed', 'down', 'given up', 'failed', 'open', 'no']),
};

/** Of a cell of a table that is one of the words for how something is doing. */
export const styleOf = (cell: string): Style | undefined =>
  Object.hasOwn(words, cell) ? words[cell] : undefined;

function of(style: Style, list: readonly string[]): Record<string, Style> {
  return Object.fromEntries(list.map((word) => [word, style]));
}
