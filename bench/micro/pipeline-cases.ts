/** Micro-benchmarks of the complete chat pipeline without sockets, with an engine that responds at once. */
import { NEVER, type Observable, of, Subject } from 'rxjs';
import { chatCompletions } from '../../pipelines/chat/completions.ts';
import type { Model } from '../../schemas/catalog.ts';
import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import type { Parts } from '../../src/ports/engines/chat.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { createTokenCounts } from '../../src/tokens/token-counts.ts';
import { noQuotas } from '../../test/no-quotas.ts';
import { shared } from '../../test/shared.ts';
import type { MicroCase } from './run.ts';
import { caller, exchangeOf, model, requestBody, tokenParts, wholeParts } from './samples.ts';

const absent = (): never => {
  throw new Error('not part of this benchmark');
};
const never = (): Observable<never> => NEVER;

/** Everything except the engine and admission is a stub. */
export const portsFor = (
  answer: () => Observable<Parts>,
  others: Partial<Engine> = {},
  served: Model = model,
): Ports => ({
  keys: { authenticate: never },
  state: new Proxy(Object.create(null), { get: absent }),
  catalog: {
    list: () => [served],
    inService: () => [served],
    resolve: () => ({ model: served, variant: undefined }),
    find: () => served,
    findPublic: () => served,
  },
  fallbacks: { count: () => undefined },
  engines: {
    of: () => ({ chat: answer, ...others }),
    health: () => ({}),
    close: () => Promise.resolve(),
  },
  admission: createLocalAdmission(),
  quotas: noQuotas,
  streams: new Proxy(Object.create(null), { get: absent }),
  usage: { record: () => of(undefined), ensureOpen: () => undefined, close: () => Promise.resolve() },
  ledger: { totals: absent, list: absent },
  media: shared({ read: never, decode: absent, close: () => Promise.resolve() }),
  offload: shared({
    parseJson: absent,
    countTokens: absent,
    cutTokens: absent,
    documentText: absent,
    textEncoding: absent,
    splitText: absent,
    close: () => Promise.resolve(),
  }),
  tokenCounts: createTokenCounts({ countTokens: absent }),
  vectorStores: new Proxy(Object.create(null), { get: absent }),
  codec: shared({
    probe: absent,
    verify: absent,
    spool: absent,
    convert: never,
    close: () => Promise.resolve(),
  }),
  vectors: new Proxy(Object.create(null), { get: absent }),
  pictures: new Proxy(Object.create(null), { get: absent }),
  blobs: new Proxy(Object.create(null), { get: absent }),
  jobs: new Proxy(Object.create(null), { get: absent }),
  webhookSecrets: { current: absent, rotate: absent },
  allowPrivateUrls: false,
  provider: 'Sluice',
  publicUrl: () => '',
});

let reply: Reply | undefined;
const keep = (next: Reply): void => {
  reply = next;
};

const wholePipeline = chatCompletions(portsFor(() => of(wholeParts)));
const wholeExchange = exchangeOf(requestBody(false));

const stream = new Subject<Parts>();
const streamExchange = exchangeOf(requestBody(true));
chatCompletions(portsFor(() => stream))(streamExchange, { exchange: streamExchange, caller }).subscribe(keep);

export const pipelineCases: readonly MicroCase[] = [
  {
    name: 'pipeline: a non-streamed response, no engine or socket',
    run: () => {
      wholePipeline(wholeExchange, { exchange: wholeExchange, caller }).subscribe(keep);
      return reply;
    },
  },
  {
    name: 'pipeline: one token of a running stream',
    run: () => {
      stream.next(tokenParts);
      return reply;
    },
  },
];
