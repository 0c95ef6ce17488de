/** A channel of Redis in; its messages out, on a connection of its own that comes back by itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { reconnectBackoff } from '../redis.ts';

export interface WakesOptions {
  readonly url: string;
  readonly channel: string;
  readonly patience: number;
  onMessage(text: string): void;
  /** The connection was lost and is back: messages may have been missed. */
  onReturn(): void;
}

export interface Wakes {
  /** Resolves when messages are being heard; rejects when that takes too long. */
  ready(): Promise<void>;
  close(): void;
}

export const openWakes = ({ url, channel, patience, onMessage, onReturn }: WakesOptions): Wakes => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: patience,
    disconnectTimeout: 100,
    retryStrategy: reconnectBackoff,
  });
  // The connection for decisions has the same trouble, and tells it.
  redis.on('error', () => undefined);
  redis.on('message', (_channel, text) => onMessage(text));
  let heard = false;
  redis.on('ready', () => {
    if (heard) onReturn();
  });
  const subscribed = redis.subscribe(channel).then(
    () => {
      heard = true;
    },
    // Closed before it was connected.
    () => undefined,
  );
  return {
    ready: async () => {
      const giveUp = new AbortController();
      const late = delay(patience, undefined, { signal: giveUp.signal }).then(() => {
        throw new Error('Redis does not let the gateway listen for messages in time.');
      });
      try {
        await Promise.race([subscribed, late]);
      } finally {
        giveUp.abort();
        late.catch(() => undefined);
      }
    },
    close: () => redis.disconnect(),
  };
};
