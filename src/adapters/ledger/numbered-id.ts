/** The id of a usage event in; the number at its end out, where it is that of a request: those of one process have the rest in common. */

/** `usage_req_` and 24 hexadecimal digits, the same for all requests of a process; then a number in base 36. */
export const prefixLength = 34;
const mostDigits = 7;
const prefixes = /^usage_req_[0-9a-f]{24}/;

/** Undefined: an id of another kind. */
export const prefixOf = (id: string): string | undefined =>
  prefixes.test(id) ? id.slice(0, prefixLength) : undefined;

/** Of an id with such a prefix; undefined when what follows is not a number as our own are written, or two ids might have it. */
export const numberOf = (id: string): number | undefined => {
  const digits = id.length - prefixLength;
  if (digits < 1 || digits > mostDigits || id[prefixLength] === '0') return undefined;
  let number = 0;
  for (let index = prefixLength; index < id.length; index++) {
    const digit = digitOf(id.charCodeAt(index));
    if (digit < 0) return undefined;
    number = number * 36 + digit;
  }
  return number;
};

const digitOf = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 122 ? code - 87 : -1;
};
