/** Reads the requests of a model's tokenizer: a 400 names the field, a 404 says that the engine offers none. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import type { DetokenizeFields, TokenizeRequest } from '../../schemas/tokenize.ts';
import { fail } from '../../src/errors.ts';
import type { Engines } from '../../src/ports/engines/engine.ts';
import type { DetokenizeCall, TokenizeCall, TokenizedChat } from '../../src/ports/engines/tokenize.ts';
import { readMessages } from '../chat/read-messages.ts';
import { readTools } from '../chat/read-tools.ts';
import type { PendingMedia } from '../conversation/media-parts.ts';
import { invalid } from '../core/checks.ts';
import { readIds } from '../core/read-inputs.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';

/** Those that read tokens. */
export const tokenKinds: readonly ModelKind[] = ['chat', 'embedding', 'rerank', 'decision'];

export interface TokenizeTask {
  readonly model: Model;
  readonly call: TokenizeCall;
}

export interface DetokenizeTask {
  readonly model: Model;
  readonly call: DetokenizeCall;
}

export const requireTokenizer =
  <Body>(engines: Engines, operation: 'tokenize' | 'detokenize') =>
  (request: ResolvedRequest<Body>): ResolvedRequest<Body> => {
    const { model } = request;
    if (engines.of(model)[operation] === undefined)
      throw fail('not_found', `The engine of model ${model.id} offers no tokenizer: it cannot ${operation}`);
    return request;
  };

export const readTokenizeRequest = ({ body, model }: ResolvedRequest<TokenizeRequest>): TokenizeTask => {
  const { prompt, messages, add_special_tokens, return_token_strs } = body;
  if ((prompt === undefined) === (messages === undefined))
    throw invalid('either prompt or messages is required, and not both');
  return {
    model,
    call: {
      input: prompt ?? readChat(body, model),
      addSpecialTokens: add_special_tokens,
      withTexts: return_token_strs ?? false,
    },
  };
};

const readChat = (body: TokenizeRequest, model: Model): TokenizedChat => {
  if (model.kind !== 'chat') throw invalid(`messages are for chat models; model ${model.id} takes prompt`);
  const pending: PendingMedia[] = [];
  const messages = readMessages(body.messages ?? [], { model, pending });
  const [media] = pending;
  if (media !== undefined) throw invalid(`${media.field}: only text can be tokenized`);
  return {
    messages,
    tools: readTools(body.tools),
    addGenerationPrompt: body.add_generation_prompt ?? true,
  };
};

export const readDetokenizeRequest = ({
  body,
  model,
}: ResolvedRequest<DetokenizeFields>): DetokenizeTask => ({
  model,
  call: { tokens: readIds(body.tokens, 'tokens') },
});
