/** POST /messages: a conversation in the messages format in; one message or the events of one out. */
import { MessagesRequest } from '../schemas/messages.ts';
import type { KeyedPipeline } from '../src/ports/exchange.ts';
import type { Ports } from '../src/ports/ports.ts';
import { openSigning } from '../src/signatures/signing.ts';
import { admit } from './stages/admit.ts';
import { callEngine } from './stages/call-engine.ts';
import { fitContext } from './stages/fit-context.ts';
import { frameMessages } from './stages/frame-messages.ts';
import { meter } from './stages/meter.ts';
import { orderParts } from './stages/order-parts.ts';
import { parseJson } from './stages/parse-json.ts';
import { type MessagesFraming, readMessagesRequest } from './stages/read-messages-request.ts';
import { resolveModel } from './stages/resolve-model.ts';
import { settleFailures } from './stages/settle-failures.ts';
import { step } from './stages/step.ts';
import { validate } from './stages/validate.ts';

const route = '/messages';
const check = step(validate(MessagesRequest));

export const messages = (ports: Ports): KeyedPipeline => {
  const signing = openSigning(ports.state);
  const findModel = resolveModel<MessagesRequest>(ports.catalog, 'chat');
  const fit = fitContext<MessagesFraming>(ports.offload);
  return (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      check, // 400 names the field
      findModel, // 404
      readMessagesRequest(ports, signing, exchange.body), // 400 names the field
      fit, // 400 when the prompt alone fills the window
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504 before the first token
        callEngine(ports, exchange, caller, task).pipe(
          orderParts(), // one block after the other, or a failure
          settleFailures(exchange), // after the first token, a failure is a part of the answer
          meter(ports.usage, { exchange, caller, route, task, lease }), // one usage event, however it ends
          frameMessages(exchange, task), // parts → one message or its events
        ),
      ),
    );
};
