/** Subscribes to Redis channels on a connection of its own that reconnects by itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { reconnectBackoff } from './redis.ts';

interface ChannelOptions {
  readonly url: string;
  readonly channels: readonly string[];
  readonly patience: number;
  onMessage(channel: string, text: string): void;
  /** From here on no message is missed. `again`: some may have been since the connection was lost. */
  onSubscribed(again: boolean): void;
  onLost(): void;
}

export interface Channel {
  /** Resolves when subscribed; rejects when that takes too long. */
  ready(): Promise<void>;
  close(): void;
}

export const openChannel = ({
  url,
  channels,
  patience,
  onMessage,
  onSubscribed,
  onLost,
}: ChannelOptions): Channel => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: patience,
    disconnectTimeout: 100,
    retryStrategy: reconnectBackoff,
  });
  // The connection for decisions fails in the same way, and reports it.
  redis.on('error', () => undefined);
  redis.on('message', onMessage);
  let hasSubscribed = false;
  redis.on('ready', () => {
    // The library subscribes again by itself; what matters is when the server has done so.
    if (hasSubscribed)
      redis.subscribe(...channels).then(
        () => onSubscribed(true),
        () => undefined,
      );
  });
  redis.on('close', onLost);
  const subscribed = redis.subscribe(...channels).then(
    () => {
      hasSubscribed = true;
      onSubscribed(false);
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
