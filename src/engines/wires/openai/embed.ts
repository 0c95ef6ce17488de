/** Embeddings in the words of OpenAI-like servers: vLLM, TEI, SGLang, llama.cpp, Infinity, Ollama, OpenAI, another Sluice. */
import { type ApiError, asApiError } from '../../../errors.ts';
import type { VectorJson } from '../../../ports/embedding.ts';
import { JsonPicker, type Pick, unreadable } from '../../json-picker.ts';
import type { PickDecoder } from '../../pick-reader.ts';
import { convertVector, type VectorWish } from '../../vectors.ts';
import type { EmbeddingWire } from '../../wire.ts';
import { parsedField } from './fields.ts';
import { isObject, reportedError } from './words.ts';

export const embeddingWire: EmbeddingWire = {
  path: '/embeddings',
  encode: (model, { inputs, encoding, dimensions }) => {
    const capabilities = model.capabilities?.embedding;
    const body: Record<string, unknown> = {
      model: model.served_as,
      input: inputs,
      // What will be read is read fastest from base64; what will not is passed on as it is.
      encoding_format: dimensions === undefined ? encoding : 'base64',
    };
    if (capabilities?.truncate_field !== undefined) body[capabilities.truncate_field] = model.context_length;
    return JSON.stringify(body);
  },
  decode: (call, inputs) => new EmbeddingDecoder(call, inputs),
  isAboutSize: (refusal) => {
    const { message, cause, kind } = asApiError(refusal);
    // llama.cpp calls an input it cannot take a failure of its own.
    if (kind !== 'invalid_request' && kind !== 'engine_unreachable') return false;
    return size.test(message) || (cause instanceof Error && size.test(cause.message));
  },
};

const size =
  /batch size|too (?:long|large|many|big)|(?:less|fewer|more|longer|larger|greater) than \d|context (?:length|size|window)|max(?:imum)?[ _](?:context|model|seq|input|length|allowed)|exceed/i;

class EmbeddingDecoder
  implements PickDecoder<{ vectors: readonly VectorJson[]; tokens: number | undefined }>
{
  readonly #wish: VectorWish;
  readonly #vectors: (VectorJson | undefined)[];
  readonly #picker: JsonPicker;
  /** Of the item under way. */
  #vector: VectorJson | undefined;
  #index: number | undefined;
  #items = 0;
  /** The small fields around the data. */
  readonly #fields: Record<string, unknown> = {};

  constructor(wish: VectorWish, inputs: number) {
    this.#wish = wish;
    this.#vectors = Array.from({ length: inputs }, () => undefined);
    this.#picker = new JsonPicker(this.#answer());
  }

  push(bytes: Buffer): void {
    this.#picker.push(bytes);
  }

  end(): { vectors: readonly VectorJson[]; tokens: number | undefined } {
    this.#picker.end();
    const failure: ApiError | undefined = reportedError(this.#fields);
    if (failure !== undefined) throw failure;
    const vectors = this.#vectors.filter((vector) => vector !== undefined);
    if (vectors.length !== this.#vectors.length)
      throw unreadable(
        new Error(`The engine gave ${this.#items} vectors for ${this.#vectors.length} inputs`),
      );
    return { vectors, tokens: tokensOf(this.#fields.usage) };
  }

  #answer(): Pick {
    const field = (name: string): [string, Pick] => [
      name,
      parsedField((value) => Object.assign(this.#fields, { [name]: value })),
    ];
    const item: Pick = {
      keys: new Map<string, Pick>([
        ['embedding', { raw: (bytes) => this.#take(bytes), numbers: true }],
        ['index', parsedField((value) => this.#number(value))],
      ]),
      end: () => this.#endItem(),
    };
    return {
      keys: new Map<string, Pick>([
        ['data', { items: item }],
        ...['usage', 'error', 'error_type', 'object', 'message', 'code', 'type'].map(field),
      ]),
    };
  }

  #take(bytes: Buffer): void {
    this.#vector = convertVector(bytes, this.#wish);
  }

  #number(value: unknown): void {
    if (typeof value === 'number') this.#index = value;
  }

  /** By its own number; servers that write none write them in order. */
  #endItem(): void {
    const index = this.#index ?? this.#items;
    if (this.#vector !== undefined && index in this.#vectors) this.#vectors[index] = this.#vector;
    this.#items++;
    this.#vector = undefined;
    this.#index = undefined;
  }
}

/** Zero for a text is no count; some servers that do not count write it. */
const tokensOf = (usage: unknown): number | undefined => {
  if (!isObject(usage)) return undefined;
  const tokens = [usage.prompt_tokens, usage.total_tokens].find(
    (count) => typeof count === 'number' && Number.isSafeInteger(count) && count > 0,
  );
  return typeof tokens === 'number' ? tokens : undefined;
};
