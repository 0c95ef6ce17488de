/** Cuts documents that are too long for the model beside the query; a query that leaves no room is a 400. */
import { map, type Observable, switchMap } from 'rxjs';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fitsBytes } from '../../src/tokens/prompt.ts';
import { invalid } from '../core/checks.ts';
import { countTexts, cutTexts } from '../core/count-texts.ts';
import type { Step } from '../core/stage.ts';
import type { RerankTask } from './read-request.ts';

/** Tokens that models put around query and document. */
const around = 4;

export const fitDocuments =
  (offload: Shared<Offload>): Step<RerankTask, RerankTask, Pick<KeyedRequest, 'caller'>> =>
  (task, { caller }) => {
    const { model, call, longestDocument } = task;
    const window = (model.context_length ?? Number.POSITIVE_INFINITY) - around;
    // Bytes bound tokens from above: most requests are never counted.
    const queryBytes = Buffer.byteLength(call.query);
    const fits = Math.min(window - queryBytes, longestDocument);
    if (call.documents.every((document) => fitsBytes([document], fits))) return task;
    const counter = offload.for(caller.subscription);
    return countTexts(counter, [call.query], model.tokenizer).pipe(
      switchMap((query) => {
        if (query >= window)
          throw invalid(
            `query is too long: it has ${query} tokens, model ${model.id} reads ${window + around} with a document`,
          );
        return cutLong(counter, task, Math.min(window - query, longestDocument));
      }),
    );
  };

const cutLong = (offload: Offload, task: RerankTask, limit: number): Observable<RerankTask> => {
  const { model, call } = task;
  const long = call.documents.flatMap((text, index) => (fitsBytes([text], limit) ? [] : [{ text, index }]));
  return cutTexts(
    offload,
    long.map(({ text }) => text),
    model.tokenizer,
    limit,
  ).pipe(
    map((cut) => {
      const documents = [...call.documents];
      for (const [at, { index, text }] of long.entries()) documents[index] = cut[at] ?? text;
      return { ...task, call: { ...call, documents } };
    }),
  );
};
