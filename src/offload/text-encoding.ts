/** Decodes a text of unknown encoding; undefined when the bytes are no text. */
import { isUtf8 } from 'node:buffer';

/** Control characters that no text has; a terminal's escape is one that some have. */
const odd = new Uint8Array(256);
for (let code = 0; code < 0x20; code++)
  odd[code] = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b].includes(code) ? 0 : 1;

/** How far a page is searched for the encoding it declares. */
const declarationLength = 1024;

/**
 * A byte order mark decides; else valid UTF-8 is UTF-8; else the page's own declaration counts, and what declares
 * nothing is Latin-1 as Windows writes it, so long as it has no control characters.
 */
export const decodeText = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeAs('utf-16le', bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeAs('utf-16be', bytes);
  if (isUtf8(bytes)) return bytes.includes(0) ? undefined : decodeAs('utf-8', bytes);
  if (hasOddBytes(bytes)) return undefined;
  const encoding = declaredEncoding(bytes) ?? 'windows-1252';
  return encoding === 'windows-1252' ? decodeWindows(bytes) : decodeAs(encoding, bytes);
};

/** Control characters in what would be text of one byte a character. */
export const hasOddBytes = (bytes: Buffer): boolean => {
  for (let at = 0; at < bytes.length; at++) if (odd[bytes[at] ?? 0] === 1) return true;
  return false;
};

/** From 0x80 to 0x9f, where Windows has characters in place of Latin-1's controls; not every decoder knows them. */
const windowsCharacters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

export const decodeWindows = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => {
    return windowsCharacters.charAt(character.charCodeAt(0) - 0x80);
  });

const decodeAs = (encoding: string, bytes: Buffer): string | undefined => {
  const text = new TextDecoder(encoding).decode(bytes);
  return text.includes('\0') ? undefined : text;
};

const declaredEncoding = (bytes: Buffer): string | undefined => {
  const head = bytes.toString('latin1', 0, declarationLength);
  const label = /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/i.exec(head)?.[1];
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
};
