/** POST /tokenize and POST /detokenize: a model's own tokenizer. Neither is billed; both count as requests. */
import { DetokenizeFields, TokenizeRequest, type TokenizeResponse } from '../../schemas/tokenize.ts';
import type { Tokenized } from '../../src/ports/engines/tokenize.ts';
import { jsonReply, type KeyedPipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { noAccount } from '../core/account.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import {
  readDetokenizeRequest,
  readTokenizeRequest,
  requireTokenizer,
  type TokenizeTask,
  tokenKinds,
} from './read-request.ts';

const tokenizeRequest = validate(TokenizeRequest);
const detokenizeFields = validate(DetokenizeFields);

export const tokenize = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    tokenizeRequest, // 400 names the field
    resolveModel(ports.catalog, tokenKinds), // 404
    requireTokenizer<TokenizeRequest>(ports.engines, 'tokenize'), // 404
    readTokenizeRequest, // 400 names the field
    // 429 after waiting its turn
    admit(
      ports.admission,
      compose(
        withAccount(
          ports,
          noAccount,
          compose(
            callEngine(ports, 'tokenize'), // 502 503 504
            replyTokens,
          ),
        ),
      ),
    ),
  );

export const detokenize = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    detokenizeFields, // 400 names the field
    resolveModel(ports.catalog, tokenKinds), // 404
    requireTokenizer<DetokenizeFields>(ports.engines, 'detokenize'), // 404
    readDetokenizeRequest, // 400 names the token
    // 429 after waiting its turn
    admit(
      ports.admission,
      compose(
        withAccount(
          ports,
          noAccount,
          compose(
            callEngine(ports, 'detokenize'), // 502 503 504
            (prompt) => jsonReply({ prompt }),
          ),
        ),
      ),
    ),
  );

const replyTokens = (
  { tokens, texts, maxLength }: Tokenized,
  { task }: { readonly task: TokenizeTask },
): WholeReply => {
  const response: TokenizeResponse = {
    count: tokens.length,
    max_model_len: task.model.context_length ?? maxLength ?? null,
    tokens: [...tokens],
    token_strs: texts === undefined ? null : [...texts],
  };
  return jsonReply(response);
};
