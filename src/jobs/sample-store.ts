/**
 * Stores a song's samples while it is rendered, as small numbered blobs that any process can read.
 *
 * `samples/<job>/<attempt>/<output>/<number>`
 */
import { JoinedBytes } from '../helpers/joined-bytes.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { Blobs } from '../ports/blobs.ts';
import { samplesKeptMs } from './transitions.ts';

/** Bytes that make a piece worth writing at once: half a second of what a song model gives. */
const minPieceBytes = 64 * 1024;
const maxPieceBytes = 256 * 1024;
/** Milliseconds that fewer bytes wait for more. */
const maxDelayMs = 250;
/** Bytes that may wait for the store before the renderer is paused. */
const backlog = 1024 * 1024;
/** Samples that a crash leaves behind expire after this long. */
const strayMs = 24 * 3_600_000 + samplesKeptMs;

const folderOf = (job: string, attempt: number, output: number): string =>
  `samples/${job}/${attempt}/${output}`;

export const pieceName = (job: string, attempt: number, output: number, number: number): string =>
  `${folderOf(job, attempt, output)}/${number}`;

/** From the last to the first: what is there stays findable by counting from 0, should this process die meanwhile. */
export const deleteSamples = async (
  blobs: Blobs,
  job: string,
  attempt: number,
  outputs: number,
): Promise<void> => {
  for (let output = 0; output < outputs; output++) {
    let count = 0;
    while ((await blobs.stat(pieceName(job, attempt, output, count))) !== undefined) count++;
    while (count > 0) await blobs.remove(pieceName(job, attempt, output, --count));
  }
};

interface SampleWriterOptions {
  readonly blobs: Blobs;
  readonly job: string;
  readonly attempt: number;
  readonly now: () => number;
  /** Of the renderer. */
  readonly backpressure: Backpressure;
  /** A piece can be read. */
  readonly written: () => void;
}

/** One per render; writes one piece at a time. */
export class SampleWriter {
  readonly #options: SampleWriterOptions;
  readonly #waiting = new Map<number, JoinedBytes>();
  readonly #numbers = new Map<number, number>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #failure: unknown;

  constructor(options: SampleWriterOptions) {
    this.#options = options;
  }

  add(output: number, bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#failure !== undefined) return;
    let waiting = this.#waiting.get(output);
    if (waiting === undefined) {
      waiting = new JoinedBytes();
      this.#waiting.set(output, waiting);
    }
    waiting.add(bytes, true);
    this.#bytes += bytes.length;
    if (this.#bytes > backlog) this.#options.backpressure.pause();
    if (this.#bytes >= minPieceBytes) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), maxDelayMs);
  }

  /** Everything that was added can be read. Rejects when some of it could not be kept. */
  async end(): Promise<void> {
    while (this.#bytes > 0 && this.#failure === undefined) {
      this.#write();
      await this.#writing;
    }
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Nothing more is written. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
    this.#bytes = 0;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    const { blobs, job, attempt, now, backpressure, written } = this.#options;
    try {
      for (;;) {
        const [output] = this.#waiting.keys();
        if (output === undefined) return;
        const bytes = this.#take(output);
        const number = this.#numbers.get(output) ?? 0;
        await blobs.put(pieceName(job, attempt, output, number), bytes, {
          mediaType: 'application/octet-stream',
          expiresAt: now() + strayMs,
        });
        this.#numbers.set(output, number + 1);
        this.#bytes = Math.max(0, this.#bytes - bytes.length);
        if (this.#bytes <= backlog / 2) backpressure.resume();
        written();
      }
    } catch (error) {
      // The song itself is not affected: only its listeners get no more of it.
      this.#failure = error;
      this.drop();
      backpressure.resume();
    }
  }

  #take(output: number): Buffer {
    const waiting = this.#waiting.get(output) ?? new JoinedBytes();
    const all = waiting.take();
    if (all.length <= maxPieceBytes) this.#waiting.delete(output);
    else waiting.append(all.subarray(maxPieceBytes));
    return all.subarray(0, maxPieceBytes);
  }
}
