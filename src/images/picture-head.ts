/** Reads format, size and alpha channel from the first bytes of a PNG, JPEG or WebP. */

export interface PictureHead {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly width: number;
  readonly height: number;
  readonly hasAlpha: boolean;
}

/** Undefined for what is no such picture, or where `bytes` end before its size. */
export const pictureHead = (bytes: Buffer): PictureHead | undefined => {
  const head = bytes.length < 30 ? undefined : (readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes));
  return head !== undefined && head.width > 0 && head.height > 0 ? head : undefined;
};

/** Grey with alpha, and colour with alpha; the others may name a transparent colour in a chunk before the pixels. */
const alphaColourTypes = new Set([4, 6]);

const readPng = (bytes: Buffer): PictureHead | undefined => {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return undefined;
  return {
    mediaType: 'image/png',
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    hasAlpha: alphaColourTypes.has(bytes.readUInt8(25)) || hasTransparentColour(bytes),
  };
};

const hasTransparentColour = (bytes: Buffer): boolean => {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'tRNS') return true;
    if (type === 'IDAT') return false;
  }
  return false;
};

/** Segments up to the one that begins a frame: C0 to CF but for tables (C4), an extension (C8) and arithmetic coding's (CC). */
const readJpeg = (bytes: Buffer): PictureHead | undefined => {
  if (bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker >> 8 !== 0xff) return undefined;
    if (marker === 0xffff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame)
      return {
        mediaType: 'image/jpeg',
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        hasAlpha: false,
      };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

const readWebp = (bytes: Buffer): PictureHead | undefined => {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined;
  const mediaType = 'image/webp';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return {
        mediaType,
        width: bytes.readUIntLE(24, 3) + 1,
        height: bytes.readUIntLE(27, 3) + 1,
        hasAlpha: (bytes.readUInt8(20) & 0x10) !== 0,
      };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return {
        mediaType,
        width: (bits & 0x3fff) + 1,
        height: ((bits >>> 14) & 0x3fff) + 1,
        hasAlpha: ((bits >>> 28) & 1) === 1,
      };
    }
    case 'VP8 ':
      return {
        mediaType,
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
        hasAlpha: false,
      };
    default:
      return undefined;
  }
};
