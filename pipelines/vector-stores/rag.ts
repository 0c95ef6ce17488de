/** POST /chat/completions/RAG: a conversation and a vector store in; an answer that knows the store's items out, and the items with it. */
import { of, switchMap } from 'rxjs';
import { RagRequest } from '../../schemas/vector-store-chat.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { frameChat } from '../chat/frame.ts';
import { type ChatFraming, readChatRequest } from '../chat/read-request.ts';
import { answering } from '../conversation/answering.ts';
import { callEngine } from '../conversation/call-engine.ts';
import { fitContext } from '../conversation/fit-context.ts';
import { meter } from '../conversation/meter.ts';
import { settleFailures } from '../conversation/settle-failures.ts';
import { admit } from '../core/admit.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { step } from '../core/step.ts';
import { validate } from '../core/validate.ts';
import { addContext } from './add-context.ts';

const route = '/chat/completions/RAG';
const check = step(validate(RagRequest));

export const chatCompletionsRag = (ports: Ports): KeyedPipeline => {
  const findModel = resolveModel<RagRequest>(ports.catalog, 'chat');
  const read = readChatRequest(ports);
  const fit = step(fitContext<ChatFraming>(ports.offload));
  const answer = answering<ChatFraming>(
    route,
    callEngine(ports), // 502 503 504 before the first token
    settleFailures, // after it, a failure is a part of the answer
    meter(ports.usage), // one usage event, however it ends
    frameChat, // parts → one JSON object or chunks
  );
  return (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      check, // 400 names the field
      findModel, // 404
      switchMap((asked) =>
        of(asked).pipe(
          step((request) => read(request, { exchange })), // 400 names the field
          // 400 without such a vector store, 502 503 when the question cannot be embedded
          addContext(ports, { exchange, caller, route }, asked.body.collection),
        ),
      ),
      fit, // 400 when the prompt alone fills the window
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) => answer(task, lease, { exchange, caller })),
    );
};
