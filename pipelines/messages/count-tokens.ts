/** POST /messages/count_tokens: the tokens of a prompt. Nothing is generated or billed; it counts as a request. */
import { type Observable, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { CountTokensRequest } from '../../schemas/messages/request.ts';
import type { MediaContent } from '../../src/ports/engines/chat.ts';
import { jsonReply, type KeyedPipeline, type KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Prompt } from '../../src/tokens/prompt.ts';
import type { AddressRules } from '../conversation/check-draft.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import { loadAll, type MediaReaders } from '../conversation/load-media.ts';
import { checkPending, type PendingMedia } from '../conversation/media-parts.ts';
import { noAccount } from '../core/account.ts';
import { admit, withAccount } from '../core/admit.ts';
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
    readPrompt(ports), // 400 names the field
    // 429 after waiting its turn
    admit(
      ports.admission,
      compose(
        withAccount(
          ports,
          noAccount,
          compose(
            countTokens(ports), // 400 413 names the document; 503 when too many wait to be counted
            (tokens) => jsonReply({ input_tokens: tokens }),
          ),
        ),
      ),
    ),
  );

interface CountedPrompt {
  readonly model: Model;
  readonly prompt: Prompt;
  readonly documents: readonly PendingMedia[];
}

const promptField = 'messages';

const readPrompt =
  (addresses: AddressRules) =>
  (resolved: ResolvedRequest<CountTokensRequest>): CountedPrompt => {
    const pending: PendingMedia[] = [];
    const prompt = readMessagesPrompt(resolved, pending, undefined);
    const documents = pending.filter(isDocument);
    checkPending(documents, promptField, addresses);
    // An image counts the same whatever it shows, so none is loaded.
    for (const media of pending) if (!isDocument(media)) media.content[media.index] = anyImage;
    return { model: resolved.model, prompt, documents };
  };

const countTokens =
  (ports: MediaReaders) =>
  (
    { model, prompt, documents }: CountedPrompt,
    request: Pick<KeyedRequest, 'caller'>,
  ): Observable<number> => {
    const offload = ports.offload.for(request.caller.subscription);
    const count = () => countPrompt(offload, prompt, model.tokenizer);
    return documents.length === 0
      ? count()
      : loadAll(ports, { pending: documents, promptField }, request).pipe(switchMap(count));
  };

const isDocument = ({ kind }: PendingMedia): boolean => kind === 'document';
const anyImage: MediaContent = { type: 'image', mediaType: '', base64: '' };
