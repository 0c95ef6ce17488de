/** POST /messages/count_tokens: the tokens of a prompt; nothing is generated or billed. */
import type { Observable } from 'rxjs';
import { CountTokensRequest } from '../../schemas/messages.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import type { PendingMedia } from '../conversation/read-media.ts';
import { compose } from '../core/compose.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { type ResolvedRequest, resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { readMessagesPrompt } from './read-prompt.ts';

const countTokensRequest = validate(CountTokensRequest);

export const messagesCountTokens = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    countTokensRequest, // 400 names the field
    resolveModel(ports.catalog, 'chat'), // 404
    countTokens(ports.offload), // 400 names the field; 503 when too many wait to be counted
    (tokens) => jsonReply({ input_tokens: tokens }),
  );

const countTokens =
  (offload: Offload) =>
  (resolved: ResolvedRequest<CountTokensRequest>): Observable<number> => {
    const pending: PendingMedia[] = [];
    const prompt = readMessagesPrompt(resolved, pending, undefined);
    // An image counts the same whatever it shows, so none is read.
    for (const { content, index } of pending) content[index] = { type: 'image', mediaType: '', base64: '' };
    return countPrompt(offload, prompt, resolved.model.tokenizer);
  };
