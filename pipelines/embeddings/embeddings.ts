/** POST /embeddings: a vector for each text or list of token ids, in their order. */
import { EmbeddingsFields } from '../../schemas/embeddings.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, whenAnswered, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { type FramedReply, writePaced } from '../core/paced-bytes.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { countEmbedded, embeddingAccount } from './count.ts';
import { fitInputs } from './fit-inputs.ts';
import { frameEmbeddings } from './frame.ts';
import { readEmbeddingRequest } from './read-request.ts';

const embeddingsFields = validate(EmbeddingsFields);

export const embeddings = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    embeddingsFields, // 400 names the field
    resolveModel(ports.catalog, 'embedding'), // 404
    readable(readEmbeddingRequest), // 400 names the field
    // 429 after waiting its turn; the slot is held while the rest runs
    admit(
      ports.admission,
      compose(
        withFallbacks(ports, fitInputs(ports.offload)), // inputs that are too long are cut
        withAccount(
          ports,
          embeddingAccount(ports.offload, '/embeddings'),
          compose(
            callEngine(ports, 'embed', { pooled: true }), // 502 503 504
            whenAnswered(countEmbedded(ports.offload)), // what the engine did not count
            count(),
            frameEmbeddings, // vectors → one JSON object
            record<FramedReply>(ports.usage), // one usage event, however it ends
            writePaced, // as fast as the client reads
          ),
        ),
      ),
    ),
  );
