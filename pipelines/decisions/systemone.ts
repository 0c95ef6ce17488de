/** POST /systemone: typed questions about a state, each answered by a probability distribution. */
import { DecisionsRequest } from '../../schemas/systemone.ts';
import { parseName } from '../../src/catalog/model-names.ts';
import { ApiError, type ErrorKind } from '../../src/errors.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import type { Decided } from '../../src/ports/engines/decision.ts';
import type { Caller, KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { countTokens, inputAccount, type Uncounted } from '../core/count-inputs.ts';
import { readable, whenAnswered, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { mapErrors } from '../core/transforms.ts';
import { validate } from '../core/validate.ts';
import { fitQuestions } from './fit-questions.ts';
import { frameDecisions } from './frame.ts';
import { type DecisionTask, readDecisionRequest } from './read-request.ts';

const decisionsRequest = validate(DecisionsRequest, 'unprocessable');

export const systemOne = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson('unprocessable'), // 413 422
    parseJson(ports.offload, 'unprocessable'), // 422 says where
    decisionsRequest, // 422 names the field
    resolveDecisionModel(ports.catalog), // 404 422
    readable(readDecisionRequest),
    // 429 after waiting its turn; all questions are one request
    admit(
      ports.admission,
      compose(
        withFallbacks(ports, fitQuestions(ports.offload)), // 422 when a question is too long for the model
        withAccount(
          ports,
          decisionAccount(ports.offload),
          compose(
            callEngine(ports, 'decide'), // 502 529
            whenAnswered(countTokens(ports.offload, uncounted)), // what the engine did not count
            mapErrors(decisionError), // to the statuses that the usage event has
            count(),
            frameDecisions, // likelihoods → one JSON object
            record(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
    mapErrors(decisionError), // 422 502 529
  );

const resolveDecisionModel =
  (
    catalog: Catalog,
  ): Step<DecisionsRequest, ResolvedRequest<DecisionsRequest>, { readonly caller: Caller }> =>
  (body, { caller }) => ({
    body,
    ...catalog.resolve(fullId(catalog, body.model), 'decision', 'unprocessable', caller.scope),
  });

/** Some clients leave out the author: where the rest matches exactly one public model, it is that one. */
const fullId = (catalog: Catalog, id: string): string => {
  if (id.includes('/') || catalog.find(id) !== undefined) return id;
  const { name } = parseName(id);
  const [match, ...others] = catalog
    .inService()
    .filter((model) => !model.private && model.id.slice(model.id.indexOf('/') + 1) === name);
  return match === undefined || others.length > 0 ? id : match.id;
};

const decisionAccount = (offload: Shared<Offload>) =>
  inputAccount(offload, '/systemone', {
    inputsOf: () => 1,
    readings: ({ call: { context, questions } }: DecisionTask) =>
      questions.map(({ prompt }) => ({ texts: [context, prompt], tokens: 0 })),
  });

const uncounted = ({ question, tokens }: Decided, { call }: DecisionTask): Uncounted | undefined =>
  tokens === undefined
    ? { texts: [call.context, call.questions[question]?.prompt ?? ''], tokens: 0 }
    : undefined;

const kinds: Partial<Record<ErrorKind, ErrorKind>> = {
  invalid_request: 'unprocessable',
  unavailable: 'overloaded',
  timeout: 'engine_unreachable',
};

/** An error in the statuses of this route: 422 for the request, 529 for a busy model, 502 for a broken one. */
export const decisionError = (error: ApiError): ApiError => {
  const kind = kinds[error.kind];
  return kind === undefined
    ? error
    : new ApiError(kind, error.message, { headers: error.headers, cause: error.cause, param: error.param });
};
