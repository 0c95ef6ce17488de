/** The simulator's tokenizer: a rule cheap enough for any prompt. */

const single = 0;
const space = 1;
const digit = 2;
const word = 3;
/** Letters of scripts whose words cost several tokens each. */
const script = 4;

/** The longest run of each kind that is one token. */
const runLimits = [1, 16, 3, 12, 4] as const;
const spaceLimit = runLimits[space];

/** The kind of every UTF-16 unit up to the end of the table; all later ones stand alone. */
const kinds = new Uint8Array(0x1100);
kinds.fill(space, 0x09, 0x0e);
kinds.fill(space, 0x20, 0x21);
kinds.fill(digit, 0x30, 0x3a);
kinds.fill(word, 0x41, 0x5b);
kinds.fill(word, 0x61, 0x7b);
kinds.fill(word, 0xc0, 0x250);
kinds.fill(script, 0x370, 0x1100);

const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? single;

/**
 * Where the token that starts at `start` ends. White space belongs to the token after it, so that an answer cut
 * between two tokens never ends in white space; surrogate pairs stay whole.
 */
function tokenEnd(text: string, start: number): number {
  let at = start;
  let kind = kindAt(text, at);
  while (kind === space && at - start < spaceLimit) {
    at += 1;
    if (at === text.length) return at;
    kind = kindAt(text, at);
  }
  if (kind === space) return at;
  if (kind === single) return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  const end = Math.min(text.length, at + (runLimits[kind] ?? 1));
  do at += 1;
  while (at < end && kindAt(text, at) === kind);
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

/** Where the first so many tokens of a text end. */
export function tokensEnd(text: string, count: number): number {
  let at = 0;
  for (let tokens = 0; tokens < count && at < text.length; tokens += 1) at = tokenEnd(text, at);
  return at;
}
