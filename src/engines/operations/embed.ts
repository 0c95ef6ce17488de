/** Embeds inputs with an engine in batches, split further where it rejects their size. */
import { map, type Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { Embedded, EmbeddingCall, EmbeddingInput } from '../../ports/engines/embedding.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { EngineCalls } from '../calls.ts';
import type { EmbeddingWire } from '../wire.ts';
import { type Batch, smallerBatches, splitBatches } from './batches.ts';
import { runBatches } from './run-batches.ts';

/** Inputs of a batch, unless the model's row sets them. */
const usualBatch = 128;
/** Batches of one request at the engine at once. */
const width = 8;

export const embedOverHttp = (
  wire: EmbeddingWire,
  calls: EngineCalls,
): ((model: Model, call: EmbeddingCall, flow: Flow) => Observable<Embedded>) => {
  const sendBatch = (
    model: Model,
    call: EmbeddingCall,
    flow: Flow,
    { first, inputs }: Batch<EmbeddingInput>,
  ) =>
    calls
      .decoded(wire.encode(model, { ...call, inputs }), flow, wire.decode(call, inputs.length))
      .pipe(map(({ vectors, tokens }): Embedded => ({ first, vectors, tokens })));

  return (model, call, flow) =>
    runBatches(splitBatches(call.inputs, model.capabilities?.embedding?.batch ?? usualBatch), {
      width,
      send: (batch) => sendBatch(model, call, flow, batch),
      refit: (batch, refusal) => (wire.isAboutSize(refusal) ? smallerBatches(batch) : undefined),
    });
};
