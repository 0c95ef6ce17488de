/** Plays samples while they arrive, and keeps them as a WAV file. */
import { floatsOf, type PcmFormat, wavHead } from './pcm.ts';

/** Bytes of samples that are kept: twenty minutes of stereo. */
const mostBytes = 200_000_000;
/** Seconds between the arrival of the first samples and their sound, so that later ones come in time. */
const leadSeconds = 0.1;

export class PcmPlayer {
  readonly #context: AudioContext;
  readonly #format: PcmFormat;
  readonly #kept: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  #startedAt: number | undefined;
  #nextAt = 0;

  constructor(format: PcmFormat) {
    this.#format = format;
    this.#context = new AudioContext();
    void this.#context.resume();
  }

  /** Seconds that have arrived. */
  get arrived(): number {
    return this.#bytes / (2 * this.#format.channels * this.#format.rate);
  }

  /** Seconds that have been heard. */
  get heard(): number {
    if (this.#startedAt === undefined) return 0;
    return Math.max(0, Math.min(this.arrived, this.#context.currentTime - this.#startedAt));
  }

  push(bytes: Uint8Array<ArrayBuffer>): void {
    const frame = 2 * this.#format.channels;
    const all = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    const whole = all.subarray(0, all.length - (all.length % frame));
    this.#rest = all.slice(whole.length);
    if (whole.length === 0) return;
    this.#bytes += whole.length;
    if (this.#bytes > mostBytes) throw new Error('The sound is too long to be played here');
    this.#kept.push(whole);
    this.#schedule(whole);
  }

  #schedule(bytes: Uint8Array): void {
    const channels = floatsOf(bytes, this.#format);
    const buffer = this.#context.createBuffer(channels.length, channels[0]?.length ?? 0, this.#format.rate);
    for (const [index, samples] of channels.entries()) buffer.copyToChannel(samples, index);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    // After a gap, as soon as there is something again.
    const at = Math.max(this.#nextAt, this.#context.currentTime + (this.#nextAt === 0 ? leadSeconds : 0));
    this.#startedAt ??= at;
    source.start(at);
    this.#nextAt = at + buffer.duration;
  }

  /** Everything that has arrived. */
  file(): Blob {
    return new Blob([wavHead(this.#format, this.#bytes), ...this.#kept], { type: 'audio/wav' });
  }

  /** Ends the sound at once. */
  close(): void {
    if (this.#context.state !== 'closed') void this.#context.close();
  }
}

export const joined = (one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> => {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
};

/** The bytes of a response as they arrive. */
export async function* bytesOf(response: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
