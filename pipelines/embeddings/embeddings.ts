/** POST /embeddings: texts or token ids in; a vector for each out, in their order. */
import { map } from 'rxjs';
import { EmbeddingsFields } from '../../schemas/embeddings.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { meterInput } from '../core/meter-input.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { type CountedEmbedded, callEmbeddings } from './call.ts';
import { fitEmbeddingInputs } from './fit-inputs.ts';
import { frameEmbeddings } from './frame.ts';
import { readEmbeddingRequest } from './read-request.ts';

const route = '/embeddings';
const embeddingsFields = validate(EmbeddingsFields);

export const embeddings =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      map(embeddingsFields), // 400 names the field
      resolveModel(ports.catalog, 'embedding'), // 404
      map(readEmbeddingRequest), // 400 names the field
      fitEmbeddingInputs(ports.offload), // inputs that are too long are cut
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504
        callEmbeddings(ports, exchange, caller, task).pipe(
          meterInput(ports.usage, { exchange, caller, route, task, lease }, countOf), // one usage event, however it ends
          frameEmbeddings(exchange, task), // vectors → one JSON answer
        ),
      ),
    );

const countOf = ({ tokens, vectors }: CountedEmbedded) => ({ tokens, inputs: vectors.length });
