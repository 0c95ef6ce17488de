/** Recognises sound without a file header, MP3 and ADTS, by a run of its frames. */

/** Kilobits a second of layer III, by index: of MPEG 1, and of MPEG 2 and 2.5. */
const rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Samples a second of MPEG 1; MPEG 2 has half of them, 2.5 a quarter. */
const sampleRates = [44_100, 48_000, 32_000];

/** Of the frame that begins at a place; undefined where none does, or too few bytes are left to tell. */
type FrameLength = (bytes: Uint8Array, at: number) => number | undefined;

const mp3FrameLength: FrameLength = (bytes, at) => {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  const version = (second >> 3) & 3;
  if (first !== 0xff || (second & 0xe6) !== 0xe2 || version === 1) return undefined;
  const isFirst = version === 3;
  const rate = (isFirst ? rates1 : rates2)[third >> 4];
  const samples = sampleRates[(third >> 2) & 3];
  if (rate === undefined || rate === 0 || samples === undefined) return undefined;
  const divided = isFirst ? samples : version === 2 ? samples / 2 : samples / 4;
  return Math.floor(((isFirst ? 144 : 72) * rate * 1000) / divided) + ((third >> 1) & 1);
};

const adtsFrameLength: FrameLength = (bytes, at) => {
  const [first = 0, second = 0, , fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at, at + 6);
  if (first !== 0xff || (second & 0xf6) !== 0xf0 || at + 6 > bytes.length) return undefined;
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
  return length < 8 ? undefined : length;
};

/** Frames in a row that cannot be chance: each header leads to the next. */
const enough = 3;

/** `undecided`: as far as the bytes go it may be such sound. */
type Answer = 'yes' | 'no' | 'undecided';

const runAt = (bytes: Uint8Array, start: number, lengthOf: FrameLength): Answer => {
  let at = start;
  for (let frames = 0; frames < enough; frames++) {
    if (at + 6 > bytes.length) return 'undecided';
    const length = lengthOf(bytes, at);
    // Version, layer and sample rate stay the same.
    const isAlike =
      bytes[at + 1] === bytes[start + 1] && sampleRateBits(bytes, at) === sampleRateBits(bytes, start);
    if (length === undefined || !isAlike) return 'no';
    at += length;
  }
  return 'yes';
};

const sampleRateBits = (bytes: Uint8Array, at: number): number => (bytes[at + 2] ?? 0) & 0x0c;

/** Whether frames of MP3 run from the very beginning. */
export const beginsWithMp3 = (bytes: Uint8Array): Answer => runAt(bytes, 0, mp3FrameLength);

/** The same of AAC. */
export const beginsWithAdts = (bytes: Uint8Array): Answer => runAt(bytes, 0, adtsFrameLength);

/** Whether a run of MP3 begins anywhere: a recording that was cut out of another begins between two frames. */
export const holdsMp3 = (bytes: Uint8Array): boolean => {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1))
    if (runAt(bytes, at, mp3FrameLength) === 'yes') return true;
  return false;
};
