/** POST /chat/completions: a conversation; one JSON object or a stream of chunks. */
import { ChatRequest } from '../../schemas/chat/request.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
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
import { resolveModel } from '../core/resolve-model.ts';
import { admitResumable } from '../core/resumable.ts';
import { validate } from '../core/validate.ts';
import { frameChat } from './frame.ts';
import { readChatRequest } from './read-request.ts';

const chatRequest = validate(ChatRequest);

export const chatCompletions = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    chatRequest, // 400 names the field
    resolveModel(ports.catalog, 'chat'), // 404
    readable(readChatRequest(ports), keepLoaded), // 400 names the field
    // 429 after waiting its turn; the slot is held while the rest runs, without its client if that is asked for
    admitResumable(
      ports,
      compose(
        loadMedia(ports), // 400 413 names the part
        withFallbacks(ports, fitContext(ports.offload)), // 400 when the prompt alone fills the window
        withAccount(
          ports,
          tokenAccount(ports, '/chat/completions'),
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
