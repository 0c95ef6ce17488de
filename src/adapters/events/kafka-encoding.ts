/** Encodes messages for Kafka in one buffer: kafkajs makes about ten for each, which takes 20 µs. */
import { crc32c } from '@node-rs/crc32';

/** What kafkajs passes to its encoder of produce requests, as far as it is used here. */
export interface ProduceRequest {
  readonly acks: number;
  readonly timeout: number;
  readonly producerId: { toString(): string };
  readonly producerEpoch: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly Batch[];
  }[];
}

interface Batch {
  readonly partition: number;
  readonly firstSequence: number;
  readonly messages: readonly EncodableMessage[];
}

interface EncodableMessage {
  readonly key: string;
  readonly value: string | Buffer;
}

/** Bytes of a batch before its records; where in them its length and its checksum are, which cover what follows them. */
const batchHeader = 61;
const lengthAt = 8;
const checksumAt = 17;
/** The most that a record has beside its key and value, a topic or partition beside what is in it, a request at its start. */
export const mostOverhead = 32;

/** The body of a produce request, versions 3 to 7. */
export const encodeProduceRequest = (request: ProduceRequest, now: number): Buffer => {
  const writer = new Writer(mostBytes(request));
  writer.int16(-1); // no transaction
  writer.int16(request.acks);
  writer.int32(request.timeout);
  writer.int32(request.topicData.length);
  for (const { topic, partitions } of request.topicData) {
    writer.int16(Buffer.byteLength(topic));
    writer.text(topic);
    writer.int32(partitions.length);
    for (const batch of partitions) {
      writer.int32(batch.partition);
      const sizeAt = writer.at;
      writer.int32(0);
      writeBatch(writer, request, batch, now);
      writer.bytes.writeInt32BE(writer.at - sizeAt - 4, sizeAt);
    }
  }
  return writer.bytes.subarray(0, writer.at);
};

const writeBatch = (writer: Writer, request: ProduceRequest, batch: Batch, now: number): void => {
  const { bytes, at: start } = writer;
  const { messages } = batch;
  writer.int64(0n); // offset, which the broker assigns
  writer.int32(0); // length, below
  writer.int32(0); // epoch of the partition's leader
  writer.int8(2); // version of the format
  writer.int32(0); // checksum, below
  writer.int16(0); // neither compressed nor in a transaction
  writer.int32(messages.length - 1);
  writer.int64(BigInt(now));
  writer.int64(BigInt(now));
  writer.int64(BigInt(request.producerId.toString()));
  writer.int16(request.producerEpoch);
  writer.int32(batch.firstSequence);
  writer.int32(messages.length);
  for (const [index, message] of messages.entries()) writeRecord(writer, message, index);
  bytes.writeInt32BE(writer.at - start - lengthAt - 4, start + lengthAt);
  const checked = bytes.subarray(start + checksumAt + 4, writer.at);
  bytes.writeUInt32BE(crc32c(checked), start + checksumAt);
};

const writeRecord = (writer: Writer, { key, value }: EncodableMessage, index: number): void => {
  const keyBytes = Buffer.byteLength(key);
  const valueBytes = Buffer.byteLength(value);
  const sizes = varintBytes(index) + varintBytes(keyBytes) + varintBytes(valueBytes);
  writer.varint(3 + sizes + keyBytes + valueBytes);
  writer.int8(0); // attributes
  writer.int8(0); // time since that of the batch
  writer.varint(index);
  writer.varint(keyBytes);
  writer.text(key);
  writer.varint(valueBytes);
  writer.text(value);
  writer.int8(0); // headers
};

const mostBytes = ({ topicData }: ProduceRequest): number => {
  let most = mostOverhead;
  for (const { topic, partitions } of topicData) {
    most += mostOverhead + Buffer.byteLength(topic);
    for (const { messages } of partitions) {
      most += mostOverhead + batchHeader;
      for (const { key, value } of messages)
        most += mostOverhead + Buffer.byteLength(key) + Buffer.byteLength(value);
    }
  }
  return most;
};

/** Of a number that is not negative: Kafka doubles it, to have the last bit for the sign. */
const varintBytes = (value: number): number => {
  let bytes = 1;
  for (let rest = value >>> 6; rest > 0; rest >>>= 7) bytes++;
  return bytes;
};

class Writer {
  readonly bytes: Buffer;
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  int8(value: number): void {
    this.at = this.bytes.writeInt8(value, this.at);
  }

  int16(value: number): void {
    this.at = this.bytes.writeInt16BE(value, this.at);
  }

  int32(value: number): void {
    this.at = this.bytes.writeInt32BE(value, this.at);
  }

  int64(value: bigint): void {
    this.at = this.bytes.writeBigInt64BE(value, this.at);
  }

  varint(value: number): void {
    let rest = value << 1;
    for (; rest > 0x7f; rest >>>= 7) this.bytes[this.at++] = (rest & 0x7f) | 0x80;
    this.bytes[this.at++] = rest;
  }

  text(value: string | Buffer): void {
    this.at += typeof value === 'string' ? this.bytes.write(value, this.at) : value.copy(this.bytes, this.at);
  }
}
