/** POST /chat/completions/RAG: a chat completion whose model is given fitting items of a vector store. */

import { from, map, switchMap } from 'rxjs';
import { RagRequest } from '../../schemas/vector-stores/chat.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import type { KeyedPipeline, KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { frameChat } from '../chat/frame.ts';
import { readChatRequest } from '../chat/read-request.ts';
import { countTokens } from '../conversation/count-tokens.ts';
import { fitContext } from '../conversation/fit-context.ts';
import { keepLoaded } from '../conversation/keep-loaded.ts';
import { loadMedia } from '../conversation/load-media.ts';
import { settle } from '../conversation/settle.ts';
import { tokenAccount } from '../conversation/token-account.ts';
import { withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, whenAnswered, withFallbacks } from '../core/fallbacks.ts';
import { record } from '../core/meter.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { type ResolvedRequest, resolveModel } from '../core/resolve-model.ts';
import { admitResumable } from '../core/resumable.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { addContext, type RagDraft } from './add-context.ts';

const route = '/chat/completions/RAG';
const ragRequest = validate(RagRequest);

export const chatCompletionsRag = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    ragRequest, // 400 names the field
    resolveModel(ports.catalog, 'chat'), // 404
    readRagRequest(ports), // 400 names the field, 400 when there is no such vector store
    // 429 after waiting its turn; the slot is held while the rest runs, without its client if that is asked for
    admitResumable(
      ports,
      compose(
        loadMedia(ports), // 400 413 names the part
        addContext(ports, route), // 429, and 502 503 when the question cannot be embedded
        withFallbacks(ports, fitContext(ports.offload)), // 400 when the prompt alone fills the window
        withAccount(
          ports,
          tokenAccount(ports, route),
          compose(
            callEngine(ports, 'chat'), // 502 503 504 before the first token
            settle, // an end that comes too early is a failure
            countTokens, // the engine's numbers, else our own
            whenAnswered(frameChat(ports)), // parts → one JSON object or chunks
            record(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
  );

const readRagRequest = (ports: Ports): Step<ResolvedRequest<RagRequest>, RagDraft, KeyedRequest> => {
  const read = readable(readChatRequest(ports), keepLoaded);
  return (resolved, request) => {
    const { subscription } = request.caller;
    return emitted(read(resolved, request)).pipe(
      switchMap((draft) =>
        from(ports.vectorStores.get(subscription, resolved.body.collection, 'collection')).pipe(
          map((store) => ({ ...draft, store })),
        ),
      ),
    );
  };
};
