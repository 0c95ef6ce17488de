/** Calls the engine of a task's model: 502, 503 or 504 before the first part. */
import type { Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { fail } from '../../src/errors.ts';
import { PooledCopies } from '../../src/helpers/buffer-pool.ts';
import type { Backpressure } from '../../src/ports/backpressure.ts';
import type { Engine, Flow } from '../../src/ports/engines/engine.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Quota } from '../../src/ports/quotas.ts';
import { answerOrFallBack } from './answer-or-fall-back.ts';
import type { FallbackTasks } from './fallbacks.ts';
import type { Step } from './stage.ts';

/** What an engine that lacks an operation does not do. */
const missing = {
  chat: 'does not chat',
  complete: 'continues no texts',
  embed: 'makes no embeddings',
  decide: 'decides nothing',
  rerank: 'ranks nothing',
  tokenize: 'does not tokenize',
  detokenize: 'does not detokenize',
  image: 'makes no images',
  speak: 'does not speak',
  transcribe: 'does not transcribe',
} as const;

type Operation = keyof typeof missing;
type CallOf<Name extends Operation> = Parameters<NonNullable<Engine[Name]>>[1];
type PartOf<Name extends Operation> =
  ReturnType<NonNullable<Engine[Name]>> extends Observable<infer Part> ? Part : never;

interface Task<Call> {
  readonly model: Model;
  readonly call: Call;
  /** Where the reader's own is not the engine's: a converter stands in between. */
  readonly backpressure?: Backpressure;
  readonly fallbacks?: FallbackTasks<Task<Call>>;
}

interface Request {
  readonly exchange: Pick<
    Exchange,
    'id' | 'log' | 'session' | 'backpressure' | 'trace' | 'served' | 'stream'
  >;
  readonly caller: Caller;
  /** Replaced where a fallback of the model answers. */
  task?: unknown;
  readonly account?: unknown;
  readonly quota?: Quota | undefined;
  copies?: PooledCopies | undefined;
}

/** Operations that generate no tokens need no counts of them. */
type CalledPorts = Pick<Ports, 'engines' | 'usage'> & Partial<Pick<Ports, 'tokenCounts'>>;

/** `pooled`: parts lie in pooled buffers, are valid until the request is over, and may not be kept longer. */
export const callEngine =
  <Name extends Operation>(
    ports: CalledPorts,
    operation: Name,
    { pooled = false } = {},
  ): Step<Task<CallOf<Name>>, PartOf<Name>, Request> =>
  (task, slot) => {
    if (pooled) slot.copies = new PooledCopies();
    // 503 when its usage could not be kept.
    ports.usage.ensureOpen();
    const { fallbacks } = task;
    if (fallbacks === undefined) return send(ports, operation, task, slot);
    return answerOrFallBack({ task, fallbacks, slot, send: (each) => send(ports, operation, each, slot) });
  };

const send = <Name extends Operation>(
  { engines, tokenCounts }: CalledPorts,
  operation: Name,
  { model, call, backpressure }: Task<CallOf<Name>>,
  { exchange, caller, copies }: Request,
): Observable<PartOf<Name>> => {
  const engine = engines.of(model) as Record<Name, Method<Name> | undefined>;
  if (engine[operation] === undefined)
    throw fail('unavailable', `The model ${model.id} is unavailable: its engine ${missing[operation]}`);
  return engine[operation](model, call, {
    requestId: exchange.id,
    subscription: caller.subscription,
    session: exchange.session,
    backpressure: backpressure ?? exchange.backpressure,
    trace: exchange.trace,
    served: exchange.served,
    tokenCounts,
    copies,
  });
};

type Method<Name extends Operation> = (
  model: Model,
  call: CallOf<Name>,
  flow: Flow,
) => Observable<PartOf<Name>>;
