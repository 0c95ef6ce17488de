/** POST /messages/count_tokens: a conversation in the messages format in; the size of its prompt out. Nothing is generated or billed. */
import { map } from 'rxjs';
import { CountTokensRequest } from '../../schemas/messages.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { countMessagesTokens } from './count-prompt.ts';

const countTokensRequest = validate(CountTokensRequest);

export const messagesCountTokens =
  (ports: Ports): KeyedPipeline =>
  (exchange) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      map(countTokensRequest), // 400 names the field
      resolveModel(ports.catalog, 'chat'), // 404
      countMessagesTokens(ports.offload), // 400 names the field; 503 when too many wait to be counted
      map((tokens) => jsonReply({ input_tokens: tokens })),
    );
