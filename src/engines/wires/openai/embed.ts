/** Embeddings of the OpenAI API, with the variants of vLLM, TEI, SGLang, llama.cpp, Infinity and Ollama. */
import { asApiError } from '../../../errors.ts';
import type { Embedded, VectorJson } from '../../../ports/embedding.ts';
import { convertVector, type VectorWish } from '../../convert-vector.ts';
import { type Pick, unreadable } from '../../json-picker.ts';
import type { EmbeddingWire } from '../../wire.ts';
import { type Fields, failureFields, namedFields, parsedField, pickingDecoder } from './fields.ts';
import { isObject } from './words.ts';

export const embeddingWire: EmbeddingWire = {
  encode: (model, { inputs, encoding, dimensions }) => {
    const capabilities = model.capabilities?.embedding;
    const body: Record<string, unknown> = {
      model: model.served_as,
      input: inputs,
      // What will be read is read fastest from base64; what will not is passed on as it is.
      encoding_format: dimensions === undefined ? encoding : 'base64',
    };
    if (capabilities?.truncate_field !== undefined) body[capabilities.truncate_field] = model.context_length;
    return { path: '/embeddings', body: JSON.stringify(body) };
  },
  decode: (wish, inputs) => {
    const vectors = Array.from({ length: inputs }, () => undefined);
    const reading = { wish, vectors, items: 0, vector: undefined, index: undefined, fields: {} };
    return pickingDecoder<Reading, Omit<Embedded, 'first'>>(answer, reading, embeddedOf);
  },
  isAboutSize: (refusal) => {
    const { message, cause, kind } = asApiError(refusal);
    // llama.cpp calls an input it cannot take a failure of its own.
    if (kind !== 'invalid_request' && kind !== 'engine_unreachable') return false;
    return size.test(message) || (cause instanceof Error && size.test(cause.message));
  },
};

const size =
  /batch size|too (?:long|large|many|big)|(?:less|fewer|more|longer|larger|greater) than \d|context (?:length|size|window)|max(?:imum)?[ _](?:context|model|seq|input|length|allowed)|exceed/i;

/** A response as far as it has been read. */
interface Reading extends Fields {
  readonly wish: VectorWish;
  readonly vectors: (VectorJson | undefined)[];
  items: number;
  /** Of the current item. */
  vector: VectorJson | undefined;
  index: number | undefined;
}

/** An item is placed by its own number; servers that write none write them in order. */
const item: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([
    [
      'embedding',
      {
        numbers: true,
        raw: (bytes, reading) => {
          reading.vector = convertVector(bytes, reading.wish);
        },
      },
    ],
    [
      'index',
      parsedField((value, reading) => {
        if (typeof value === 'number') reading.index = value;
      }),
    ],
  ]),
  end: (reading) => {
    const index = reading.index ?? reading.items;
    if (reading.vector !== undefined && index in reading.vectors) reading.vectors[index] = reading.vector;
    reading.items++;
    reading.vector = undefined;
    reading.index = undefined;
  },
};

const answer: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([
    ['data', { items: item }],
    ...namedFields('usage'),
    ...failureFields,
  ]),
};

const embeddedOf = ({ fields, vectors, items }: Reading): Omit<Embedded, 'first'> => {
  const found = vectors.filter((vector) => vector !== undefined);
  if (found.length !== vectors.length)
    throw unreadable(new Error(`The engine gave ${items} vectors for ${vectors.length} inputs`));
  return { vectors: found, tokens: tokensOf(fields.usage) };
};

/** Zero for a text is no count; some servers that do not count write it. */
const tokensOf = (usage: unknown): number | undefined => {
  if (!isObject(usage)) return undefined;
  const tokens = [usage.prompt_tokens, usage.total_tokens].find(
    (count) => typeof count === 'number' && Number.isSafeInteger(count) && count > 0,
  );
  return typeof tokens === 'number' ? tokens : undefined;
};
