/** Checks servers of embeddings and rerank: the numbers, their order, encodings and counts. */
import { map } from 'rxjs';
import {
  type EmbeddingCall,
  type EmbeddingInput,
  floatsOf,
  type VectorEncoding,
} from '../ports/engines/embedding.ts';
import { checkBadRequest } from './every-kind.ts';
import { attempt, type Finding, Note } from './finding.ts';
import type { Target } from './target.ts';

const harbour = 'Ships enter the harbour when the gate is open.';
const bread = 'Bread rises for an hour before it is baked.';

// ── embeddings ─────────────────────────────────────────────────────────────────────────────────────

export async function* checkEmbedding(target: Target): AsyncGenerator<Finding> {
  let both: Vectors | undefined;
  yield await attempt('two texts', async () => {
    both = await embed(target, [harbour, bread], 'float');
    const [one = [], other = []] = both.vectors;
    if (one.length !== other.length) throw new Error(`Vectors of ${one.length} and ${other.length} numbers`);
    if (length(one) === 0) throw new Error('The vector is all zeros');
    if (likeness(one, other) > 0.9999) throw new Error('Different texts have the same vector');
    return `two vectors of ${one.length} numbers: capabilities.embedding.dimensions is ${one.length}`;
  });
  if (both === undefined) return;
  const { vectors, tokens } = both;
  yield await attempt('order', async () => {
    const alone = await embed(target, [bread], 'float');
    const found = alone.vectors[0] ?? [];
    if (likeness(found, vectors[1] ?? []) < 0.999)
      throw new Error('A text alone has another vector than as the second of two');
    return 'a text has the same vector alone and as the second of two';
  });
  yield await attempt('base64', async () => {
    const { vectors: encoded } = await embed(target, [harbour, bread], 'base64');
    if (vectors.some((vector, index) => likeness(vector, encoded[index] ?? []) < 0.999))
      throw new Error('The vectors in base64 are not those in numbers');
    return 'the same vectors';
  });
  yield await attempt('usage', async () => {
    if (tokens === undefined) throw new Note('There is none: the gateway counts tokens itself');
    return `${tokens} prompt tokens`;
  });
  yield await attempt('token ids', async () => {
    const call = { inputs: [[100, 101, 102]], encoding: 'float', dimensions: undefined } as const;
    await target
      .call((engine, flow) => engine.embed?.(target.model, call, flow))
      .catch((cause: unknown) => {
        throw new Note('Not taken: set capabilities.embedding.token_ids to false', { cause });
      });
    return 'taken';
  });
  const call: EmbeddingCall = { inputs: [harbour], encoding: 'float', dimensions: undefined };
  if (target.wire.embeddings !== undefined)
    yield await checkBadRequest(target, target.wire.embeddings.encode(target.model, call));
}

interface Vectors {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number | undefined;
}

const embed = async (
  target: Target,
  inputs: readonly EmbeddingInput[],
  encoding: VectorEncoding,
): Promise<Vectors> => {
  const call: EmbeddingCall = { inputs, encoding, dimensions: undefined };
  const pieces = await target.call((engine, flow) =>
    engine.embed?.(target.model, call, flow).pipe(
      map(({ vectors, tokens }) => ({
        tokens,
        vectors: vectors.map((vector) =>
          encoding === 'base64'
            ? [...floatsOf(vector)]
            : (JSON.parse(vector.toString('latin1')) as readonly number[]),
        ),
      })),
    ),
  );
  return { vectors: pieces.flatMap(({ vectors }) => vectors), tokens: pieces[0]?.tokens };
};

const length = (vector: readonly number[]): number => Math.hypot(...vector);

/** 1 where both point the same way. */
const likeness = (one: readonly number[], other: readonly number[]): number =>
  one.length !== other.length
    ? 0
    : one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) / (length(one) * length(other));

// ── rerank ─────────────────────────────────────────────────────────────────────────────────────────

export async function* checkRerank(target: Target): AsyncGenerator<Finding> {
  const query = 'When do ships enter the harbour?';
  const call = { query, documents: [bread, harbour, 'A violin has four strings.'] };
  let tokens: number | undefined;
  let fits = false;
  yield await attempt('three documents', async () => {
    const [piece] = await target.call((engine, flow) => engine.rerank?.(target.model, call, flow));
    const scores = piece?.scores ?? [];
    tokens = piece?.tokens;
    if (!scores.every(Number.isFinite)) throw new Error(`The scores are no numbers: ${scores.join(', ')}`);
    fits = true;
    const [first = 0, second = 0, third = 0] = scores;
    if (second <= first || second <= third)
      throw new Note(
        `The document that answers the query is not the most relevant one: ${scores.join(', ')}. Is it a rerank model?`,
      );
    return `scores ${scores.map((score) => score.toPrecision(3)).join(', ')}`;
  });
  if (!fits) return;
  yield await attempt('usage', async () => {
    if (tokens === undefined) throw new Note('There is none: the gateway counts tokens itself');
    return `${tokens} prompt tokens`;
  });
  if (target.wire.rerank !== undefined)
    yield await checkBadRequest(target, target.wire.rerank.encode(target.model, call));
}
