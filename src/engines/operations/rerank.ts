/** Scores documents with an engine, in batches where they are many or long. */
import { map, type Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { RerankCall, Reranked } from '../../ports/engines/rerank.ts';
import type { EngineCalls } from '../calls.ts';
import type { RerankWire } from '../wire.ts';
import { type Batch, smallerBatches, splitBatches } from './batches.ts';
import { runBatches } from './run-batches.ts';

/** Batches of one request at the engine at once. */
const width = 4;

export const rerankOverHttp = (
  wire: RerankWire,
  calls: EngineCalls,
): ((model: Model, call: RerankCall, flow: Flow) => Observable<Reranked>) => {
  const send = (model: Model, call: RerankCall, flow: Flow, { first, inputs }: Batch<string>) =>
    calls
      .decoded(wire.encode(model, { ...call, documents: inputs }), flow, wire.decode(inputs.length))
      .pipe(map(({ scores, tokens }): Reranked => ({ first, scores, tokens })));

  return (model, call, flow) =>
    // Some models compare the documents with each other: they are sent together unless the row says otherwise.
    runBatches(splitBatches(call.documents, model.capabilities?.rerank?.batch ?? call.documents.length), {
      width,
      send: (batch) => send(model, call, flow, batch),
      refit: (batch, refusal) => (wire.isAboutSize(refusal) ? smallerBatches(batch) : undefined),
    });
};
