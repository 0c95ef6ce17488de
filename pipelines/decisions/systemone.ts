/** POST /systemone: a state and typed questions about it in; a probability distribution for each out. */
import { map } from 'rxjs';
import { DecisionsRequest } from '../../schemas/systemone.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { meterInput } from '../core/meter-input.ts';
import { parseJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { type CountedDecision, callDecisions } from './call.ts';
import { decisionFailures } from './failures.ts';
import { fitDecisionQuestions } from './fit-questions.ts';
import { frameDecisions } from './frame.ts';
import { readDecisionRequest } from './read-request.ts';
import { resolveDecisionModel } from './resolve-model.ts';

const route = '/systemone';
const decisionsRequest = validate(DecisionsRequest, 'unprocessable');

export const systemOne =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // 413 422
    parseJson(ports.offload, exchange, 'unprocessable').pipe(
      map(decisionsRequest), // 422 names the field
      resolveDecisionModel(ports.catalog), // 404 422
      map(readDecisionRequest),
      fitDecisionQuestions(ports.offload), // 422 when a question is too long for the model
      // 429 after waiting its turn; all questions are one request
      admit(ports.admission, exchange, caller, (task, lease) =>
        callDecisions(ports, exchange, caller, task).pipe(
          decisionFailures(), // as the event is to have them
          meterInput(ports.usage, { exchange, caller, route, task, lease }, countOf), // one usage event, however it ends
          frameDecisions(exchange, task), // likelihoods → one JSON answer
        ),
      ),
      decisionFailures(), // 422 502 529
    );

const countOf = ({ tokens }: CountedDecision) => ({ tokens, inputs: 1 });
