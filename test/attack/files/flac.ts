/** Writes a FLAC of silence: few bytes, many samples to decode. */

interface Silence {
  readonly seconds: number;
  readonly sampleRate: number;
}

/** Samples of a frame, and the code that its header has for them. */
const blockSize = 4608;
const blockCode = 5;
const bits = 16;
const channels = 2;

export const silentFlac = ({ seconds, sampleRate }: Silence): Buffer => {
  const samples = Math.floor((seconds * sampleRate) / blockSize) * blockSize;
  const parts = [Buffer.from('fLaC'), streamInfo(sampleRate, samples)];
  for (let number = 0; number < samples / blockSize; number++) parts.push(frame(number));
  return Buffer.concat(parts);
};

/** The only block of metadata: block sizes, unknown frame sizes, rate, channels, bits, samples, no checksum. */
const streamInfo = (sampleRate: number, samples: number): Buffer => {
  const block = Buffer.alloc(4 + 34);
  block.writeUInt8(0x80, 0);
  block.writeUIntBE(34, 1, 3);
  block.writeUInt16BE(blockSize, 4);
  block.writeUInt16BE(blockSize, 6);
  const packed =
    (BigInt(sampleRate) << 44n) | (BigInt(channels - 1) << 41n) | (BigInt(bits - 1) << 36n) | BigInt(samples);
  block.writeBigUInt64BE(packed, 14);
  return block;
};

/** Rate as in the metadata, two channels of 16 bits, each of one constant sample. */
const frame = (number: number): Buffer => {
  const head = [0xff, 0xf8, blockCode << 4, 0x18, ...coded(number)];
  const body = [...head, checksum(head, 8, 0x07), 0x00, 0x00, 0x00, 0x00, 0x00, 0x00];
  const end = checksum(body, 16, 0x8005);
  return Buffer.from([...body, end >> 8, end & 0xff]);
};

/** As UTF-8 codes characters, surrogates included. */
const coded = (number: number): readonly number[] => {
  if (number < 0x80) return [number];
  const tail = number < 0x800 ? 1 : number < 0x10000 ? 2 : 3;
  const rest = Array.from({ length: tail }, (_, at) => 0x80 | ((number >> (6 * (tail - 1 - at))) & 0x3f));
  return [((0xff80 >> tail) & 0xff) | (number >> (6 * tail)), ...rest];
};

const checksum = (bytes: readonly number[], width: 8 | 16, polynomial: number): number => {
  const top = 1 << (width - 1);
  const mask = 2 ** width - 1;
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ (sum & top ? polynomial : 0)) & mask;
  }
  return sum;
};
