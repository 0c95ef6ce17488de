/** kafkajs 2.2.4 with five corrections: it would occupy the process for nothing. */
import { createRequire } from 'node:module';
import type { ICustomPartitioner, Message, PartitionMetadata } from 'kafkajs';
import { encodeProduceRequest, type ProduceRequest } from './kafka-encoding.ts';
import { type BatchContext, KafkaRecord, type RecordDecoder } from './kafka-records.ts';

interface Runner {
  readonly running: boolean;
  fetch(nodeId: number): Promise<readonly unknown[]>;
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/** What the library is to encode; ours cannot do all of it. */
interface AnyProduceRequest extends Omit<ProduceRequest, 'topicData'> {
  readonly compression: number;
  readonly transactionalId?: string;
  readonly topicData: readonly {
    readonly partitions: readonly { readonly messages: readonly Message[] }[];
  }[];
}

interface Produce {
  protocol(of: { version: number }): (options: AnyProduceRequest) => { request: object; response: object };
}

interface Grouped {
  readonly topic: string;
  readonly partitionMetadata: PartitionMetadata[];
  readonly messages: readonly Message[];
  readonly partitioner: ReturnType<ICustomPartitioner>;
}

type Group = (of: Grouped) => Record<number, Message[]>;

const library = createRequire(import.meta.url);
if (library.cache[library.resolve('kafkajs')] !== undefined)
  throw new Error('kafkajs was loaded before its corrections: import it from them');

/** Each message would copy the list of those before it: for 900 of one partition, 3 MB. */
const group: Group = ({ topic, partitionMetadata, messages, partitioner }) => {
  const groups: Record<number, Message[]> = {};
  if (partitionMetadata.length === 0) return groups;
  for (const message of messages) {
    const partition = partitioner({ topic, partitionMetadata, message });
    groups[partition] ??= [];
    groups[partition].push(message);
  }
  return groups;
};

/** What uses a module takes it when it is loaded: so before that. */
const replaceModule = (name: string, exported: unknown): void => {
  const file = library.resolve(name);
  library(file);
  const module = library.cache[file];
  if (module !== undefined) module.exports = exported;
};
replaceModule('kafkajs/src/producer/groupMessagesPerPartition.js', group);
replaceModule(
  'kafkajs/src/protocol/recordBatch/record/v0/decoder.js',
  (decoder: RecordDecoder, context: BatchContext) => new KafkaRecord(decoder, context),
);

export const kafkajs = library('kafkajs') as typeof import('kafkajs');
const runner = (library('kafkajs/src/consumer/runner.js') as { prototype: Runner }).prototype;
const queue = (library('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }).prototype;
const produce = library('kafkajs/src/protocol/requests/produce/index.js') as Produce;
const { fetch } = runner;
const { scheduleCheckPendingRequests } = queue;
const { protocol } = produce;

/**
 * When the set of brokers changes, the library replaces its fetchers. If the consumer is stopped meanwhile, nobody stops
 * the new ones. They would get an empty answer and ask again at once, in microtasks: timers and sockets never get a turn.
 */
runner.fetch = function (nodeId) {
  return this.running ? fetch.call(this, nodeId) : Promise.reject(new Error('The consumer was stopped'));
};

/** Each connection would look for requests to send every millisecond, also while there are none: 20 ms of CPU time a second. */
queue.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

/** Encoding would take about 20 µs of CPU time for each message. Requests before version 3 have another format. */
produce.protocol = ({ version }) => {
  const prepare = protocol({ version });
  if (version < 3) return prepare;
  return (options) => {
    const prepared = prepare(options);
    if (!isPlain(options)) return prepared;
    const encode = async () => {
      const bytes = encodeProduceRequest(options, Date.now());
      return { buf: bytes, buffer: bytes }; // what the library reads of its own encoder
    };
    return { ...prepared, request: { ...prepared.request, encode } };
  };
};

const isPlain = (options: AnyProduceRequest): options is AnyProduceRequest & ProduceRequest =>
  options.compression === 0 &&
  options.transactionalId === undefined &&
  options.topicData.every(({ partitions }) =>
    partitions.every(({ messages }) => messages.every(isPlainMessage)),
  );

const isPlainMessage = ({ key, value, headers, timestamp }: Message): boolean =>
  typeof key === 'string' &&
  (typeof value === 'string' || Buffer.isBuffer(value)) &&
  headers === undefined &&
  timestamp === undefined;
