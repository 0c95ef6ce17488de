/** Finds the end of JSON strings, and checks that they need no closer look. */

const quote = '"';
const backslash = 92;
/** What a JSON string must not contain; after an escaped backslash also some of what it may. */
const suspicious = /[^ -\xff]|\\(?!["\\/bfnrt]|u[\da-fA-F]{4})/;

/** Where the quote is that is not escaped; below 0 when there is none. */
export const endOfText = (json: string, from: number): number => {
  let at = json.indexOf(quote, from);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf(quote, at + 1);
  return at;
};

const isEscaped = (json: string, at: number): boolean => {
  let first = at;
  while (json.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
};

/** False when a reader that knows all the rules should look at it. */
export const isSurelyText = (text: string): boolean => !suspicious.test(text);
