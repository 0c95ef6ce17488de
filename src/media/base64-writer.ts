/** Bytes as they arrive in; their base64 out, written piece by piece so that no moment pays for the whole. */
import type { Base64 } from '../ports/media.ts';

const firstRoom = 64 * 1024;
/** Up to here a string is as cheap as its bytes and handier. */
const longestString = 64 * 1024;

export class Base64Writer {
  readonly #maxBytes: number;
  #target: Buffer;
  #written = 0;
  /** One or two bytes that wait for the rest of their group of three. */
  #rest: Buffer = Buffer.alloc(0);

  /** `expected` is the number of bytes announced, if any was. Memory that is not written to is not taken. */
  constructor(maxBytes: number, expected: number | undefined) {
    this.#maxBytes = maxBytes;
    this.#target = Buffer.allocUnsafeSlow(encodedLength(Math.min(maxBytes, expected ?? firstRoom)));
  }

  write(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    this.#encode(bytes.subarray(0, whole));
    this.#rest = Buffer.from(bytes.subarray(whole));
  }

  end(): Base64 {
    this.#encode(this.#rest);
    const ascii = this.#target.subarray(0, this.#written);
    return ascii.length > longestString ? ascii : ascii.toString('latin1');
  }

  #encode(bytes: Buffer): void {
    const needed = this.#written + encodedLength(bytes.length);
    if (needed > this.#target.length) this.#grow();
    this.#written += this.#target.write(bytes.toString('base64'), this.#written, 'latin1');
  }

  /** Straight to the most there can be: growing in steps would copy everything again at each. */
  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(encodedLength(this.#maxBytes));
    this.#target.copy(larger, 0, 0, this.#written);
    this.#target = larger;
  }
}

const encodedLength = (bytes: number): number => Math.ceil(bytes / 3) * 4;
