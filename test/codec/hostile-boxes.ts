/** Builds hostile media files byte by byte: Matroska elements, MP4 boxes and Ogg pages. */

type Part = Buffer | string | number;

/** An element; numbers are written in as many bytes as they need. */
export const element = (id: number, ...parts: readonly Part[]): Buffer => {
  const body = Buffer.concat(parts.map(bytesOf));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length));
  size[0] = 0x01;
  return Buffer.concat([bytesOf(id), size, body]);
};

const bytesOf = (part: Part): Buffer => {
  if (typeof part === 'string') return Buffer.from(part);
  if (typeof part !== 'number') return part;
  const digits = part.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
};

const track = (number: number, kind: number, codec: string, ...more: readonly Part[]): Buffer =>
  element(
    0xae,
    element(0xd7, number),
    element(0x73c5, number),
    element(0x83, kind),
    element(0x86, codec),
    ...more,
  );

/** Uncompressed pictures of a size that nobody has. */
export const pictureTrack = (width: number, height: number): Buffer =>
  track(
    1,
    1,
    'V_UNCOMPRESSED',
    element(0xe0, element(0xb0, width), element(0xba, height), element(0x2eb524, 'I420')),
  );

/** 8000 samples of 16 bits a second. */
export const soundTrack = (): Buffer => {
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(8000);
  const layout = element(0xe1, element(0xb5, rate), element(0x9f, 1), element(0x6264, 16));
  return track(1, 2, 'A_PCM/INT/LIT', layout);
};

const script = `[Script Info]
ScriptType: v4.00+
[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,../../../../etc/passwd,20
[Events]
Format: Layer, Start, End, Style, Text
`;

export const subtitleTrack = (): Buffer => track(2, 17, 'S_TEXT/ASS', element(0x63a2, script));

export const attachment = (name: string, bytes: Buffer): Buffer =>
  element(
    0x1941a469,
    element(
      0x61a7,
      element(0x466e, name),
      element(0x4660, 'application/x-truetype-font'),
      element(0x465c, bytes),
      element(0x46ae, 7),
    ),
  );

const block = (trackNumber: number, bytes: Buffer): Buffer =>
  element(0xa3, Buffer.from([0x80 | trackNumber, 0, 0, 0x80]), bytes);

export const matroska = (
  tracks: readonly Buffer[],
  blocks: readonly [track: number, bytes: Buffer][],
  more: readonly Buffer[] = [],
): Buffer =>
  Buffer.concat([
    element(0x1a45dfa3, element(0x4282, 'matroska'), element(0x4287, 4), element(0x4285, 2)),
    element(
      0x18538067,
      element(0x1549a966, element(0x2ad7b1, 1_000_000)),
      element(0x1654ae6b, ...tracks),
      ...more,
      element(0x1f43b675, element(0xe7, 0), ...blocks.map(([number, bytes]) => block(number, bytes))),
    ),
  ]);

export const box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};

export const nestedMp4 = (depth: number): Buffer => {
  const heads = Buffer.alloc(8 * depth);
  for (let level = 0; level < depth; level++) {
    heads.writeUInt32BE(8 * (depth - level), 8 * level);
    heads.write(level % 2 === 0 ? 'moov' : 'trak', 8 * level + 4, 'latin1');
  }
  return Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isom')), heads]);
};

/** A page that begins another stream. */
export const oggPage = (serial: number): Buffer => {
  const body = Buffer.from('OpusHead\x01\x01\x38\x01\x80\xbb\0\0\0\0\0', 'latin1');
  const page = Buffer.alloc(28);
  page.write('OggS', 0, 'latin1');
  page[5] = 2;
  page.writeUInt32LE(serial, 14);
  page[26] = 1;
  page[27] = body.length;
  return withChecksum(Buffer.concat([page, body]));
};

const withChecksum = (page: Buffer): Buffer => {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  page.writeInt32LE(sum, 22);
  return page;
};
