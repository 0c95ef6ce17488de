/** POST /responses: input items; one response object or its events. Nothing is stored. */
import { ResponsesRequest } from '../../schemas/responses/request.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { countTokens } from '../conversation/count-tokens.ts';
import { fitContext } from '../conversation/fit-context.ts';
import { keepLoaded } from '../conversation/keep-loaded.ts';
import { loadMedia } from '../conversation/load-media.ts';
import { orderParts } from '../conversation/order-parts.ts';
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
import { frameResponses } from './frame.ts';
import { readResponsesRequest } from './read-request.ts';

const responsesRequest = validate(ResponsesRequest);

export const responses = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    responsesRequest, // 400 names the field
    resolveModel(ports.catalog, 'chat'), // 404
    readable(readResponsesRequest(ports), keepLoaded), // 400 names the field
    // 429 after waiting its turn; the slot is held while the rest runs, without its client if that is asked for
    admitResumable(
      ports,
      compose(
        loadMedia(ports), // 400 413 names the part
        withFallbacks(ports, fitContext(ports.offload)), // 400 when the prompt alone fills the window
        withAccount(
          ports,
          tokenAccount(ports, '/responses'),
          compose(
            callEngine(ports, 'chat'), // 502 503 504 before the first token
            orderParts, // one item after the other, or a failure
            settle, // an end that comes too early is a failure
            countTokens, // the engine's numbers, else our own
            whenAnswered(frameResponses), // parts → one response object or its events
            record(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
  );
