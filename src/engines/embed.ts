/** Embeds inputs with an engine in batches, split further where it rejects their size. */
import { map, type Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { Embedded, EmbeddingCall, EmbeddingInput } from '../ports/embedding.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineCalls } from './calls.ts';
import { runBatches } from './run-batches.ts';
import type { EmbeddingWire } from './wire.ts';

/** Inputs of a batch, unless the model's row sets them. */
const usualBatch = 128;
/** Characters of a batch: writing these as JSON takes a millisecond or two. */
const batchLength = 512 * 1024;
/** Batches of one request at the engine at once. */
const width = 8;
/** An input that is refused as too long keeps three quarters, again and again, but never less than this. */
const shortestCut = 16;

interface Batch {
  readonly first: number;
  readonly inputs: readonly EmbeddingInput[];
}

export const embedOverHttp = (
  wire: EmbeddingWire,
  calls: EngineCalls,
): ((model: Model, call: EmbeddingCall, flow: Flow) => Observable<Embedded>) => {
  const sendBatch = (model: Model, call: EmbeddingCall, flow: Flow, { first, inputs }: Batch) =>
    calls
      .decoded(wire.encode(model, { ...call, inputs }), flow, wire.decode(call, inputs.length))
      .pipe(map(({ vectors, tokens }): Embedded => ({ first, vectors, tokens })));

  return (model, call, flow) =>
    runBatches(splitInputs(call.inputs, model.capabilities?.embedding?.batch ?? usualBatch), {
      width,
      send: (batch) => sendBatch(model, call, flow, batch),
      refit: (batch, refusal) => (wire.isAboutSize(refusal) ? refit(batch) : undefined),
    });
};

const splitInputs = (inputs: readonly EmbeddingInput[], most: number): readonly Batch[] => {
  const batches: Batch[] = [];
  let first = 0;
  let length = 0;
  for (const [index, input] of inputs.entries()) {
    const isFull = index - first >= most || (index > first && length + input.length > batchLength);
    if (isFull) {
      batches.push({ first, inputs: inputs.slice(first, index) });
      first = index;
      length = 0;
    }
    length += input.length;
  }
  batches.push({ first, inputs: inputs.slice(first) });
  return batches;
};

/**
 * Engines count tokens by vocabularies we do not have, and limit batches as they like. Halving finds the input at fault
 * in a few calls and leaves the others untouched.
 */
const refit = ({ first, inputs }: Batch): readonly Batch[] | undefined => {
  const half = inputs.length >> 1;
  if (half > 0)
    return [
      { first, inputs: inputs.slice(0, half) },
      { first: first + half, inputs: inputs.slice(half) },
    ];
  const [input] = inputs;
  if (input === undefined || input.length <= shortestCut) return undefined;
  return [{ first, inputs: [shortened(input, Math.floor((input.length * 3) / 4))] }];
};

const shortened = (input: EmbeddingInput, length: number): EmbeddingInput => {
  if (typeof input !== 'string') return input.slice(0, length);
  const splitsCharacter = (input.charCodeAt(length) & 0xfc00) === 0xdc00;
  return input.slice(0, splitsCharacter ? length - 1 : length);
};
