/** A checked embeddings request beside its model in; the call for the engine out. 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { EmbeddingsFields } from '../../schemas/embeddings.ts';
import { fail } from '../../src/errors.ts';
import type { EmbeddingCall, EmbeddingInput } from '../../src/ports/embedding.ts';
import type { Asked } from '../core/resolve-model.ts';
import { readInputs } from './read-inputs.ts';

export interface EmbeddingTask {
  readonly model: Model;
  readonly call: EmbeddingCall;
}

export const readEmbeddingRequest = ({ body, model }: Asked<EmbeddingsFields>): EmbeddingTask => {
  const inputs = readInputs(body.input);
  if (model.capabilities?.embedding?.token_ids === false && inputs.some((input) => typeof input !== 'string'))
    throw fail('invalid_request', `input must be text: model ${model.id} takes no token ids`);
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

/** As many as the model gives is no change, and fits every model. */
const readDimensions = (asked: number | undefined, model: Model): number | undefined => {
  const { dimensions, truncatable } = model.capabilities?.embedding ?? {};
  if (asked === undefined || asked === dimensions) return undefined;
  if (truncatable !== true || dimensions === undefined)
    throw fail(
      'invalid_request',
      `dimensions cannot be chosen on model ${model.id}: its vectors have a fixed length`,
    );
  if (asked > dimensions)
    throw fail('invalid_request', `dimensions must be at most ${dimensions} on model ${model.id}`);
  return asked;
};

/** A query begins with the model's instruction, unless it carries one already. */
const instruct = (inputs: readonly EmbeddingInput[], model: Model): readonly EmbeddingInput[] => {
  const { query_instruction: instruction, instruction_marker } = model.capabilities?.embedding ?? {};
  if (instruction === undefined) return inputs;
  const marker = instruction_marker ?? instruction;
  return inputs.map((input) => {
    if (typeof input !== 'string')
      throw fail(
        'invalid_request',
        `input must be text where input_type asks for the query instruction of model ${model.id}`,
      );
    return input.startsWith(marker) ? input : instruction + input;
  });
};
