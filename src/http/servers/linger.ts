/** Discards the rest of a request body after an early response. */
import type { Channel, ChannelOwner } from './channel.ts';

const lingerBytes = 1024 * 1024;
/** Each chunk costs at least what so many bytes cost, however small it is. */
const leastChunk = 1024;

/** A connection closed while its client still sends is reset, and the response may be lost: so it is read for a while. */
export class Linger implements ChannelOwner {
  readonly #channel: Channel;
  readonly #timer: NodeJS.Timeout;
  #received = 0;

  constructor(channel: Channel, ms: number, end: () => void) {
    this.#channel = channel;
    this.#timer = setTimeout(end, ms);
  }

  data(chunk: Uint8Array): void {
    this.#received += Math.max(chunk.byteLength, leastChunk);
    if (this.#received > lingerBytes) this.#channel.pauseBody();
  }

  gone(): void {
    clearTimeout(this.#timer);
  }

  moving(): void {}

  writable(): void {}

  sent(): void {}

  failed(): void {}
}
