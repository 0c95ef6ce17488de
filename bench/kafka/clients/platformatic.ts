/** `@platformatic/kafka`: a client in TypeScript; its messages are collected into batches. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { OpenClient } from '../client.ts';

interface Message {
  readonly value: Buffer;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

interface Stream extends AsyncIterable<Message> {
  read(): Message | null;
  close(): Promise<void>;
  on(event: string, listener: (error: Error) => void): void;
}

interface Consumer {
  consume(options: object): Promise<Stream>;
  commit(options: {
    offsets: readonly { topic: string; partition: number; offset: bigint; leaderEpoch: number }[];
  }): Promise<void>;
  close(force: boolean): Promise<void>;
}

interface Package {
  readonly Producer: new (
    options: object,
  ) => {
    send(options: { messages: readonly object[] }): Promise<unknown>;
    close(force: boolean): Promise<void>;
  };
  readonly Consumer: new (options: object) => Consumer;
  readonly stringSerializers: object;
  readonly compatibilityPartitioner?: unknown;
}

/** Messages of one batch at most. */
const most = 2_000;

export const open: OpenClient = async ({ brokers, topic, group, folder }) => {
  const entry = createRequire(join(folder, 'package.json')).resolve('@platformatic/kafka');
  const library = (await import(pathToFileURL(entry).href)) as Package;
  const base = { clientId: 'bench', bootstrapBrokers: brokers, retryDelay: 200, requestTimeout: 10_000 };
  const producer = new library.Producer({
    ...base,
    serializers: library.stringSerializers,
    idempotent: true,
    acks: -1,
    retries: 10,
    ...(library.compatibilityPartitioner === undefined
      ? {}
      : { partitioner: library.compatibilityPartitioner }),
  });
  let ending = false;
  let consumer: Consumer | undefined;

  const read = async (receive: (values: readonly Uint8Array[]) => void): Promise<void> => {
    const current = new library.Consumer({ ...base, groupId: group, retries: 3 });
    consumer = current;
    try {
      const stream = await current.consume({
        topics: [topic],
        mode: 'committed',
        fallbackMode: 'earliest',
        autocommit: false,
        minBytes: 1024 * 1024,
        maxBytes: 16 * 1024 * 1024,
        maxWaitTime: 500,
        highWaterMark: most,
        sessionTimeout: 10_000,
        heartbeatInterval: 1_000,
      });
      for await (const first of stream) {
        const batch = [first];
        // What has arrived with it.
        while (batch.length < most) {
          const next = stream.read();
          if (next === null) break;
          batch.push(next);
        }
        receive(batch.map(({ value }) => value));
        const last = new Map(batch.map(({ partition, offset }) => [partition, offset]));
        await current.commit({
          offsets: [...last].map(([partition, offset]) => ({
            topic,
            partition,
            offset: offset + 1n,
            leaderEpoch: -1,
          })),
        });
        if (ending) break;
      }
    } finally {
      await current.close(true).catch(() => undefined); // what broke it may break this too
    }
  };
  let reading: Promise<void> | undefined;
  return {
    publish: async (messages) => {
      await producer.send({ messages: messages.map(({ key, value }) => ({ topic, key, value })) });
    },
    consume: (receive) => {
      const run = async (): Promise<void> => {
        while (!ending)
          await read(receive).catch(async (error: unknown) => {
            if (!ending) console.error(`consumer starts again: ${error}`);
            await delay(200);
          });
      };
      reading = run();
    },
    close: async () => {
      ending = true;
      await consumer?.close(true).catch(() => undefined); // it is waited for below
      await Promise.race([reading, delay(5_000)]);
      await producer.close(true);
    },
  };
};
