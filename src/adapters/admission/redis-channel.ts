/** Subscribes to a Redis channel on a connection of its own that reconnects by itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { reconnectBackoff } from '../redis.ts';

interface ChannelOptions {
  readonly url: string;
  readonly channel: string;
  readonly patience: number;
  onMessage(text: string): void;
  /** The connection was lost and is restored: messages may have been missed. */
  onReconnect(): void;
}

export interface Channel {
  /** Resolves when subscribed; rejects when that takes too long. */
  ready(): Promise<void>;
  close(): void;
}

export const openChannel = ({ url, channel, patience, onMessage, onReconnect }: ChannelOptions): Channel => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: patience,
    disconnectTimeout: 100,
    retryStrategy: reconnectBackoff,
  });
  // The connection for decisions fails in the same way, and reports it.
  redis.on('error', () => undefined);
  redis.on('message', (_channel, text) => onMessage(text));
  let hasSubscribed = false;
  redis.on('ready', () => {
    if (hasSubscribed) onReconnect();
  });
  const subscribed = redis.subscribe(channel).then(
    () => {
      hasSubscribed = true;
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
