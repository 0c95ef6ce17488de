/** Detects the media type of a file from its first bytes. */
import { holdsMp3 } from './audio-frames.ts';

/** Bytes that are sniffed: room for a few of the longest frames of MP3. */
export const headLength = 8 * 1024;
/** A PDF may begin with this much of something else. */
const pdfOffset = 1024;

const heicBrands = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs']);
const soundBrands = new Set(['M4A ', 'M4B ', 'M4P ']);
/** A QuickTime file from before there were brands begins with one of these boxes. */
const quickTimeBoxes = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

/** Undefined when the bytes do not show it. */
export const sniffMediaType = (head: Buffer): string | undefined =>
  imageType(head) ??
  containerType(head) ??
  soundType(head) ??
  documentType(head) ??
  (holdsMp3(head.subarray(0, headLength)) ? 'audio/mpeg' : undefined);

/**
 * The bytes win over what was declared, but for a container that holds sound as well as pictures: there `audio/webm`
 * and `video/webm` are both true, and the sender knows.
 */
export const mediaTypeOf = (head: Buffer, declared: string | undefined): string => {
  const sniffed = sniffMediaType(head);
  if (sniffed === undefined) return declared ?? 'application/octet-stream';
  return declared?.startsWith('audio/') && declared.slice(6) === sniffed.split('/')[1] ? declared : sniffed;
};

const imageType = (head: Buffer): string | undefined => {
  if (starts(head, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts(head, '\xff\xd8\xff')) return 'image/jpeg';
  if (starts(head, 'GIF87a') || starts(head, 'GIF89a')) return 'image/gif';
  if (starts(head, 'RIFF') && starts(head, 'WEBP', 8)) return 'image/webp';
  return undefined;
};

const containerType = (head: Buffer): string | undefined => {
  // A box begins with its length, which is no text.
  if (head[0] === 0) {
    if (starts(head, 'ftyp', 4)) return brandedType(head.toString('latin1', 8, 12));
    if (quickTimeBoxes.has(head.toString('latin1', 4, 8))) return 'video/quicktime';
  }
  if (starts(head, '\x1a\x45\xdf\xa3')) {
    const start = head.toString('latin1', 0, 64);
    return start.includes('webm')
      ? 'video/webm'
      : start.includes('matroska')
        ? 'video/x-matroska'
        : undefined;
  }
  return undefined;
};

const brandedType = (brand: string): string => {
  if (heicBrands.has(brand)) return 'image/heic';
  if (brand === 'mif1' || brand === 'msf1') return 'image/heif';
  if (brand === 'avif' || brand === 'avis') return 'image/avif';
  if (brand === 'qt  ') return 'video/quicktime';
  return soundBrands.has(brand) ? 'audio/mp4' : 'video/mp4';
};

const soundType = (head: Buffer): string | undefined => {
  if ((starts(head, 'RIFF') || starts(head, 'RF64')) && starts(head, 'WAVE', 8)) return 'audio/wav';
  if (starts(head, 'fLaC')) return 'audio/flac';
  if (starts(head, 'OggS\0')) return 'audio/ogg';
  if (starts(head, 'ID3') && (head[3] ?? 0xff) < 0x10) return 'audio/mpeg';
  if (starts(head, 'ADIF')) return 'audio/aac';
  // Frames without a file header: eleven or twelve bits of sync, then the layer, which is 0 in AAC and 1 in MP3.
  const second = head[1] ?? 0;
  if (head[0] !== 0xff) return undefined;
  if ((second & 0xf6) === 0xf0) return 'audio/aac';
  return (second & 0xe6) === 0xe2 ? 'audio/mpeg' : undefined;
};

const documentType = (head: Buffer): string | undefined => {
  if (starts(head, 'PK\x03\x04')) return 'application/zip';
  return head.subarray(0, pdfOffset).includes('%PDF-') ? 'application/pdf' : undefined;
};

const starts = (head: Buffer, signature: string, at = 0): boolean => {
  for (let index = 0; index < signature.length; index++) {
    if (head[at + index] !== signature.charCodeAt(index)) return false;
  }
  return true;
};
