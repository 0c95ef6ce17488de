/** Tests that messages for Kafka are encoded and partitioned as its library does it. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import t from 'tap';
import { kafkajs } from '../../src/adapters/events/kafka-corrections.ts';
import { encodeProduceRequest } from '../../src/adapters/events/kafka-encoding.ts';
import { cachingPartitioner } from '../../src/adapters/events/kafka-producer.ts';

interface Encoded {
  readonly buffer: Buffer;
}

interface Request {
  encode(): Promise<Encoded>;
}

const library = createRequire(import.meta.url);
const theirs = library('kafkajs/src/protocol/requests/produce/v7/request.js') as (of: object) => Request;
const { protocol } = library('kafkajs/src/protocol/requests/produce/index.js') as {
  protocol(of: { version: number }): (options: object) => { request: Request };
};

const now = 1_790_000_000_123;
const clock = Date.now;
t.before(() => {
  Date.now = () => now;
});
t.teardown(() => {
  Date.now = clock;
});

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }));
const bytes = text.map((value) => Buffer.from(value));
const message = fc.record({ key: text, value: fc.oneof(text, bytes) });
const batch = fc.record({
  partition: fc.nat(),
  firstSequence: fc.nat(),
  messages: fc.oneof(
    fc.array(message, { minLength: 1, maxLength: 20 }),
    // Numbers of records beyond 63 and sizes beyond 8191 take more bytes.
    fc.tuple(message, fc.integer({ min: 60, max: 200 })).map(([one, count]) => Array(count).fill(one)),
    fc.record({ key: text, value: text }).map(({ key, value }) => [{ key, value: value.repeat(2_000) }]),
  ),
});
const produceRequest = fc.record({
  acks: fc.constantFrom(-1, 0, 1),
  timeout: fc.nat(),
  compression: fc.constant(0),
  producerId: fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }).map(String),
  producerEpoch: fc.nat(32_767),
  topicData: fc.array(
    fc.record({ topic: fc.string({ maxLength: 40 }), partitions: fc.array(batch, { maxLength: 3 }) }),
    { maxLength: 3 },
  ),
});

t.test('what is encoded has the bytes of the library', async () => {
  await fc.assert(
    fc.asyncProperty(produceRequest, async (one) => {
      const expected = await theirs(one).encode();
      return encodeProduceRequest(one, now).equals(expected.buffer);
    }),
    { numRuns: 300 },
  );
});

t.test('what it cannot encode is left to the library', async (t) => {
  const [plain] = fc.sample(
    produceRequest.filter(({ topicData }) => topicData.length > 0),
    1,
  );
  const withMessage = (one: object) => ({
    ...plain,
    topicData: [{ topic: 'usage', partitions: [{ partition: 0, firstSequence: 0, messages: [one] }] }],
  });
  for (const [what, one] of Object.entries({
    'two strings': withMessage({ key: 'a', value: 'b' }),
    headers: withMessage({ key: 'a', value: 'b', headers: { reason: 'why' } }),
    'a time': withMessage({ key: 'a', value: 'b', timestamp: String(now - 5) }),
    'no key': withMessage({ key: null, value: 'b' }),
    'a string and bytes': withMessage({ key: 'a', value: Buffer.from('b') }),
    'no value': withMessage({ key: 'a', value: null }),
    'a transaction': { ...withMessage({ key: 'a', value: 'b' }), transactionalId: 'one' },
    compression: { ...withMessage({ key: 'a', value: 'b' }), compression: 1 },
  }))
    for (const version of [3, 7]) {
      const { request } = protocol({ version })(one);
      const [ours, expected] = await Promise.all([request.encode(), theirs(one).encode()]);
      t.ok(ours.buffer.equals(expected.buffer), `${what}, version ${version}`);
    }
});

t.test('keys go to the partitions of the library, also when their number changes', async (t) => {
  const [ours, expected] = [cachingPartitioner(), kafkajs.Partitioners.DefaultPartitioner()];
  const sent = (partitions: number, message: { key: string | null; value: string; partition?: number }) => ({
    topic: 'usage',
    message,
    partitionMetadata: Array.from({ length: partitions }, (_, partitionId) => ({
      ...{ partitionErrorCode: 0, partitionId, leader: 1, replicas: [1], isr: [1] },
    })),
  });
  const wrong: string[] = [];
  for (const partitions of [6, 24, 6])
    for (let number = 0; number < 12_000; number++) {
      const one = sent(partitions, { key: `sub_${number % 10_500}`, value: '' });
      if (ours(one) !== expected(one)) wrong.push(`${partitions}: ${one.message.key}`);
    }
  t.strictSame(wrong, [], 'beyond what is cached, too');
  t.equal(ours(sent(6, { key: 'sub_1', value: '', partition: 5 })), 5, 'a chosen one');
});
