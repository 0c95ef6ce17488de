/** Metered vectors in, in any order; the answer out when they have all come: one JSON text, or a run of its pieces where it is large. */
import { Observable, type OperatorFunction } from 'rxjs';
import type { VectorJson } from '../../src/ports/embedding.ts';
import { type Exchange, type Head, jsonTextReply, type Reply } from '../../src/ports/exchange.ts';
import { PacedBytes } from '../core/paced-bytes.ts';
import type { CountedEmbedded } from './call.ts';
import type { EmbeddingTask } from './read-request.ts';

/** Bytes of vectors up to which the answer is made in one piece. */
const smallAnswer = 64 * 1024;

const head: Head = { kind: 'head', status: 200, headers: { 'content-type': 'application/json' } };

export const frameEmbeddings =
  (exchange: Exchange, { model, call }: EmbeddingTask): OperatorFunction<CountedEmbedded, Reply> =>
  (source) =>
    new Observable((subscriber) => {
      const vectors: (VectorJson | undefined)[] = call.inputs.map(() => undefined);
      let tokens = 0;
      let size = 0;
      let paced: PacedBytes | undefined;

      const answer = (): void => {
        const start = `{"id":"emb-${exchange.id.slice(exchange.id.indexOf('_') + 1)}","object":"list","data":[`;
        const end = `],"model":${JSON.stringify(model.id)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
        if (size <= smallAnswer) {
          subscriber.next(jsonTextReply(start + vectors.map(itemText).join() + end));
          subscriber.complete();
          return;
        }
        subscriber.next(head);
        paced = new PacedBytes(pieces(start, vectors, end), exchange.backpressure, subscriber);
        paced.start();
      };

      const engine = source.subscribe({
        next: (piece) => {
          tokens += piece.tokens;
          for (const [index, vector] of piece.vectors.entries()) {
            vectors[piece.first + index] = vector;
            size += vector.length;
          }
        },
        complete: answer,
        error: (error) => subscriber.error(error),
      });
      return () => {
        engine.unsubscribe();
        paced?.stop();
      };
    });

const itemStart = (index: number): string => `{"object":"embedding","index":${index},"embedding":`;

const itemText = (vector: VectorJson | undefined, index: number): string =>
  `${itemStart(index)}${vector?.toString('latin1')}}`;

function* pieces(
  start: string,
  vectors: readonly (VectorJson | undefined)[],
  end: string,
): Generator<string | Uint8Array> {
  yield start;
  for (const [index, vector = ''] of vectors.entries()) {
    yield `${index === 0 ? '' : ','}${itemStart(index)}`;
    yield vector;
    yield '}';
  }
  yield end;
}
