/** Serves embeddings and rerank requests of an OpenAI-like engine. */
import type { ServerResponse } from 'node:http';
import { map, type Observable, reduce } from 'rxjs';
import { asApiError, fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import type {
  Embedded,
  EmbeddingCall,
  EmbeddingInput,
  VectorEncoding,
} from '../../ports/engines/embedding.ts';
import type { RerankCall, Reranked } from '../../ports/engines/rerank.ts';
import { ConnectionLost } from '../faults.ts';
import { optionalCount, optionalString, required } from './fields.ts';
import type { Quirks } from './quirks.ts';
import { sendError, sendJson } from './responses.ts';

interface Request<Call> {
  readonly model: string;
  readonly call: Call;
}

const mostInputs = 4096;

// ── embeddings ─────────────────────────────────────────────────────────────────────────────────────

export const readEmbedding = (body: unknown): Request<EmbeddingCall> => {
  const fields = objectOf(body);
  const encoding = optionalString(fields.encoding_format, 'encoding_format') ?? 'float';
  if (!isEncoding(encoding)) throw fail('invalid_request', 'encoding_format must be float or base64');
  const inputs = inputsOf(fields.input);
  return {
    model: required(optionalString(fields.model, 'model'), 'model'),
    call: { inputs, encoding, dimensions: optionalCount(fields.dimensions, 'dimensions', 1) },
  };
};

export const embeddingsJson = (model: string, embedded: Observable<Embedded>): Observable<string> =>
  embedded.pipe(
    reduce(
      (all, { first, vectors, tokens }) => {
        for (const [index, vector] of vectors.entries())
          all.items[first + index] =
            `{"object":"embedding","index":${first + index},"embedding":${vector.toString('latin1')}}`;
        return { items: all.items, tokens: all.tokens + (tokens ?? 0) };
      },
      { items: [] as string[], tokens: 0 },
    ),
    map(
      ({ items, tokens }) =>
        `{"object":"list","data":[${items.join(',')}],"model":${JSON.stringify(model)},"usage":${usage(tokens)}}`,
    ),
  );

const isEncoding = (text: string): text is VectorEncoding => text === 'float' || text === 'base64';

/** A text, the ids of its tokens, or a list of either. */
const inputsOf = (input: unknown): readonly EmbeddingInput[] => {
  const inputs = typeof input === 'string' || isIds(input) ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > mostInputs || !inputs.every(isInput))
    throw fail('invalid_request', `input must be a text, token ids, or a list of 1 to ${mostInputs} of them`);
  return inputs;
};

const isInput = (value: unknown): value is EmbeddingInput => typeof value === 'string' || isIds(value);

const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0);

// ── rerank ─────────────────────────────────────────────────────────────────────────────────────────

export const readRerank = (body: unknown): Request<RerankCall> => {
  const fields = objectOf(body);
  const { documents } = fields;
  if (
    !Array.isArray(documents) ||
    documents.length === 0 ||
    documents.length > mostInputs ||
    !documents.every((document) => typeof document === 'string')
  )
    throw fail('invalid_request', `documents must be a list of 1 to ${mostInputs} texts`);
  return {
    model: required(optionalString(fields.model, 'model'), 'model'),
    call: { query: required(optionalString(fields.query, 'query'), 'query'), documents },
  };
};

/** The most relevant first. */
export const rerankJson = (model: string, reranked: Observable<Reranked>): Observable<string> =>
  reranked.pipe(
    reduce(
      (all, { first, scores, tokens }) => ({
        results: [
          ...all.results,
          ...scores.map((score, index) => ({ index: first + index, relevance_score: score })),
        ],
        tokens: all.tokens + (tokens ?? 0),
      }),
      { results: [] as { index: number; relevance_score: number }[], tokens: 0 },
    ),
    map(({ results, tokens }) => {
      results.sort((one, other) => other.relevance_score - one.relevance_score);
      return `{"model":${JSON.stringify(model)},"results":${JSON.stringify(results)},"usage":${usage(tokens)}}`;
    }),
  );

// ── both ───────────────────────────────────────────────────────────────────────────────────────────

const objectOf = (body: unknown) => {
  if (!isObject(body)) throw fail('invalid_request', 'The body must be an object');
  return body;
};

const usage = (tokens: number): string => JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });

export const answerJson = (json: Observable<string>, response: ServerResponse, quirks: Quirks): void => {
  const working = json.subscribe({
    next: (text) => sendJson(response, text),
    error: (thrown: unknown) => {
      const error = asApiError(thrown);
      if (error.cause instanceof ConnectionLost) response.destroy();
      else sendError(response, error, quirks);
    },
  });
  response.on('close', () => working.unsubscribe());
};
