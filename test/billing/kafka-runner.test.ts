/** Tests that a consumer which stops while the brokers change leaves the event loop alone. */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import '../../src/adapters/events/kafka-runner.ts';

interface LibraryRunner {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const Runner = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as new (
  options: object,
) => LibraryRunner;

t.test('fetchers that are replaced during a stop end', async (t) => {
  const logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: () => {},
    namespace: () => logger,
  };
  let nodes = [1, 2];
  let looks = 0;
  let stopped = false;
  const runner = new Runner({
    logger,
    instrumentationEmitter: { emit: () => {} },
    retry: { initialRetryTime: 10, maxRetryTime: 20, retries: 2 },
    onCrash: () => {},
    consumerGroup: {
      connect: async () => {},
      joinAndSync: async () => {},
      leave: async () => {},
      heartbeat: async () => {},
      // Without the correction it would be called for ever.
      getNodeIds: () => {
        if (stopped && ++looks > 1_000) throw new Error('The fetchers do not end');
        return nodes;
      },
      fetch: async (node: number) => {
        await delay(node === 1 ? 5 : 100);
        return [];
      },
    },
  });
  await runner.start();
  await delay(20);
  // The first fetcher notices it and ends; the second is waited for.
  nodes = [1, 3];
  await delay(30);
  stopped = true;
  await runner.stop();
  await delay(200);
  t.ok(looks < 10, `${looks} looks at the brokers after the stop`);
});
