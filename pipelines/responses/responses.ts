/** POST /responses: input items in; one response object or its events out. Nothing is stored. */
import { ResponsesRequest } from '../../schemas/responses.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { answering } from '../conversation/answering.ts';
import { callEngine } from '../conversation/call-engine.ts';
import { fitContext } from '../conversation/fit-context.ts';
import { meter } from '../conversation/meter.ts';
import { orderParts } from '../conversation/order-parts.ts';
import { settleFailures } from '../conversation/settle-failures.ts';
import { enter } from '../core/admit.ts';
import { readJson, receiveJson } from '../core/parse-json.ts';
import { findModel } from '../core/resolve-model.ts';
import { steps } from '../core/step.ts';
import { validate } from '../core/validate.ts';
import { frameResponses } from './frame.ts';
import { readResponsesRequest } from './read-request.ts';

const route = '/responses';
const check = validate(ResponsesRequest);

export const responses = (ports: Ports): KeyedPipeline =>
  steps(
    receiveJson, // 400 413
    readJson(ports.offload), // 400 says where
    check, // 400 names the field
    findModel(ports.catalog, 'chat'), // 404
    readResponsesRequest(ports), // 400 names the field
    fitContext(ports.offload), // 400 when the prompt alone fills the window
    // 429 after waiting its turn; the slot is held while the rest runs
    enter(
      ports.admission,
      answering(
        route,
        callEngine(ports), // 502 503 504 before the first token
        orderParts, // one item after the other, or a failure
        settleFailures, // after the first token, a failure is a part of the answer
        meter(ports.usage), // one usage event, however it ends
        frameResponses, // parts → one response object or its events
      ),
    ),
  );
