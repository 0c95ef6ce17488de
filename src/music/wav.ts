/** Writes and reads the headers of 16-bit WAV files. */

interface WavLayout {
  readonly sampleRate: number;
  readonly channels: number;
  /** Bytes of samples that follow, or the most there may be. */
  readonly dataBytes: number;
}

export const wavHeaderBytes = 44;

export const wavHeader = ({ sampleRate, channels, dataBytes }: WavLayout): Buffer => {
  const header = Buffer.alloc(wavHeaderBytes);
  const frameBytes = channels * 2;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(dataBytes + wavHeaderBytes - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
};

interface WavBeginning {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bits: number;
  /** Where the samples begin. */
  readonly start: number;
}

/** Chunks other than these two may come before the samples. */
const longestBeginning = 64 * 1024;

/** Of the first bytes of a WAV file; undefined when there are too few to tell. Throws when they are no WAV's. */
export const readWavBeginning = (bytes: Buffer): WavBeginning | undefined => {
  if (bytes.length < 12) return undefined;
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE')
    throw new Error('The bytes are not a WAV file');
  let layout: Omit<WavBeginning, 'start'> | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'data') {
      if (layout === undefined) throw new Error('The WAV file does not say how its samples are laid out');
      return { ...layout, start: at + 8 };
    }
    if (at + size > longestBeginning) throw new Error('The WAV file has no samples near its beginning');
    if (name === 'fmt ' && at + 24 <= bytes.length)
      layout = {
        channels: bytes.readUInt16LE(at + 10),
        sampleRate: bytes.readUInt32LE(at + 12),
        bits: bytes.readUInt16LE(at + 22),
      };
    at += 8 + size + (size % 2);
  }
  return undefined;
};
