/**
 * After an early answer: body bytes in, nothing out. A connection that is ended while its client still sends is reset,
 * and the client may lose the answer it was sent; so for a while what comes is read and thrown away.
 */
import type { Channel, ChannelOwner } from './channel.ts';

const lingerBytes = 1024 * 1024;

export class Linger implements ChannelOwner {
  readonly #channel: Channel;
  readonly #timer: NodeJS.Timeout;
  #received = 0;

  constructor(channel: Channel, ms: number, end: () => void) {
    this.#channel = channel;
    this.#timer = setTimeout(end, ms);
  }

  data(chunk: Uint8Array): void {
    this.#received += chunk.byteLength;
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
