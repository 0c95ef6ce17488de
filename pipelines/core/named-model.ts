/** Finds the model that a request names in the first bytes of its body, JSON or a form. */

const byte = { quote: 0x22, comma: 0x2c, colon: 0x3a, backslash: 0x5c } as const;
/** Brackets and braces differ from each other in one bit: [ and { open, ] and } close. */
const folded = { mask: 0xdf, open: 0x5b, close: 0x5d } as const;
const longestName = 1024;

/**
 * The first `model` among the members of the outermost object; undefined where it is not in these bytes, or no text.
 * What is not JSON is not noticed: whoever parses the whole does.
 */
export const modelInJson = (prefix: Buffer): string | undefined => {
  let depth = 0;
  let key: string | undefined;
  /** The next string names a member. */
  let isKey = true;
  for (let at = 0; at < prefix.length; at++) {
    const next = prefix[at] as number;
    if (next === byte.quote) {
      const end = closingQuote(prefix, at + 1);
      if (end < 0) return undefined;
      if (depth === 1) {
        const text = end - at <= longestName ? textOf(prefix.toString('utf8', at, end + 1)) : undefined;
        if (isKey) key = text;
        else if (key === 'model') return text;
      }
      at = end;
    } else if (next === byte.colon) isKey = false;
    else if (next === byte.comma) isKey = true;
    else if ((next & folded.mask) === folded.open) {
      if (depth === 1 && key === 'model') return undefined;
      depth++;
      isKey = true;
    } else if ((next & folded.mask) === folded.close && --depth === 0) return undefined;
  }
  return undefined;
};

/** The first quote with an even number of backslashes before it; -1: the string goes on. */
const closingQuote = (bytes: Buffer, start: number): number => {
  for (let end = bytes.indexOf(byte.quote, start); end >= 0; end = bytes.indexOf(byte.quote, end + 1)) {
    let escapes = end;
    while (escapes > start && bytes[escapes - 1] === byte.backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
  return -1;
};

const textOf = (quoted: string): string | undefined => {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
};

const boundary = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70}))/i;
const ofModel = /^content-disposition:[^\r\n]{0,200};\s{0,9}name="?model"?\s{0,9}(?:$|;)/im;

/** The field `model` of a multipart form; undefined where it is not complete in these bytes. */
export const modelInForm = (prefix: Buffer, contentType: string): string | undefined => {
  const [, quoted, plain] = boundary.exec(contentType) ?? [];
  const parts = prefix.toString('latin1').split(`--${quoted ?? plain}`);
  // The last one goes on behind these bytes.
  for (const part of parts.slice(1, -1)) {
    const body = part.indexOf('\r\n\r\n') + 4;
    const head = part.slice(0, body);
    if (!ofModel.test(head) || head.includes('filename')) continue;
    return Buffer.from(part.slice(body, -2), 'latin1').toString();
  }
  return undefined;
};
