/** Embeds texts inside other routes and in ingestion, admitted and billed like an embeddings request. */
import type { Logger } from 'pino';
import { EMPTY, firstValueFrom, fromEvent, map, type Observable, race, tap } from 'rxjs';
import { ApiError, type ErrorKind, fail } from '../../src/errors.ts';
import { toUnitLength } from '../../src/helpers/vectors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { floatsOf } from '../../src/ports/engines/embedding.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { Embed } from '../../src/vector-stores/ingest-file.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { type Composed, compose } from '../core/compose.ts';
import { count, recordValue } from '../core/meter.ts';
import type { Step } from '../core/stage.ts';
import { gather, mapErrors } from '../core/transforms.ts';
import { type CountedEmbedded, countEmbedded, embeddingAccount } from '../embeddings/count.ts';
import { fitInputs } from '../embeddings/fit-inputs.ts';
import { type EmbeddingTask, readEmbeddingRequest } from '../embeddings/read-request.ts';
import type { InStore } from './stores.ts';

type EmbedPorts = Pick<Ports, 'admission' | 'quotas' | 'engines' | 'usage' | 'offload'>;
export type QueryPorts = EmbedPorts & Pick<Ports, 'catalog'>;

type Vectors = readonly Float32Array[];

/** Whose texts are embedded, and under which request id they are billed. */
export interface EmbedRequest {
  readonly exchange: Pick<Exchange, 'id' | 'log' | 'backpressure' | 'trace' | 'failure'>;
  readonly caller: Caller;
}

const vectorsOf = (
  parts: readonly CountedEmbedded[],
  { task }: { readonly task: EmbeddingTask },
): Vectors => {
  const found = task.call.inputs.map((): Float32Array | undefined => undefined);
  for (const { first, vectors } of parts)
    for (const [at, vector] of vectors.entries()) found[first + at] = toUnitLength(floatsOf(vector));
  const vectors = found.filter((vector) => vector !== undefined);
  if (vectors.length < found.length) throw fail('engine_unreachable', 'The embedding model left a text out');
  return vectors;
};

/**
 * Vectors of unit length, in the order of the inputs, and what `use` makes of them: nothing is billed when that fails.
 * The task requests base64; `route` is what is billed.
 */
const embedTexts = <Task extends EmbeddingTask, Out>(
  ports: EmbedPorts,
  route: string,
  use: Step<Vectors, Out, EmbedRequest & { readonly task: Task }>,
): Composed<Task, Out, EmbedRequest> =>
  compose(
    // 429 after waiting its turn
    admit(
      ports.admission,
      compose(
        fitInputs<Task>(ports.offload), // texts that are too long are cut
        withAccount(
          ports,
          embeddingAccount(ports.offload, route),
          compose(
            callEngine(ports, 'embed'), // 502 503 504
            countEmbedded(ports.offload), // what the engine did not count
            count(),
            gather(vectorsOf), // 502 when one is missing
            use,
            recordValue(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
  );

export interface ToEmbed extends InStore {
  readonly texts: readonly string[];
}

export type WithVectors<Value> = Value & { readonly vectors: Vectors };

interface TaskOf<Value> extends EmbeddingTask {
  readonly value: Value;
}

/** Embeds texts as queries or as documents, for `use`: 502 when that fails, 503 while embeddings are unavailable. */
export const embedAs = <Value extends ToEmbed, Out>(
  inputType: 'search_query' | 'search_document',
  ports: QueryPorts,
  route: string,
  use: (value: WithVectors<Value>, request: EmbedRequest) => Observable<Out>,
): Composed<Value, Out, EmbedRequest> => {
  /** Failures of `use` are not those of the embedding. */
  const later = new WeakSet<ApiError>();
  const useOf: Step<Vectors, Out, EmbedRequest & { readonly task: TaskOf<Value> }> = (vectors, context) =>
    use({ ...context.task.value, vectors }, context).pipe(
      tap({
        error: (error) => {
          if (error instanceof ApiError) later.add(error);
        },
      }),
    );
  return compose(
    readTexts<Value>(ports, inputType),
    embedTexts(ports, route, useOf),
    mapErrors((error) => (later.has(error) ? error : embeddingError(error))),
  );
};

const readTexts =
  <Value extends ToEmbed>({ catalog }: QueryPorts, input_type: string) =>
  (value: Value): TaskOf<Value> => {
    const { store, texts } = value;
    const model = catalog.find(store.model);
    if (model === undefined)
      throw fail('unavailable', `The embedding model ${store.model} is not served now`);
    const body = { model: store.model, input: texts, input_type, encoding_format: 'base64' } as const;
    return { ...readEmbeddingRequest({ body, model, variant: undefined }), value };
  };

/** Kinds that the client can do something about stay as they are. */
const passedOn: ReadonlySet<ErrorKind> = new Set(['invalid_request', 'payload_too_large', 'rate_limited']);
const unavailable: ReadonlySet<ErrorKind> = new Set(['unavailable', 'overloaded', 'not_found']);

const embeddingError = (error: ApiError): ApiError => {
  if (passedOn.has(error.kind)) return error;
  const { headers, message } = error;
  return unavailable.has(error.kind)
    ? fail('unavailable', `Embeddings are unavailable: ${message}`, { cause: error, headers })
    : fail('engine_unreachable', `The text could not be embedded: ${message}`, { cause: error, headers });
};

/** Embeds the batches of an ingestion. Each is billed once, however often it is repeated. */
export const embedItems = (ports: EmbedPorts, log: Logger): Embed => {
  const embed = embedTexts(
    { ...ports, usage: onlyCompleted(ports.usage) },
    '/vector_store/{id}/files',
    (vectors) => vectors,
  );
  return async ({ id, caller, model, texts, signal }) => {
    signal.throwIfAborted();
    const exchange = { id, log, backpressure: new Backpressure() };
    const call = { inputs: texts, encoding: 'base64', dimensions: undefined } as const;
    const vectors = embed({ model, call }, { exchange, caller });
    return firstValueFrom(race(vectors, abortOf(signal)));
  };
};

const abortOf = (signal: AbortSignal) =>
  fromEvent(signal, 'abort').pipe(
    map((): never => {
      throw signal.reason;
    }),
  );

/** A batch that failed is repeated under the same id: its event must be the one of its success. */
const onlyCompleted = (usage: UsageLog): UsageLog => ({
  record: (event) => (event.outcome === 'completed' ? usage.record(event) : EMPTY),
  ensureOpen: () => usage.ensureOpen(),
  close: () => usage.close(),
});
