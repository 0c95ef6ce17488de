/** Subscribes to Redis channels on a connection of its own, which is replaced when it is lost. */
import type { Redis } from 'ioredis';
import { within } from '../helpers/within.ts';
import { openSubscriber, reconnectBackoff } from './redis-client.ts';
import { type RedisAddress, settingsOf } from './redis-settings.ts';

interface ChannelOptions {
  readonly redis: RedisAddress;
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

/** Milliseconds between looks at whether the server is still there: a connection without messages would never know. */
const pingMs = 5_000;

export const openChannel = (options: ChannelOptions): Channel => {
  const { channels, patience, onMessage, onSubscribed, onLost } = options;
  const settings = settingsOf(options.redis);
  let connection: Redis | undefined;
  let attempts = 0;
  let failures = 0;
  let hasSubscribed = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let resolve: () => void = () => undefined;
  const subscribed = new Promise<void>((done) => {
    resolve = done;
  });

  const connect = (): void => {
    const redis = openSubscriber(settings, patience, attempts++);
    connection = redis;
    // The connection for decisions fails in the same way, and reports it.
    redis.on('error', () => undefined);
    redis.on('message', onMessage);
    redis.once('end', () => {
      clearInterval(pings);
      if (closed) return;
      onLost();
      retry = setTimeout(connect, reconnectBackoff(++failures));
    });
    const giveUp = (): void => redis.disconnect();
    const pings = setInterval(() => void redis.ping().catch(giveUp), pingMs).unref();
    redis.subscribe(...channels).then(() => {
      failures = 0;
      onSubscribed(hasSubscribed);
      hasSubscribed = true;
      resolve();
    }, giveUp);
  };
  connect();

  return {
    ready: () =>
      within(patience, subscribed, () => {
        throw new Error('Redis does not let the gateway listen for messages in time.');
      }),
    close: () => {
      closed = true;
      clearTimeout(retry);
      connection?.disconnect();
    },
  };
};
