/** Text in, tokens out, by a rule that is cheap enough for any prompt: what the simulator streams, counts and bills by. */

const wordLimit = 12;
const otherScriptLimit = 4;
const digitLimit = 3;
const spaceLimit = 16;

type Kind = 'space' | 'word' | 'digit' | 'script' | 'single';

function kindOf(unit: number): Kind {
  if (unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) return 'space';
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  if ((unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a)) return 'word';
  if (unit >= 0xc0 && unit < 0x250) return 'word';
  if (unit >= 0x370 && unit < 0x1100) return 'script';
  return 'single';
}

const runLimit: Readonly<Record<Kind, number>> = {
  space: spaceLimit,
  word: wordLimit,
  digit: digitLimit,
  script: otherScriptLimit,
  single: 1,
};

/**
 * Where the token that starts at `start` ends. White space belongs to the token after it, so that an answer cut
 * between two tokens never ends in white space; surrogate pairs stay whole.
 */
function tokenEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && at - start < spaceLimit && kindOf(text.charCodeAt(at)) === 'space') at += 1;
  if (at === text.length) return at;
  const kind = kindOf(text.charCodeAt(at));
  if (kind === 'space') return at;
  if (kind === 'single') return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  const end = Math.min(text.length, at + runLimit[kind]);
  do at += 1;
  while (at < end && kindOf(text.charCodeAt(at)) === kind);
  return at;
}

export function* splitTokens(text: string): Generator<string, undefined> {
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    yield text.slice(at, end);
    at = end;
  }
}

/** Number of tokens of a text: never more than its UTF-8 bytes. */
export function countTokens(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) count += 1;
  return count;
}
