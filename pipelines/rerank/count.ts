/** Counts the documents and tokens of a rerank request: the engine's own number, else ours. */
import { map, mergeMap, of, switchMap } from 'rxjs';
import type { Reranked } from '../../src/ports/engines/rerank.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { type Counted, inputAccount } from '../core/count-inputs.ts';
import { countTexts } from '../core/count-texts.ts';
import { fromOperator, type Transform } from '../core/stage.ts';
import type { RerankTask } from './read-request.ts';

export type CountedReranked = Counted<Reranked>;

export const rerankAccount = (offload: Shared<Offload>) =>
  inputAccount(offload, '/rerank', {
    inputsOf: ({ scores }: CountedReranked) => scores.length,
    readings: ({ call: { query, documents } }: RerankTask) =>
      documents.map((document) => ({ texts: [query, document], tokens: 0 })),
  });

/** A model reads the query again with each document. */
export const countReranked = (
  offload: Shared<Offload>,
): Transform<Reranked, CountedReranked, { readonly task: RerankTask } & Pick<KeyedRequest, 'caller'>> =>
  fromOperator(({ task: { model, call }, caller }) =>
    mergeMap((part) => {
      if (part.tokens !== undefined) return of(part as CountedReranked);
      const counter = offload.for(caller.subscription);
      const documents = call.documents.slice(part.first, part.first + part.scores.length);
      return countTexts(counter, [call.query], model.tokenizer).pipe(
        switchMap((query) =>
          countTexts(counter, documents, model.tokenizer).pipe(
            map((tokens) => ({ ...part, tokens: tokens + query * documents.length })),
          ),
        ),
      );
    }),
  );
