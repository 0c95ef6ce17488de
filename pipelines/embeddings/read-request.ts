/** Reads an embeddings request into the call for its engine: a 400 names the field or the input. */
import type { Model } from '../../schemas/catalog.ts';
import { type EmbeddingsFields, maxInputs } from '../../schemas/embeddings.ts';
import type { ApiError } from '../../src/errors.ts';
import type { EmbeddingCall, EmbeddingInput } from '../../src/ports/embedding.ts';
import { invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';

export interface EmbeddingTask {
  readonly model: Model;
  readonly call: EmbeddingCall;
}

export const readEmbeddingRequest = ({ body, model }: ResolvedRequest<EmbeddingsFields>): EmbeddingTask => {
  const inputs = readInputs(body.input);
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

const largestId = 2 ** 31 - 1;

/** Texts or token ids, whichever of the four forms they come in. */
const readInputs = (input: unknown): readonly EmbeddingInput[] => {
  if (typeof input === 'string') return [filled(input, 'input')];
  if (!Array.isArray(input))
    throw wrong('input', 'must be a string, an array of strings or token ids', input);
  const items: readonly unknown[] = input;
  if (items.length === 0) throw invalid('input must have at least 1 item');
  // Numbers by themselves are one input.
  if (typeof items[0] === 'number') return [readIds(items, 'input')];
  if (items.length > maxInputs)
    throw invalid(`input must have at most ${maxInputs} items, not ${items.length}`);
  return Array.isArray(items[0]) ? items.map(readIdsAt) : items.map(readText);
};

const readText = (item: unknown, index: number): string => {
  if (typeof item === 'string') return filled(item, `input[${index}]`);
  throw wrong(`input[${index}]`, index === 0 ? 'must be a string or token ids' : 'must be a string', item);
};

const readIdsAt = (item: unknown, index: number): readonly number[] => {
  if (!Array.isArray(item)) throw wrong(`input[${index}]`, 'must be an array of token ids', item);
  if (item.length === 0) throw invalid(`input[${index}] must have at least 1 item`);
  return readIds(item, `input[${index}]`);
};

const readIds = (items: readonly unknown[], path: string): readonly number[] => {
  const at = items.findIndex((item) => !isId(item));
  if (at >= 0) throw wrong(`${path}[${at}]`, 'must be a token id, an integer of at least 0', items[at]);
  return items as readonly number[];
};

const isId = (item: unknown): boolean =>
  typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= largestId;

const filled = (text: string, path: string): string => {
  if (text === '') throw invalid(`${path} must not be empty`);
  return text;
};

const wrong = (path: string, what: string, found: unknown): ApiError =>
  invalid(
    typeof found === 'object' && found !== null && !Array.isArray(found)
      ? `${path} ${what}: multimodal inputs are not supported`
      : `${path} ${what}`,
  );
