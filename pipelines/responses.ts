/** POST /responses: input items in; one response object or its events out. Nothing is stored. */
import { ResponsesRequest } from '../schemas/responses.ts';
import type { KeyedPipeline } from '../src/ports/exchange.ts';
import type { Ports } from '../src/ports/ports.ts';
import { admit } from './stages/admit.ts';
import { callEngine } from './stages/call-engine.ts';
import { fitContext } from './stages/fit-context.ts';
import { frameResponses } from './stages/frame-responses.ts';
import { meter } from './stages/meter.ts';
import { orderParts } from './stages/order-parts.ts';
import { parseJson } from './stages/parse-json.ts';
import { type ResponsesFraming, readResponsesRequest } from './stages/read-responses-request.ts';
import { resolveModel } from './stages/resolve-model.ts';
import { settleFailures } from './stages/settle-failures.ts';
import { step } from './stages/step.ts';
import { validate } from './stages/validate.ts';

const route = '/responses';
const check = step(validate(ResponsesRequest));

export const responses = (ports: Ports): KeyedPipeline => {
  const findModel = resolveModel<ResponsesRequest>(ports.catalog, 'chat');
  const fit = fitContext<ResponsesFraming>(ports.offload);
  return (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      check, // 400 names the field
      findModel, // 404
      readResponsesRequest(ports, exchange.body), // 400 names the field
      fit, // 400 when the prompt alone fills the window
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504 before the first token
        callEngine(ports, exchange, caller, task).pipe(
          orderParts(), // one item after the other, or a failure
          settleFailures(exchange), // after the first token, a failure is a part of the answer
          meter(ports.usage, { exchange, caller, route, task, lease }), // one usage event, however it ends
          frameResponses(exchange, task), // parts → one response object or its events
        ),
      ),
    );
};
