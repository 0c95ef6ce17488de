/** POST /chat/completions: a conversation in; one JSON answer or a stream of chunks out. */
import { ChatRequest } from '../../schemas/chat.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { answering } from '../conversation/answering.ts';
import { callEngine } from '../conversation/call-engine.ts';
import { fitContext } from '../conversation/fit-context.ts';
import { meter } from '../conversation/meter.ts';
import { settleFailures } from '../conversation/settle-failures.ts';
import { enter } from '../core/admit.ts';
import { readJson, receiveJson } from '../core/parse-json.ts';
import { findModel } from '../core/resolve-model.ts';
import { steps } from '../core/step.ts';
import { validate } from '../core/validate.ts';
import { frameChat } from './frame.ts';
import { readChatRequest } from './read-request.ts';

const route = '/chat/completions';
const check = validate(ChatRequest);

export const chatCompletions = (ports: Ports): KeyedPipeline =>
  steps(
    receiveJson, // 400 413
    readJson(ports.offload), // 400 says where
    check, // 400 names the field
    findModel(ports.catalog, 'chat'), // 404
    readChatRequest(ports), // 400 names the field
    fitContext(ports.offload), // 400 when the prompt alone fills the window
    // 429 after waiting its turn; the slot is held while the rest runs
    enter(
      ports.admission,
      answering(
        route,
        callEngine(ports), // 502 503 504 before the first token
        settleFailures, // after it, a failure is a part of the answer
        meter(ports.usage), // one usage event, however it ends
        frameChat, // parts → one JSON object or chunks
      ),
    ),
  );
