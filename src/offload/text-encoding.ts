/** Decodes a text of unknown encoding. */
import { detectEncoding } from './detect-encoding.ts';
import { unreadable } from './document-bounds.ts';
import { type KnownEncoding, TextSample } from './text-sample.ts';

export const undecided =
  'its text is in an encoding that cannot be determined; save it as UTF-8 and send it again';

/** Undefined when the bytes are no text; a 400 when they are, but nothing tells how to read them. */
export const decodeText = (bytes: Buffer): string | undefined => {
  const known = sampleOf(bytes).encoding();
  if (known === undefined) return undefined;
  const label = labelOf(known);
  if (label !== undefined) return withoutZeros(decoderOf(label)(bytes, true));
  if ('wide' in known && known.wide) return undefined;
  throw unreadable(`the document cannot be read: ${undecided}`);
};

const withoutZeros = (text: string): string | undefined => (text.includes('\0') ? undefined : text);

export const isText = (bytes: Buffer): boolean => {
  const known = sampleOf(bytes).encoding();
  return known !== undefined && labelOf(known) !== undefined;
};

const sampleOf = (bytes: Buffer): TextSample => {
  const sample = new TextSample();
  sample.push(bytes);
  return sample;
};

const labelOf = (known: KnownEncoding): string | undefined =>
  'label' in known ? known.label : detectEncoding(known.sample, known.wide);

/** Decodes a text piece by piece. */
export const decoderOf = (label: string): ((bytes: Buffer, final: boolean) => string) => {
  if (label === 'windows-1252') return decodeWindows;
  const decoder = new TextDecoder(label);
  return (bytes, final) => decoder.decode(bytes, { stream: !final });
};

/** From 0x80 to 0x9f, where Windows has characters in place of Latin-1's controls; not every decoder knows them. */
const windowsCharacters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const decodeWindows = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => {
    return windowsCharacters.charAt(character.charCodeAt(0) - 0x80);
  });
