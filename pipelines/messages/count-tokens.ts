/** POST /messages/count_tokens: the tokens of a prompt; nothing is generated or billed. */
import { type Observable, switchMap } from 'rxjs';
import { CountTokensRequest } from '../../schemas/messages.ts';
import type { MediaContent } from '../../src/ports/chat.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import { type MediaReaders, type PendingMedia, readMedia } from '../conversation/read-media.ts';
import { compose } from '../core/compose.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { type ResolvedRequest, resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { readMessagesPrompt } from './read-prompt.ts';
import { refuseUnsupported } from './refuse-unsupported.ts';

const countTokensRequest = validate(CountTokensRequest);

export const messagesCountTokens = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    refuseUnsupported, // 400 names the field
    countTokensRequest, // 400 names the field
    resolveModel(ports.catalog, 'chat'), // 404
    countTokens(ports), // 400 names the field; 503 when too many wait to be counted
    (tokens) => jsonReply({ input_tokens: tokens }),
  );

const countTokens =
  (ports: MediaReaders) =>
  (resolved: ResolvedRequest<CountTokensRequest>): Observable<number> => {
    const pending: PendingMedia[] = [];
    const prompt = readMessagesPrompt(resolved, pending, undefined);
    const documents = pending.filter(isDocument);
    // An image counts the same whatever it shows, so none is read.
    for (const media of pending) if (!isDocument(media)) media.content[media.index] = anyImage;
    const count = () => countPrompt(ports.offload, prompt, resolved.model.tokenizer);
    return documents.length === 0
      ? count()
      : readMedia(ports, documents, { promptField: 'messages' }).pipe(switchMap(count));
  };

const isDocument = ({ kind }: PendingMedia): boolean => kind === 'document';
const anyImage: MediaContent = { type: 'image', mediaType: '', base64: '' };
