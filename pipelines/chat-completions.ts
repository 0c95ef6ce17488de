/** POST /chat/completions: a conversation in; one JSON answer or a stream of chunks out. */
import { ChatRequest } from '../schemas/chat.ts';
import type { KeyedPipeline } from '../src/ports/exchange.ts';
import type { Ports } from '../src/ports/ports.ts';
import { admit } from './stages/admit.ts';
import { callEngine } from './stages/call-engine.ts';
import { fitContext } from './stages/fit-context.ts';
import { frameChat } from './stages/frame-chat.ts';
import { meter } from './stages/meter.ts';
import { parseJson } from './stages/parse-json.ts';
import { type ChatFraming, readChatRequest } from './stages/read-chat-request.ts';
import { resolveModel } from './stages/resolve-model.ts';
import { settleFailures } from './stages/settle-failures.ts';
import { step } from './stages/step.ts';
import { validate } from './stages/validate.ts';

const route = '/chat/completions';
const check = step(validate(ChatRequest));

export const chatCompletions = (ports: Ports): KeyedPipeline => {
  const findModel = resolveModel<ChatRequest>(ports.catalog, 'chat');
  const fit = fitContext<ChatFraming>(ports.offload);
  return (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      check, // 400 names the field
      findModel, // 404
      readChatRequest(ports, exchange.body), // 400 names the field
      fit, // 400 when the prompt alone fills the window
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504 before the first token
        callEngine(ports, exchange, caller, task).pipe(
          settleFailures(exchange), // after it, a failure is a part of the answer
          meter(ports.usage, { exchange, caller, route, task, lease }), // one usage event, however it ends
          frameChat(exchange, task), // parts → one JSON object or chunks
        ),
      ),
    );
};
