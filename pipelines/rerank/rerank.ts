/** POST /rerank: documents by their relevance to a query. */
import { RerankFields } from '../../schemas/rerank.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, whenAnswered, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { countReranked, rerankAccount } from './count.ts';
import { fitDocuments } from './fit-documents.ts';
import { frameReranked } from './frame.ts';
import { readRerankRequest } from './read-request.ts';

const rerankFields = validate(RerankFields);

export const rerank = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    rerankFields, // 400 names the field
    resolveModel(ports.catalog, 'rerank'), // 404
    readable(readRerankRequest), // 400 names the document
    // 429 after waiting its turn; the slot is held while the rest runs
    admit(
      ports.admission,
      compose(
        withFallbacks(ports, fitDocuments(ports.offload)), // 400 when the query leaves no room; long documents are cut
        withAccount(
          ports,
          rerankAccount(ports.offload),
          compose(
            callEngine(ports, 'rerank'), // 502 503 504
            whenAnswered(countReranked(ports.offload)), // what the engine did not count
            count(),
            frameReranked, // scores → one JSON object
            record(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
  );
