/** Counts the inputs and tokens of embeddings: the engine's own number, else ours. */
import type { Embedded, EmbeddingInput } from '../../src/ports/engines/embedding.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { lengthOf } from '../../src/tokens/prompt.ts';
import { type Counted, countTokens, inputAccount, type Uncounted } from '../core/count-inputs.ts';
import type { EmbeddingTask } from './read-request.ts';

export type CountedEmbedded = Counted<Embedded>;

export const countEmbedded = (offload: Shared<Offload>) => countTokens(offload, uncounted);

export const embeddingAccount = (offload: Shared<Offload>, route: string) =>
  inputAccount(offload, route, {
    inputsOf: ({ vectors }: CountedEmbedded) => vectors.length,
    readings: ({ call }: EmbeddingTask) =>
      call.inputs.map((input) =>
        isText(input) ? { texts: [input], tokens: 0 } : { texts: [], tokens: input.length },
      ),
  });

const uncounted = (part: Embedded, { call }: EmbeddingTask): Uncounted | undefined => {
  const inputs = call.inputs.slice(part.first, part.first + part.vectors.length);
  const texts = inputs.filter(isText);
  // A server that reports as many tokens as there are characters has counted characters.
  if (part.tokens !== undefined && part.tokens !== lengthOf(texts)) return undefined;
  const tokens = inputs.reduce((sum, input) => sum + (isText(input) ? 0 : input.length), 0);
  return { texts, tokens };
};

const isText = (input: EmbeddingInput): input is string => typeof input === 'string';
