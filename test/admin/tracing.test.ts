/** Tests trace propagation to engines and logs, and export to a collector that never delays requests. */

import * as fc from 'fast-check';
import { pino } from 'pino';
import t from 'tap';
import { loadConfig } from '../../src/config.ts';
import { Exporter } from '../../src/tracing/exporter.ts';

import { newSpanId, newTraceId, type Span, startSpan } from '../../src/tracing/span.ts';
import { isSampled, propagated, readParent, readState } from '../../src/tracing/trace-context.ts';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { servers } from '../http/servers.ts';
import { startCollector, valuesOf } from './collector.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentId}-01`;

t.test('the traceparent header', async (t) => {
  t.strictSame(readParent(traceparent), { traceId, spanId: parentId, flags: 1 });
  t.strictSame(readParent(`cc-${traceId}-${parentId}-03-later.and.more`)?.flags, 3, 'a later version');
  for (const wrong of [
    '',
    'garbage',
    `00-${traceId}-${parentId}`,
    `${traceparent}-more`,
    `${traceparent}x`,
    `ff-${traceId}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    traceparent.toUpperCase(),
    ` ${traceparent}`,
    `cc-${traceId}-${parentId}-01-${'x'.repeat(300)}`,
  ])
    t.equal(readParent(wrong), undefined, wrong);
});

t.test('the tracestate header', async (t) => {
  t.equal(readState('rojo=00f067aa0ba902b7, congo=t61rcWkgMzE,'), 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
  t.equal(readState('fw529a3039@dt=FfAAAAE:1, *=1'), '', 'one bad member spoils all');
  t.equal(readState('a=1,a=2'), '', 'no key twice');
  t.equal(readState('Upper=1'), '');
  t.equal(readState(Array.from({ length: 33 }, (_, n) => `k${n}=1`).join()), '', 'too many');
  const long = Array.from({ length: 4 }, (_, n) => `k${n}=${'v'.repeat(200)}`).join();
  t.equal(readState(long), long.slice(0, 2 * 203 + 1), 'the newest of what is too long');
});

t.test('header lines stay valid whatever a client sends', async (t) => {
  const whole = /^traceparent: [\da-f-]{55}\r\n(tracestate: [\x20-\x7e]+\r\n)?$/;
  const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (more, state) =>
    [propagated(`01-${traceId}-${parentId}-ff-${more}`, state), propagated(more, state)].every(
      (trace) => trace === undefined || whole.test(trace.lines),
    ),
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500, interruptAfterTimeLimit: 2_000 }));
});

const catalog = (url: string): string => `
engines:
  pool: { wire: openai, replicas: ['${url}'] }
models:
  a/model: { kind: chat, engine: pool, context_length: 8192, tokenizer: simulator }
  a/embed: { kind: embedding, engine: pool, context_length: 512, tokenizer: simulator }
`;

const ask = async (
  gateway: TestGateway,
  headers: Record<string, string>,
  more: object = {},
): Promise<{ status: number; id: string }> => {
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'a/model',
      stream: true,
      messages: [{ role: 'user', content: 'canary-88' }],
      ...more,
    }),
  });
  await response.text();
  return { status: response.status, id: String(response.headers.get('x-request-id')) };
};

const sent = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim();

for (const { name: edge, skip } of servers)
  t.test(`without a collector the trace context is propagated, on ${edge}`, { skip }, async (t) => {
    const engine = await startScriptedEngine((request) => request.answer());
    t.teardown(() => engine.close());
    const gateway = await startGateway({ catalog: catalog(engine.url), env: { SLUICE_EDGE: edge } });
    t.teardown(() => gateway.stop());
    const { id } = await ask(gateway, { traceparent, tracestate: 'rojo=1' });
    await ask(gateway, { traceparent: 'garbage', tracestate: 'rojo=1' });
    await ask(gateway, {});
    t.strictSame(
      engine.requests.map(({ head }) => [
        sent(head, 'traceparent'),
        sent(head, 'tracestate'),
        sent(head, 'x-request-id') !== undefined,
      ]),
      [
        [traceparent, 'rojo=1', true],
        [undefined, undefined, true],
        [undefined, undefined, true],
      ],
    );
    const lines = gateway.logLines.filter(({ msg }) => msg === 'request');
    t.strictSame(
      lines.map(({ trace_id }) => trace_id),
      [traceId, undefined, undefined],
      'the log has the trace',
    );
    t.equal(lines[0]?.request_id, id, 'and the request');
  });

t.test('spans of requests and engine calls', async (t) => {
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const engine = await startScriptedEngine((request) => {
    if (request.body.includes('embed')) request.json(500, { error: { message: 'canary-88' } });
    else request.answer();
  });
  t.teardown(() => engine.close());
  const gateway = await startGateway({
    catalog: catalog(engine.url),
    env: {
      SLUICE_ADMIN_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20sesame',
      OTEL_SERVICE_NAME: 'edge-1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    },
  });
  const { id } = await ask(gateway, { traceparent, tracestate: 'rojo=1' });
  await ask(gateway, { traceparent: `00-${traceId}-${parentId}-00` });
  await ask(gateway, {}, { temperature: 'hot' });
  const failed = await fetch(`${gateway.url}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'a/embed', input: 'embed canary-88' }),
  });
  await failed.text();
  t.match(await (await fetch(`${gateway.adminUrl}/metrics`)).text(), /^sluice_spans_dropped_total 0$/m);
  await gateway.stop();

  t.strictSame(collector.faults, []);
  t.ok(collector.requests.length > 0);
  for (const { path, headers } of collector.requests) {
    t.equal(path, 'POST /v1/traces');
    t.equal(headers['content-type'], 'application/json');
    t.equal(headers.authorization, 'Bearer sesame');
  }
  t.match(collector.resources[0], {
    'service.name': 'edge-1',
    'deployment.environment': 'test',
    'process.pid': String(process.pid),
  });

  const spans = collector.spans.map((span) => ({ ...span, values: valuesOf(span.attributes) }));
  const server = spans.find((span) => span.kind === 2 && span.traceId === traceId);
  t.match(server, {
    parentSpanId: parentId,
    traceState: 'rojo=1',
    name: 'POST /v1/chat/completions',
    status: { code: 0 },
    values: {
      'http.route': '/v1/chat/completions',
      'http.response.status_code': '200',
      'gen_ai.request.model': 'a/model',
      'gen_ai.usage.output_tokens': /^[1-9]\d*$/,
      'sluice.request_id': id,
      'sluice.outcome': 'completed',
    },
    events: [{ name: 'first token' }],
  });
  const client = spans.find((span) => span.kind === 3 && span.traceId === traceId);
  t.match(client, {
    parentSpanId: server?.spanId,
    name: 'POST /chat/completions',
    values: { 'url.full': `${engine.url}/chat/completions`, 'server.address': '127.0.0.1' },
    events: [{ name: 'first byte' }],
  });
  t.ok(BigInt(client?.startTimeUnixNano ?? 0) >= BigInt(server?.startTimeUnixNano ?? 0));
  t.ok(BigInt(server?.endTimeUnixNano ?? 0) >= BigInt(client?.startTimeUnixNano ?? 0));
  const heads = engine.requests.map(({ head }) => sent(head, 'traceparent'));
  t.equal(heads[0], `00-${traceId}-${client?.spanId}-01`, 'the engine is told the span of its call');
  t.equal(heads[1], `00-${traceId}-${parentId}-00`, 'what its parent does not record, we do not');
  t.equal(spans.filter((span) => span.traceId === traceId).length, 2);

  const refused = spans.find(({ values }) => values['http.response.status_code'] === '400');
  t.match(refused, { status: { code: 0 }, values: { 'http.route': '/v1/chat/completions' } });
  t.equal(refused?.parentSpanId, undefined, 'a trace of our own');
  const broken = spans.find((span) => span.kind === 3 && span.name === 'POST /embeddings');
  t.match(broken, { status: { code: 2 }, values: { 'error.type': /./ } });
  t.match(
    spans.find(({ spanId }) => spanId === broken?.parentSpanId),
    { status: { code: 2 }, name: 'POST /v1/embeddings' },
  );
  const text = JSON.stringify(collector.spans);
  for (const secret of ['canary-88', gateway.key, 'sesame'])
    t.notMatch(text, secret, 'nothing of a client is in it');
  const own = gateway.logLines.find((line) => line.msg === 'request' && line.status === 400);
  t.equal(own?.trace_id, refused?.traceId, 'the log has the trace that began here');
});

const span = (): Span => {
  const made = startSpan({
    traceId: newTraceId(),
    spanId: newSpanId(),
    parentId: '',
    state: '',
    name: 'n',
    kind: 'server',
  });
  made.end = made.start + 1;
  return made;
};

t.test('a slow, failing or unavailable collector loses spans and nothing else', async (t) => {
  const collector = await startCollector();
  const lines: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const settings = { headers: {}, timeoutMs: 20_000, resource: {}, version: '1', log, backoffMs: 1 };
  const run = async (url: string, count: number) => {
    const exporter = new Exporter({ ...settings, url });
    for (let n = 0; n < count; n++) exporter.add(span());
    const before = exporter.stats();
    await exporter.close();
    return { before, after: exporter.stats() };
  };
  const url = `${collector.url}/v1/traces`;
  collector.answers.push({ status: 503, headers: { 'retry-after': '0' } }, { status: 429 });
  t.strictSame((await run(url, 2)).after, { exported: 2, dropped: 0, queued: 0 }, 'tried again');
  collector.answers.push({ status: 400 });
  t.strictSame((await run(url, 2)).after, { exported: 0, dropped: 2, queued: 0 }, 'not for ever');
  collector.answers.push({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"1"}}' });
  t.strictSame((await run(url, 3)).after, { exported: 2, dropped: 1, queued: 0 }, 'taken in part');
  const full = await run(url, 5_000);
  t.strictSame(full.before, { exported: 0, dropped: 904, queued: 4096 }, 'the queue is bounded');
  t.strictSame(full.after, { exported: 4096, dropped: 904, queued: 0 });
  await collector.close();
  t.strictSame((await run(url, 2)).after, { exported: 0, dropped: 2, queued: 0 }, 'away');
  t.equal(lines.length, 2, 'each complained once');
  t.strictSame(collector.faults, []);
});

t.test('samplers and settings', async (t) => {
  const sampler = (name: string, ratio?: string) =>
    loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/',
      OTEL_TRACES_SAMPLER: name,
      ...(ratio === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: ratio }),
    }).tracing?.sampler ?? { ratio: Number.NaN, parentBased: false };
  const yes = { traceId, spanId: parentId, flags: 1 };
  const no = { ...yes, flags: 0 };
  const decisions = (name: string, ratio?: string) =>
    [undefined, yes, no].map((parent) => isSampled(sampler(name, ratio), newTraceId(), parent));
  t.strictSame(decisions('always_on'), [true, true, true]);
  t.strictSame(decisions('always_off'), [false, false, false]);
  t.strictSame(decisions('traceidratio', '0'), [false, false, false]);
  t.strictSame(decisions('parentbased_always_on'), [true, true, false]);
  t.strictSame(decisions('parentbased_always_off'), [false, true, false]);
  t.strictSame(decisions('parentbased_traceidratio'), [true, true, false]);
  const taken = Array.from({ length: 2_000 }, newTraceId).filter((id) =>
    isSampled(sampler('traceidratio', '0.25'), id, undefined),
  ).length;
  t.ok(taken > 300 && taken < 700, `${taken} of 2000 at a quarter`);

  t.equal(loadConfig({}).tracing, undefined);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
  t.equal(loadConfig(endpoint).tracing?.url, 'http://c:4318/v1/traces');
  t.equal(loadConfig({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracing, undefined);
  t.equal(loadConfig({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).tracing, undefined);
  t.equal(
    loadConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/in' }).tracing?.url,
    'http://c:4318/in',
  );
  for (const [wrong, message] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4317' }, /must be an address starting with http/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://u:p@c:4318' }, /must hold no password/],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /must be one of http\/json/],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'sesame' }, /must be name=value pairs/],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, /from 0 to 1/],
  ] as const)
    t.throws(() => loadConfig(wrong), { message });
});
