/** Tests that records from Kafka are read as its library reads them. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import t from 'tap';
import {
  type BatchContext,
  KafkaRecord,
  type RecordDecoder,
} from '../../src/adapters/events/kafka-records.ts';

interface Encoder {
  readonly buffer: Buffer;
}

const library = createRequire(import.meta.url);
const Decoder = library('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => RecordDecoder;
const encode = library('kafkajs/src/protocol/recordBatch/record/v0/index.js') as (record: object) => Encoder;

/** The library's own, also where another suite of this process has replaced it by ours. */
const original = (name: string): unknown => {
  const file = library.resolve(name);
  const loaded = library.cache[file];
  delete library.cache[file];
  const module: unknown = library(file);
  if (loaded !== undefined) library.cache[file] = loaded;
  return module;
};
const theirs = original('kafkajs/src/protocol/recordBatch/record/v0/decoder.js') as (
  decoder: RecordDecoder,
  context: object,
) => object;

const bytes = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text));
const nullable = fc.option(bytes);
/** To a header `valueOf`, the library adds the method of that name. */
const headerName = fc.string().filter((name) => !(name in {}));
const record = fc.record({
  offsetDelta: fc.nat(),
  timestampDelta: fc.integer({ min: 0, max: 2 ** 40 }),
  key: nullable,
  value: nullable,
  headers: fc.dictionary(headerName, fc.oneof(bytes, fc.array(bytes, { minLength: 2, maxLength: 4 }))),
});
const context = fc.record({
  firstOffset: fc.bigInt({ min: 0n, max: 2n ** 62n }).map(String),
  firstTimestamp: fc.constant('1790000000000'),
  isControlBatch: fc.boolean(),
});

/** Without the length before it, which the library has read by then. */
const decoderOf = (encoded: Encoder): RecordDecoder => {
  const decoder = new Decoder(encoded.buffer);
  return new Decoder(decoder.readVarIntBytes() ?? Buffer.alloc(0));
};

const read = (record: object): object => {
  const { offset, key, value, headers, isControlRecord, batchContext } = record as KafkaRecord;
  return { offset, key, value, headers, isControlRecord, batchContext };
};

t.test('a record is read as by the library, in any order and more than once', async (t) => {
  fc.assert(
    fc.property(record, context, (fields, batch: BatchContext) => {
      const encoded = encode(fields);
      const ours = new KafkaRecord(decoderOf(encoded), batch);
      const expected = read(theirs(decoderOf(encoded), batch));
      t.strictSame(ours.headers, (expected as KafkaRecord).headers);
      t.strictSame(read(ours), expected);
      t.strictSame(read(ours), expected);
    }),
  );
});
