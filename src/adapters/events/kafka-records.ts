/** Reads the records that Kafka returns: kafkajs makes some twenty objects for each, most of which live until it is acknowledged. */
import type { IHeaders, KafkaMessage } from 'kafkajs';

/** What kafkajs passes to its decoder of records, as far as it is used here. */
export interface RecordDecoder {
  readonly buffer: Buffer;
  offset: number;
  readVarInt(): number;
  readVarIntBytes(): Buffer | null;
  readVarIntString(): string | null;
}

/** Of all records of a batch. */
export interface BatchContext {
  readonly firstOffset: string;
  readonly isControlBatch: boolean;
}

/** What stands in it is read whenever it is asked for; the time is not. */
export class KafkaRecord implements Pick<KafkaMessage, 'key' | 'value' | 'offset' | 'headers'> {
  readonly batchContext: BatchContext;
  readonly #decoder: RecordDecoder;
  readonly #offsetDelta: number;
  readonly #keyAt: number;

  constructor(decoder: RecordDecoder, batchContext: BatchContext) {
    this.batchContext = batchContext;
    this.#decoder = decoder;
    decoder.offset++; // attributes
    while ((decoder.buffer[decoder.offset++] ?? 0) > 0x7f); // time since that of the batch
    this.#offsetDelta = decoder.readVarInt();
    this.#keyAt = decoder.offset;
  }

  get isControlRecord(): boolean {
    return this.batchContext.isControlBatch;
  }

  get offset(): string {
    return String(BigInt(this.batchContext.firstOffset) + BigInt(this.#offsetDelta));
  }

  get key(): Buffer | null {
    this.#decoder.offset = this.#keyAt;
    return this.#decoder.readVarIntBytes();
  }

  get value(): Buffer | null {
    this.#decoder.offset = this.#keyAt;
    this.#skipBytes();
    return this.#decoder.readVarIntBytes();
  }

  /** Those of one name are together. */
  get headers(): IHeaders {
    this.#decoder.offset = this.#keyAt;
    this.#skipBytes();
    this.#skipBytes();
    const headers = new Map<string, Buffer | null | (Buffer | null)[]>();
    for (let left = this.#decoder.readVarInt(); left > 0; left--) {
      const name = String(this.#decoder.readVarIntString());
      const value = this.#decoder.readVarIntBytes();
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : [before, value].flat());
    }
    return Object.fromEntries(headers) as IHeaders;
  }

  #skipBytes(): void {
    const length = this.#decoder.readVarInt();
    if (length > 0) this.#decoder.offset += length;
  }
}
