/** Rerank as vLLM, SGLang, llama.cpp, Infinity, Jina and another Sluice serve it, and as TEI does. */
import type { Reranked } from '../../../ports/engines/rerank.ts';
import type { BodyDecoder, RerankWire } from '../../wire.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { type Fields, failureFields, namedFields, parsedField, pickingDecoder } from './fields.ts';
import { isAboutSize } from './size-refusal.ts';
import { tokensOf } from './usage.ts';

type Scores = Omit<Reranked, 'first'>;

/** Every score is requested, whatever the client wants to see of them: batches are ranked together. */
export const rerankWire: RerankWire = {
  encode: (model, { query, documents }) => ({
    path: '/rerank',
    body: JSON.stringify(
      model.capabilities?.rerank?.asked_by === 'tei'
        ? { query, texts: documents, truncate: true }
        : { model: model.served_as, query, documents, return_documents: false },
    ),
  }),
  decode: (documents) => new RerankDecoder(documents),
  isAboutSize,
};

/** A response as far as it has been read. */
interface Reading extends Fields {
  readonly scores: (number | undefined)[];
  /** Of the current result. */
  score: number | undefined;
  index: number | undefined;
}

const numberField = (name: 'score' | 'index'): Pick<Reading> =>
  parsedField((value, reading) => {
    if (typeof value === 'number') reading[name] = value;
  });

/** Most relevant first, so that only its number tells which document a result is of. */
const results: Pick<Reading> = {
  items: {
    keys: new Map([
      ['relevance_score', numberField('score')],
      ['score', numberField('score')],
      ['index', numberField('index')],
    ]),
    end: (reading) => {
      const { index, score } = reading;
      if (index !== undefined && index in reading.scores) reading.scores[index] = score;
      reading.score = undefined;
      reading.index = undefined;
    },
  },
};

const response: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([['results', results], ...namedFields('usage'), ...failureFields]),
};

const openArray = 0x5b;
const space = 0x20;

/** SGLang and TEI send the bare list of results; others an object around it. */
class RerankDecoder implements BodyDecoder<Scores> {
  readonly #documents: number;
  #inner: BodyDecoder<Scores> | undefined;

  constructor(documents: number) {
    this.#documents = documents;
  }

  push(bytes: Buffer): void {
    if (this.#inner === undefined) {
      const first = bytes.find((byte) => byte > space);
      if (first === undefined) return;
      const scores = Array.from({ length: this.#documents }, () => undefined);
      const reading: Reading = { scores, score: undefined, index: undefined, fields: {} };
      this.#inner = pickingDecoder(first === openArray ? results : response, reading, scoresOf);
    }
    this.#inner.push(bytes);
  }

  end(): Scores {
    if (this.#inner === undefined) throw unreadable();
    return this.#inner.end();
  }
}

const scoresOf = ({ fields, scores }: Reading): Scores => {
  const found = scores.filter((score) => score !== undefined);
  if (found.length !== scores.length)
    throw unreadable(new Error(`The engine gave ${found.length} scores for ${scores.length} documents`));
  return { scores: found, tokens: tokensOf(fields.usage) };
};
