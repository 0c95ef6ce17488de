/** The layout of 16-bit samples in; the header of a WAV file of them out. */

export interface WavLayout {
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
