/** Embeddings of the OpenAI API, with the variants of vLLM, TEI, SGLang, llama.cpp, Infinity and Ollama. */
import type { Embedded, VectorJson } from '../../../ports/engines/embedding.ts';
import { convertVector, type VectorWish } from '../../operations/convert-vector.ts';
import type { EmbeddingWire } from '../../wire.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { type Fields, failureFields, namedFields, parsedField, pickingDecoder } from './fields.ts';
import { isAboutSize } from './size-refusal.ts';
import { tokensOf } from './usage.ts';

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
  isAboutSize,
};

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
