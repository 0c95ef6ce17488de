/** A task in; its vectors out as they are made, each piece with the tokens it took: the engine's count, else our own. 502 503 504. */
import { defer, map, mergeMap, type Observable, of } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Embedded, EmbeddingInput } from '../../src/ports/embedding.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { lengthOf } from '../../src/tokens/prompt.ts';
import { countTexts } from '../core/count-texts.ts';
import type { EmbeddingTask } from './read-request.ts';

export interface CountedEmbedded extends Embedded {
  readonly tokens: number;
}

export const callEmbeddings = (
  { engines, usage, offload }: Pick<Ports, 'engines' | 'usage' | 'offload'>,
  { id: requestId, backpressure, trace }: Pick<Exchange, 'id' | 'backpressure' | 'trace'>,
  { subscription }: Caller,
  { model, call }: EmbeddingTask,
): Observable<CountedEmbedded> =>
  defer(() => {
    usage.ensureOpen();
    const engine = engines.of(model);
    if (engine.embed === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine makes no embeddings`);
    return engine.embed(model, call, { requestId, subscription, backpressure, trace });
  }).pipe(
    mergeMap((piece) => {
      const inputs = call.inputs.slice(piece.first, piece.first + piece.vectors.length);
      return counted(piece, inputs) ? of(piece) : count(offload, piece, inputs, model.tokenizer);
    }),
  );

/** A server that says as many tokens as there are characters has counted characters. */
const counted = (piece: Embedded, inputs: readonly EmbeddingInput[]): piece is CountedEmbedded =>
  piece.tokens !== undefined && piece.tokens !== lengthOf(textsOf(inputs));

const count = (
  offload: Offload,
  piece: Embedded,
  inputs: readonly EmbeddingInput[],
  tokenizer: string,
): Observable<CountedEmbedded> => {
  const ids = inputs.reduce((sum, input) => sum + (typeof input === 'string' ? 0 : input.length), 0);
  return countTexts(offload, textsOf(inputs), tokenizer).pipe(
    map((tokens) => ({ ...piece, tokens: tokens + ids })),
  );
};

const textsOf = (inputs: readonly EmbeddingInput[]): readonly string[] =>
  inputs.filter((input) => typeof input === 'string');
