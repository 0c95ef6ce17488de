/** Reads an embeddings request into the call for its engine: a 400 names the field or the input. */
import type { Model } from '../../schemas/catalog.ts';
import { type EmbeddingsFields, maxInputs } from '../../schemas/embeddings.ts';
import type { EmbeddingCall, EmbeddingInput } from '../../src/ports/engines/embedding.ts';
import { invalid } from '../core/checks.ts';
import { readInputs } from '../core/read-inputs.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';

export interface EmbeddingTask {
  readonly model: Model;
  readonly call: EmbeddingCall;
}

const inputRules = { field: 'input', most: maxInputs, empty: false } as const;

export const readEmbeddingRequest = ({ body, model }: ResolvedRequest<EmbeddingsFields>): EmbeddingTask => {
  const inputs = readInputs(body.input, inputRules);
  if (model.capabilities?.embedding?.token_ids === false && inputs.some((input) => typeof input !== 'string'))
    throw invalid(`input must be text: model ${model.id} takes no token ids`);
  const isQuery = body.input_type === 'search_query' || body.input_type === 'query';
  return {
    model,
    call: {
      inputs: isQuery ? instruct(inputs, model) : inputs,
      encoding: body.encoding_format ?? 'float',
      dimensions: readDimensions(body.dimensions, model),
    },
  };
};

/** The model's own number changes nothing, and is accepted by every model. */
const readDimensions = (requested: number | undefined, model: Model): number | undefined => {
  const { dimensions, truncatable } = model.capabilities?.embedding ?? {};
  if (requested === undefined || requested === dimensions) return undefined;
  if (truncatable !== true || dimensions === undefined)
    throw invalid(`dimensions cannot be chosen on model ${model.id}: its vectors have a fixed length`);
  if (requested > dimensions) throw invalid(`dimensions must be at most ${dimensions} on model ${model.id}`);
  return requested;
};

/** A query begins with the model's instruction, unless it carries one already. */
const instruct = (inputs: readonly EmbeddingInput[], model: Model): readonly EmbeddingInput[] => {
  const { query_instruction: instruction, instruction_marker } = model.capabilities?.embedding ?? {};
  if (instruction === undefined) return inputs;
  const marker = instruction_marker ?? instruction;
  return inputs.map((input) => {
    if (typeof input !== 'string')
      throw invalid(
        `input must be text where input_type asks for the query instruction of model ${model.id}`,
      );
    return input.startsWith(marker) ? input : instruction + input;
  });
};
