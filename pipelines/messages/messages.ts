/** POST /messages: a conversation in the messages format in; one message or the events of one out. */
import { MessagesRequest } from '../../schemas/messages.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { openSigning } from '../../src/signatures/signing.ts';
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
import { frameMessages } from './frame.ts';
import { readMessagesRequest } from './read-request.ts';

const route = '/messages';
const check = validate(MessagesRequest);

export const messages = (ports: Ports): KeyedPipeline =>
  steps(
    receiveJson, // 400 413
    readJson(ports.offload), // 400 says where
    check, // 400 names the field
    findModel(ports.catalog, 'chat'), // 404
    readMessagesRequest(ports, openSigning(ports.state)), // 400 names the field
    fitContext(ports.offload), // 400 when the prompt alone fills the window
    // 429 after waiting its turn; the slot is held while the rest runs
    enter(
      ports.admission,
      answering(
        route,
        callEngine(ports), // 502 503 504 before the first token
        orderParts, // one block after the other, or a failure
        settleFailures, // after the first token, a failure is a part of the answer
        meter(ports.usage), // one usage event, however it ends
        frameMessages, // parts → one message or its events
      ),
    ),
  );
