/** Models, ports and exchanges for running the chat pipeline without sockets, files or engines. */
import { pino } from 'pino';
import {
  catchError,
  defer,
  EMPTY,
  from,
  lastValueFrom,
  map,
  type Observable,
  type OperatorFunction,
  of,
  pipe,
  throwError,
  toArray,
} from 'rxjs';
import { chatCompletions } from '../../pipelines/chat/completions.ts';
import type { ChatTask } from '../../pipelines/conversation/chat-task.ts';
import { type SettledParts, settle } from '../../pipelines/conversation/settle.ts';
import { type TokenAccount, tokenAccount } from '../../pipelines/conversation/token-account.ts';
import type { Admitted } from '../../pipelines/core/account.ts';
import { record } from '../../pipelines/core/meter.ts';
import { lift, type RequestContext, type Transform } from '../../pipelines/core/stage.ts';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { ApiError, fail } from '../../src/errors.ts';
import type { Lease } from '../../src/ports/admission.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { type ChatCall, type Part, type Parts, toJsonText } from '../../src/ports/engines/chat.ts';
import type { Flow } from '../../src/ports/engines/engine.ts';
import type { TokenCounts } from '../../src/ports/engines/token-counts.ts';
import type { Caller, Exchange, KeyedPipeline, Reply } from '../../src/ports/exchange.ts';
import type { Media } from '../../src/ports/media.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { noQuotas } from '../no-quotas.ts';
import { sampleModel } from '../samples.ts';
import { shared } from '../shared.ts';

export const model = (change: Partial<Model> = {}): Model =>
  sampleModel({
    id: 'mock/chat',
    name: 'Mock',
    engine: 'mock',
    served_as: 'mock',
    context_length: 131_072,
    pricing: { prompt: '0.000001', completion: '0.000002' },
    limits: { concurrency: 8, requests_per_minute: 1000 },
    ...change,
  });

export const models: readonly Model[] = [
  model(),
  model({ id: 'mock/small', context_length: 256 }),
  model({ id: 'mock/eye', input_modalities: ['text', 'image', 'audio', 'video'] }),
  model({
    id: 'mock/thinker',
    reasoning: { mandatory: false, supports_max_tokens: true, supported_efforts: ['low', 'medium', 'high'] },
    pricing: {
      prompt: '0.000001',
      completion: '0.000002',
      internal_reasoning: '0.000003',
      input_cache_read: '0.0000001',
    },
  }),
  model({ id: 'mock/shy', reasoning: { mandatory: false, default_enabled: false } }),
  model({ id: 'mock/always', reasoning: { mandatory: true, supported_efforts: ['low', 'high'] } }),
];

export const caller: Caller = { subscription: 'sub_1', key: 'key_1' };

export const text = (words: string, choice = 0) =>
  ({ type: 'text', choice, text: toJsonText(words) }) as const;
export const thought = (words: string): Part => ({ type: 'reasoning', choice: 0, text: toJsonText(words) });
export const toolCall = (call: number, name = 'look'): Part => ({
  type: 'tool-call',
  choice: 0,
  call,
  id: `call_${call}`,
  name,
});
export const toolArguments = (call: number, words: string): Part => ({
  type: 'tool-arguments',
  choice: 0,
  call,
  text: toJsonText(words),
});
export const finish = (reason: 'stop' | 'length' | 'tool_calls' = 'stop', choice = 0) =>
  ({ type: 'finish', choice, reason, native: reason }) as const;
export const usage = (prompt: number, completion: number, cached = 0, reasoning = 0) =>
  ({ type: 'usage', usage: { prompt, completion, cached, reasoning } }) as const;

export const hello: Observable<Parts> = of([text('Hel')], [text('lo'), finish(), usage(5, 2)]);

/** A framing as an operator, with what makes its failures part of the stream. */
export const framing = <In>(
  open: Transform<In, Reply, RequestContext>['open'],
): OperatorFunction<In, Reply> => {
  const context = { exchange: exchange(), account: { event: () => ({}) as UsageEvent } };
  return pipe(lift({ open }, context), lift(record(usageLog().usage), context), map(withoutFailure));
};

/** A function cannot be compared. */
const withoutFailure = (reply: Reply): Reply => {
  if (reply.kind !== 'head') return reply;
  const { failure: _, ...head } = reply;
  return head;
};

/** Parts as they come out of `settle`: a failure, as a part, is an error. */
export const settled = (parts: readonly Parts[]): Observable<SettledParts> =>
  from(parts).pipe(lift(settle, { exchange: exchange() }), ended);

/** Sequences made by hand need no finish. */
const ended = (source: Observable<SettledParts>): Observable<SettledParts> =>
  source.pipe(
    catchError((error: unknown) =>
      error instanceof ApiError && error.message === 'The model ended its answer early'
        ? EMPTY
        : throwError(() => error),
    ),
  );

/** Four characters a token. */
const countTokens = (texts: readonly string[]): number =>
  texts.reduce((total, text) => total + Math.ceil(text.length / 4), 0);
const tokenCounts: TokenCounts = {
  count: (_model, { texts, pieces }) => of(Math.max(pieces, countTokens(texts))),
  countTexts: (_model, texts) => of(countTokens(texts)),
  learns: () => false,
  learn: () => undefined,
};

/** A task under its lease, as the stages of its response see it. */
export const admitted = <Framing>(
  task: ChatTask<Framing>,
  waited = 0,
): Admitted<ChatTask<Framing>, TokenAccount> => {
  const billed = { exchange: exchange(), caller, task, lease: lease(waited) };
  return { ...billed, account: tokenAccount({ tokenCounts }, '/chat/completions')(billed) };
};

export const lease = (waited = 0): Lease & { released: number } => ({
  waited,
  released: 0,
  release() {
    this.released++;
  },
});

/** Keeps events, each when `record` has had its say. */
export const usageLog = (record: UsageLog['record'] = () => of(undefined)) => {
  const events: UsageEvent[] = [];
  const usage: UsageLog = {
    record: (event) =>
      defer(() => {
        events.push(event);
        return record(event);
      }),
    ensureOpen: () => undefined,
    close: async () => undefined,
  };
  return { events, usage };
};

export interface Harness {
  readonly ports: Ports;
  readonly calls: { model: Model; call: ChatCall; flow: Flow }[];
  readonly leases: ReturnType<typeof lease>[];
  readonly counted: (readonly string[])[];
  readonly events: readonly UsageEvent[];
}

/** Ports whose engine answers every call with `answer`; media URLs carry their data in the path. */
export const harness = (answer: Observable<Parts> = hello, change: Partial<Ports> = {}): Harness => {
  const calls: Harness['calls'] = [];
  const leases: ReturnType<typeof lease>[] = [];
  const counted: (readonly string[])[] = [];
  const { events, usage } = usageLog();
  const closes = { close: () => Promise.resolve() };
  const unused = (): never => {
    throw new Error('not used on this route');
  };
  const ports: Ports = {
    keys: { authenticate: unused },
    state: {
      create: unused,
      get: unused,
      update: unused,
      remove: unused,
      list: unused,
      due: unused,
      countDue: unused,
      check: unused,
      ...closes,
    },
    catalog: {
      list: () => models,
      inService: () => models,
      resolve: (id = 'mock/chat') => {
        const [name, variant] = id.split(':');
        const found = models.find((each) => each.id === name);
        if (found === undefined) throw fail('not_found', `There is no model ${id}`);
        return { model: found, variant };
      },
      find: (id) => models.find((each) => each.id === id),
      findPublic: () => undefined,
    },
    fallbacks: { count: () => undefined },
    engines: {
      of: () => ({
        chat: (model, call, flow) => {
          calls.push({ model, call, flow });
          return answer;
        },
      }),
      health: () => ({}),
      ...closes,
    },
    admission: {
      admit: () =>
        defer(() => {
          const granted = lease();
          leases.push(granted);
          return of(granted);
        }),
      stats: unused,
      check: () => Promise.resolve(),
      ...closes,
    },
    quotas: noQuotas,
    streams: {
      ...{ mostGraceMs: 0, open: unused, find: unused, running: unused, stats: unused, check: unused },
      ...closes,
    },
    usage,
    ledger: { totals: unused, list: unused },
    media: shared<Media>({
      read: (url) =>
        defer(() => {
          const [, mediaType = '', base64 = ''] = /^data:([^;]+);base64,(.*)$/.exec(String(url)) ?? [];
          if (mediaType === '') throw fail('invalid_request', 'no such media');
          const bytes = Buffer.from(base64, 'base64');
          return of({ mediaType, size: bytes.length, base64, bytes });
        }),
      decode: (base64) => {
        const bytes = Buffer.from(String(base64), 'base64');
        return { mediaType: 'application/octet-stream', size: bytes.length, base64, bytes };
      },
      ...closes,
    }),
    codec: shared({ probe: unused, verify: unused, spool: unused, convert: unused, ...closes }),
    pictures: shared({ verify: unused, isTransparent: unused }),
    offload: shared<Offload>({
      parseJson: async (bytes) => JSON.parse(Buffer.from(bytes).toString()),
      countTokens: async (texts) => {
        counted.push(texts);
        return countTokens(texts);
      },
      cutTokens: async (texts, _tokenizer, limit) => texts.map((text) => text.slice(0, limit * 4)),
      documentText: async (document) => {
        if (document instanceof Uint8Array) return Buffer.from(document).toString();
        const text = Buffer.from(String(document.base64), 'base64').toString();
        if (text === 'broken') throw fail('invalid_request', 'the document cannot be read');
        return text;
      },
      textEncoding: unused,
      splitText: unused,
      ...closes,
    }),
    tokenCounts,
    vectors: new Proxy(Object.create(null), { get: unused }),
    vectorStores: new Proxy(Object.create(null), { get: unused }),
    blobs: {
      write: unused,
      put: unused,
      stat: unused,
      read: unused,
      remove: unused,
      link: unused,
      check: unused,
      ...closes,
    },
    jobs: { create: unused, get: unused, list: unused, remove: unused, samples: unused, ...closes },
    webhookSecrets: { current: unused, rotate: unused },
    allowPrivateUrls: false,
    provider: 'Sluice',
    publicUrl: () => 'http://127.0.0.1/v1',
    ...change,
  };
  return { ports, calls, leases, counted, events };
};

/** The same, with large requests as their parser returns them: values under `data` are bytes. */
export const withBytes = (at: Harness): Harness => ({
  ...at,
  ports: {
    ...at.ports,
    offload: shared<Offload>({
      ...at.ports.offload.for(caller.subscription),
      parseJson: async (bytes) =>
        JSON.parse(Buffer.from(bytes).toString(), (key, value: unknown) =>
          key === 'data' ? new Uint8Array(Buffer.from(String(value), 'latin1')) : value,
        ),
    }),
  },
});

/** So much that a request with it is parsed on a thread. */
export const ballast = 'x'.repeat(300_000);

const silent = pino({ level: 'silent' });

export const exchange = (body: unknown = {}): Exchange => {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    id: 'req_0123',
    method: 'POST',
    path: '/v1/chat/completions',
    params: {},
    query: '',
    header: (name) => (name === 'content-type' ? 'application/json' : ''),
    body: {
      length: bytes.length,
      prefix: () => of(undefined),
      whole: () => of(bytes),
      chunks: () => of(bytes),
      admitted: () => {},
    },
    backpressure: new Backpressure(),
    dialect: 'envelope',
    log: silent,
  };
};

/** A pipeline on an exchange, for the usual caller. */
export const run = (pipeline: KeyedPipeline, asked: Exchange): Observable<Reply> =>
  pipeline(asked, { exchange: asked, caller }).pipe(map(withoutFailure));

/** The whole pipeline, asked once. */
export const ask = (body: unknown, { ports }: Harness = harness()): Promise<readonly Reply[]> =>
  lastValueFrom(run(chatCompletions(ports), exchange(body)).pipe(toArray()));

/** Status and message of a request that fails. */
export const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked;
    return 'answered';
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
};

export const refusal = (body: unknown, at: Harness = harness()): Promise<string> => refusalOf(ask(body, at));

/** The call that reached the engine. */
export const callMadeBy = async (asked: Promise<unknown>, { calls }: Harness): Promise<ChatCall> => {
  const refused = await refusalOf(asked);
  const call = calls[0]?.call;
  if (call === undefined) throw new Error(refused);
  return call;
};

/** The one answer of a request that is not streamed. */
export const bodyOf = <Body>(replies: readonly Reply[]): Body => {
  const [answer] = replies;
  if (answer?.kind !== 'whole' || replies.length !== 1) throw new Error('not one answer');
  return JSON.parse(String(answer.body)) as Body;
};

/** The text of a stream. */
export const streamOf = (replies: readonly Reply[]): string => {
  const [head, ...rest] = replies;
  if (head?.kind !== 'head') throw new Error('no stream');
  return rest.map((reply) => (reply.kind === 'bytes' ? String(reply.bytes) : '')).join('');
};

/** The head of a stream of events; `keepAlive` is what is sent while it is idle. */
export const streamHead = (keepAlive = ': keep-alive\n\n') => ({
  kind: 'head',
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  },
  keepAlive,
});
