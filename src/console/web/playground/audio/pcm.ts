/** Samples of sound: 16 bits, little-endian, channels interleaved; as floats, and as a WAV file. */

export interface PcmFormat {
  readonly rate: number;
  readonly channels: number;
}

/** `audio/pcm;rate=24000;channels=1` */
export const formatOf = (contentType: string): PcmFormat => ({
  rate: Number(/rate=(\d+)/.exec(contentType)?.[1] ?? 24_000),
  channels: Number(/channels=(\d+)/.exec(contentType)?.[1] ?? 1),
});

/** One list per channel. `bytes` has whole frames only. */
export const floatsOf = (bytes: Uint8Array, { channels }: PcmFormat): Float32Array<ArrayBuffer>[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames = bytes.length / (2 * channels);
  return Array.from({ length: channels }, (_, channel) => {
    const samples = new Float32Array(frames);
    for (let frame = 0; frame < frames; frame++)
      samples[frame] = view.getInt16(2 * (frame * channels + channel), true) / 0x8000;
    return samples;
  });
};

const headBytes = 44;

export const wavHead = ({ rate, channels }: PcmFormat, dataBytes: number): Uint8Array<ArrayBuffer> => {
  const head = new Uint8Array(headBytes);
  const view = new DataView(head.buffer);
  const text = (at: number, value: string) => {
    for (const [index, letter] of [...value].entries()) view.setUint8(at + index, letter.charCodeAt(0));
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  return head;
};

/** Where the samples of a WAV file begin; undefined while its head is incomplete. */
export const readWavHead = (bytes: Uint8Array): (PcmFormat & { readonly dataAt: number }) | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  let format: PcmFormat | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (name(at) === 'data') return { ...(format ?? { rate: 24_000, channels: 1 }), dataAt: at + 8 };
    const size = view.getUint32(at + 4, true);
    if (name(at) === 'fmt ' && at + 24 <= bytes.length)
      format = { channels: view.getUint16(at + 10, true), rate: view.getUint32(at + 12, true) };
    at += 8 + size + (size % 2);
  }
  return undefined;
};
