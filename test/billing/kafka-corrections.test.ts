/** Tests that Kafka's library leaves the event loop alone: when a consumer stops, when there is nothing to send, when there is much. */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import '../../src/adapters/events/kafka-corrections.ts';

interface LibraryRunner {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface LibraryQueue {
  push(request: object): void;
  fulfillRequest(response: object): void;
  checkPendingRequests(): void;
}

const library = createRequire(import.meta.url);
const Runner = library('kafkajs/src/consumer/runner.js') as new (options: object) => LibraryRunner;
const RequestQueue = library('kafkajs/src/network/requestQueue/index.js') as new (
  options: object,
) => LibraryQueue;
const createSendMessages = library('kafkajs/src/producer/sendMessages.js') as (
  options: object,
) => (request: object) => Promise<unknown>;

const logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  namespace: () => logger,
};

t.test('fetchers that are replaced during a stop end', async (t) => {
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

t.test('a connection looks for requests to send only while there are some', async (t) => {
  const sent: number[] = [];
  const queue = new RequestQueue({
    ...{ logger, clientId: 'test', broker: 'test', isConnected: () => true },
    ...{ maxInFlightRequests: 1, requestTimeout: 1_000, enforceRequestTimeout: false },
  });
  let looks = 0;
  const check = queue.checkPendingRequests;
  queue.checkPendingRequests = () => {
    looks++;
    check.call(queue);
  };
  const push = (correlationId: number) =>
    queue.push({
      entry: { correlationId, apiKey: 0, apiName: 'Test', resolve: () => {}, reject: () => {} },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    });
  const respond = (correlationId: number) =>
    queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 });
  push(1);
  push(2);
  t.strictSame(sent, [1], 'one at a time');
  respond(1);
  t.strictSame(sent, [1, 2]);
  respond(2);
  await delay(30);
  looks = 0;
  await delay(100);
  t.equal(looks, 0);
});

t.test('messages are grouped by partition without copies of the groups', async (t) => {
  const messages = Array.from({ length: 5 }, (_, n) => ({ key: `key ${n % 2}`, value: `${n}` }));
  let produced: unknown;
  const broker = {
    nodeId: 1,
    produce: async ({ topicData }: { topicData: unknown }) => {
      produced = topicData;
      return { topics: [] };
    },
  };
  const sendMessages = createSendMessages({
    logger,
    cluster: {
      addMultipleTargetTopics: async () => {},
      refreshMetadataIfNecessary: async () => {},
      findTopicPartitionMetadata: () => [{}, {}],
      findLeaderForPartitions: () => ({ 1: [0, 1] }),
      findBroker: async () => broker,
    },
    partitioner: ({ message }: { message: { key: string } }) => (message.key === 'key 0' ? 0 : 1),
    eosManager: {
      acquireBrokerLock: async () => {},
      releaseBrokerLock: async () => {},
      isTransactional: () => false,
      getProducerId: () => 1,
      getProducerEpoch: () => 0,
      getSequence: () => 7,
      updateSequence: () => {},
    },
    retrier: (attempt: () => Promise<unknown>) => attempt(),
  });
  // The library groups with `reduce`, and copies.
  const unreduced = Object.assign([...messages], { reduce: undefined });
  await sendMessages({ acks: -1, topicMessages: [{ topic: 'usage', messages: unreduced }] });
  const [m0, m1, m2, m3, m4] = messages;
  t.strictSame(produced, [
    {
      topic: 'usage',
      partitions: [
        { partition: 0, messages: [m0, m2, m4], firstSequence: 7 },
        { partition: 1, messages: [m1, m3], firstSequence: 7 },
      ],
    },
  ]);
});
