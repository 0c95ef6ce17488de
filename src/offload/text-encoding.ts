/** Decodes a text of unknown encoding; only for workers, as the detector takes 7 MB. */
import { detectEncoding } from './detect-encoding.ts';
import { unreadable } from './document-bounds.ts';
import { decoderOf, undecided } from './text-decoder.ts';
import { type KnownEncoding, TextSample } from './text-sample.ts';

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
