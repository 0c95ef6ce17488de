/** Counts the documents and tokens of a rerank request: the engine's own number, else ours. */
import { map, mergeMap, of, switchMap } from 'rxjs';
import type { Offload } from '../../src/ports/offload.ts';
import type { Reranked } from '../../src/ports/rerank.ts';
import { type Counted, inputAccount } from '../core/count-inputs.ts';
import { countTexts } from '../core/count-texts.ts';
import { fromOperator, type Transform } from '../core/stage.ts';
import type { RerankTask } from './read-request.ts';

export type CountedReranked = Counted<Reranked>;

export const rerankAccount = inputAccount('/rerank', ({ scores }: CountedReranked) => scores.length);

/** A model reads the query again with each document. */
export const countReranked = (
  offload: Offload,
): Transform<Reranked, CountedReranked, { readonly task: RerankTask }> =>
  fromOperator(({ task: { model, call } }) =>
    mergeMap((part) => {
      if (part.tokens !== undefined) return of(part as CountedReranked);
      const documents = call.documents.slice(part.first, part.first + part.scores.length);
      return countTexts(offload, [call.query], model.tokenizer).pipe(
        switchMap((query) =>
          countTexts(offload, documents, model.tokenizer).pipe(
            map((tokens) => ({ ...part, tokens: tokens + query * documents.length })),
          ),
        ),
      );
    }),
  );
