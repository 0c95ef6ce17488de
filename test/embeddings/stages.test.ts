/** Unit tests of the embedding and decision stages: what they emit and what they hold. */
import { lastValueFrom, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import t from 'tap';
import { inputAccount } from '../../pipelines/core/count-inputs.ts';
import { count, recordValue } from '../../pipelines/core/meter.ts';
import { PacedBytes } from '../../pipelines/core/paced-bytes.ts';
import { lift } from '../../pipelines/core/stage.ts';
import { gather, mapErrors } from '../../pipelines/core/transforms.ts';
import { decisionError, systemOne } from '../../pipelines/decisions/systemone.ts';
import { embeddings } from '../../pipelines/embeddings/embeddings.ts';
import { readInputSearch, vectorStoreSearch } from '../../pipelines/vector-stores/search.ts';
import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { runBatches } from '../../src/engines/operations/run-batches.ts';
import { asApiError, type ErrorKind, fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Decided } from '../../src/ports/engines/decision.ts';
import type { Embedded } from '../../src/ports/engines/embedding.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import type { KeyedPipeline, Reply } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { VectorStores } from '../../src/ports/vector-stores.ts';
import { caller, exchange, harness, lease, model, usageLog } from '../chat/fixtures.ts';
import { shared } from '../shared.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Read {
  readonly tokens: number;
}

/** A request that reads so many tokens per part, one input each. */
const started = (keep?: UsageLog['record']) => {
  const { events, usage } = usageLog(keep);
  const billed = { exchange: exchange(), caller, task: { model: model() }, lease: lease(3) };
  const account = inputAccount(shared<Offload>({} as Offload), '/embeddings', {
    inputsOf: (_: Read) => 1,
    readings: () => [],
  })(billed);
  const admitted = { ...billed, account };
  const source = new Subject<Read>();
  const seen: string[] = [];
  const subscription = source
    .pipe(lift(count<Read>(), admitted), lift(recordValue<Read>(usage), admitted))
    .subscribe({
      next: ({ tokens }) => seen.push(String(tokens)),
      error: (error) => seen.push(error.message),
      complete: () => seen.push('end'),
    });
  const read = (...parts: readonly number[]) => parts.map((tokens) => source.next({ tokens }));
  return { events, source, read, seen, subscription, exchange: billed.exchange };
};

t.test('recordValue', async (t) => {
  t.test('the last part waits for the usage event', async (t) => {
    const kept = new Subject<void>();
    const { events, source, read, seen, subscription } = started(() => kept);
    read(5);
    read(7);
    source.complete();
    t.same(seen, ['5']);
    t.match(events, [
      {
        outcome: 'completed',
        status: 200,
        quantities: { prompt_tokens: 12, inputs: 2 },
        cost: '0.000012',
        queued_ms: 3,
      },
    ]);
    kept.complete();
    t.same(seen, ['5', '7', 'end']);
    subscription.unsubscribe();
    t.equal(events.length, 1);
  });

  t.test('no response without a usage event', async (t) => {
    const { source, read, seen } = started(() => throwError(() => fail('unavailable', 'disk full')));
    read(5);
    source.complete();
    t.same(seen, ['disk full']);
  });

  t.test('a failure is passed on unchanged', async (t) => {
    const { events, source, read, seen } = started(() => throwError(() => fail('unavailable', 'disk full')));
    read(5);
    source.error(fail('timeout', 'late'));
    t.same(seen, ['late']);
    t.match(events, [{ outcome: 'failed', status: 504, quantities: { prompt_tokens: 5 }, cost: '0' }]);
  });

  t.test('a disconnect is billed for the work done', async (t) => {
    const { events, source, read, subscription } = started();
    read(5);
    subscription.unsubscribe();
    t.notOk(source.observed);
    t.match(events, [
      { outcome: 'cancelled', status: 499, quantities: { prompt_tokens: 5, inputs: 1 }, cost: '0.000005' },
    ]);
  });
});

t.test('gather', async (t) => {
  const scheduler = new TestScheduler((found, wanted) => t.same(found, wanted));
  const joined = gather((parts: readonly string[], { mark }: { mark: string }) => parts.join(mark));
  const context = { exchange: exchange(), mark: '+' };
  scheduler.run(({ cold, expectObservable, expectSubscriptions }) => {
    const source = cold('-a-b|');
    expectObservable(source.pipe(lift(joined, context))).toBe('----(x|)', { x: 'a+b' });
    expectSubscriptions(source.subscriptions).toBe('^---!');
    expectObservable(cold<string>('-a-#').pipe(lift(joined, context))).toBe('---#');
    const left = cold<string>('-a-b|');
    expectObservable(left.pipe(lift(joined, context)), '^-!').toBe('---');
    expectSubscriptions(left.subscriptions).toBe('^-!');
  });
});

t.test('a stage that throws', async (t) => {
  const store = { id: 'vs_1', model: 'mock/chat' } as VectorStoreRecord;
  const vectorStores = { get: async () => store } as unknown as VectorStores;
  const embedded = (vectors: unknown, tokens = 5) => of({ first: 0, vectors, tokens } as Embedded);
  const decided = of({ question: 0, logprobs: 1, tokens: 5 } as unknown as Decided);
  const texts = { model: 'mock/chat', input: 'moon' };
  const question = { type: 'noul', instructions: 'Is it late?' };
  const broken = (): never => {
    throw new Error('broken');
  };
  const cases: readonly [string, (ports: Ports) => KeyedPipeline, unknown, Partial<Engine>][] = [
    ['the call', embeddings, texts, { embed: broken }],
    ['counting', embeddings, texts, { embed: () => embedded(null) }],
    ['framing embeddings', embeddings, texts, { embed: () => embedded([null]) }],
    [
      'framing decisions',
      systemOne,
      { model: 'mock/chat', state: 'x', questions: { a: question } },
      { decide: () => decided },
    ],
    [
      'gathering vectors',
      (ports) => vectorStoreSearch(ports, readInputSearch),
      { input: 'moon' },
      { embed: () => embedded([Buffer.from('no JSON')]) },
    ],
  ];
  for (const [stage, pipeline, body, engine] of cases) {
    const engines = { of: () => ({ chat: () => NEVER, ...engine }) } as unknown as Ports['engines'];
    const { ports, leases, events } = harness(undefined, { engines, vectorStores });
    const request = { exchange: exchange(body), caller };
    const replies = lastValueFrom(pipeline(ports)(request.exchange, request));
    const status = await replies.then(
      (reply) => reply,
      (error) => asApiError(error).status,
    );
    t.equal(status, 500, stage);
    t.same(
      leases.map(({ released }) => released),
      [1],
    );
    t.match(events, [{ outcome: 'failed', status: 500, cost: '0' }]);
    t.equal(events.length, 1);
  }
});

t.test('mapErrors with the errors of decisions', async (t) => {
  const scheduler = new TestScheduler((found, wanted) => t.same(found, wanted));
  const context = { exchange: exchange() };
  const became = (kind: ErrorKind): string => {
    let after = '';
    throwError(() => fail(kind, 'why', { headers: { 'retry-after': '3' } }))
      .pipe(lift(mapErrors(decisionError), context))
      .subscribe({
        error: (error) => (after = `${error.status} ${error.message} ${error.headers['retry-after']}`),
      });
    return after;
  };
  t.same(
    (['invalid_request', 'unavailable', 'timeout', 'rate_limited', 'not_found', 'overloaded'] as const).map(
      became,
    ),
    [422, 529, 502, 429, 404, 529].map((status) => `${status} why 3`),
  );
  scheduler.run(({ cold, expectObservable, expectSubscriptions }) => {
    const source = cold('-a-b|');
    expectObservable(source.pipe(lift(mapErrors(decisionError), context))).toBe('-a-b|');
    expectSubscriptions(source.subscriptions).toBe('^---!');
  });
});

t.test('PacedBytes', async (t) => {
  const started = (
    pieces: Iterable<string | Uint8Array>,
    onBytes: (backpressure: Backpressure) => void = () => undefined,
  ) => {
    const backpressure = new Backpressure();
    const sent: Buffer[] = [];
    let ended = false;
    const subscription = new Observable<Reply>((subscriber) => {
      const paced = new PacedBytes(pieces, backpressure, subscriber);
      paced.start();
      return () => paced.stop();
    }).subscribe({
      next: (reply) => {
        if (reply.kind === 'bytes') sent.push(Buffer.from(reply.bytes));
        onBytes(backpressure);
      },
      complete: () => {
        ended = true;
      },
    });
    return {
      backpressure,
      sent,
      subscription,
      text: () => Buffer.concat(sent).toString('latin1'),
      ended: () => ended,
    };
  };
  const many = Array.from({ length: 5000 }, (_, index) => `"${index}",`);
  const large = Buffer.alloc(20_000, 'x');

  t.test('chunks are merged and cut into 64 KB', async (t) => {
    const huge = 'é'.repeat(150_000);
    const { sent, text, ended } = started([...many, large, 'a', '', huge, large]);
    const all = `${many.join('')}${large}a${huge}${large}`;
    t.ok(ended());
    t.equal(text(), all);
    t.same(
      sent.map(({ length }) => length),
      [65_536, 65_536, 65_536, all.length - 3 * 65_536],
    );
  });

  t.test('each tick has a quota', async (t) => {
    const pieces = Array.from({ length: 100 }, () => large);
    const { sent, ended } = started(pieces);
    t.equal(sent.length, 8, 'half a megabyte');
    await turn();
    t.equal(sent.length, 16);
    for (let count = 0; count < 3; count++) await turn();
    t.equal(sent.length, 31);
    t.ok(ended());
  });

  t.test('chunks follow backpressure', async (t) => {
    const { backpressure, sent, ended, subscription } = started(
      Array.from({ length: 12 }, () => large),
      (to) => to.pause(),
    );
    t.equal(sent.length, 1);
    await turn();
    t.equal(sent.length, 1, 'nothing while it pauses');
    backpressure.resume();
    await turn();
    t.equal(sent.length, 2);
    t.notOk(ended());
    backpressure.resume();
    subscription.unsubscribe();
    await turn();
    t.equal(sent.length, 2, 'nor once it has left');
  });
});

t.test('runBatches', async (t) => {
  const collect = async (source: Observable<unknown>) => {
    const seen: unknown[] = [];
    await new Promise<void>((resolve) =>
      source.subscribe({
        next: (value) => seen.push(value),
        error: (error) => {
          seen.push(error.message);
          resolve();
        },
        complete: () => resolve(),
      }),
    );
    return seen;
  };
  t.same(await collect(runBatches([1, 2, 3], { width: 1, send: (batch) => of(batch * 2) })), [2, 4, 6]);
  t.same(await collect(runBatches([], { width: 1, send: () => NEVER })), [], 'nothing to do');
  t.same(
    await collect(
      runBatches([8], {
        width: 2,
        send: (batch) => (batch > 2 ? throwError(() => fail('invalid_request', 'too large')) : of(batch)),
        refit: (batch) => (batch > 1 ? [batch / 2, batch / 2] : undefined),
      }),
    ),
    [2, 2, 2, 2],
    'smaller ones for one that is refused',
  );
  t.same(
    await collect(
      runBatches([8], {
        width: 2,
        send: () => throwError(() => fail('invalid_request', 'never')),
        refit: (batch) => [batch, batch],
      }),
    ),
    ['never'],
    'not for ever',
  );
  t.same(
    await collect(
      runBatches([1, 2], { width: 2, send: () => throwError(() => fail('unavailable', 'full')) }),
    ),
    ['full'],
    'full without this request',
  );
});
