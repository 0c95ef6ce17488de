/** Every stage of every route throws once, injected: it costs that request and nothing else. */
import { pino } from 'pino';
import t from 'tap';
import { Pool } from 'undici';
import type { PartObserver, Transform } from '../../pipelines/core/stage.ts';
import { routes } from '../../pipelines/routes.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { defaultEdgeLimits, listen } from '../../src/http/listen.ts';
import { eventually } from '../eventually.ts';
import { type OpenApi, type Operation, operationsOf } from '../fuzz/document.ts';
import { startFuzzGateway } from '../fuzz/gateway.ts';
import { type PlainRequest, prepareRecords, type Send } from '../fuzz/prepare.ts';
import { Records } from '../fuzz/records.ts';
import { plainRequest } from '../fuzz/requests.ts';
import { servers } from '../http/servers.ts';
import { orLong } from '../long.ts';

type Stage = ((...values: never[]) => unknown) | Transform<unknown, unknown, unknown>;

/** A stage where it stands. */
interface Place {
  readonly stages: Stage[];
  readonly index: number;
  readonly name: string;
  /** Before admission; with a slot; with a slot and an account, so that its usage is recorded. */
  readonly held: Held;
}

const held = ['nothing', 'slot', 'account'] as const;
type Held = (typeof held)[number];

const placesOf = (composed: unknown, path = '', depth = 0): readonly Place[] => {
  const { stages } = composed as { readonly stages: Stage[] };
  return stages.flatMap((stage, index) => {
    const name = `${path}${index}`;
    const own: Place = { stages, index, name, held: held[depth] as Held };
    // `admit`, and `withAccount` inside it.
    if ('inner' in stage) return [own, ...placesOf(stage.inner, `${name}.`, depth + 1)];
    return 'stages' in stage ? [own, ...placesOf(stage, `${name}.`, depth)] : [own];
  });
};

/** All of a route; in `npm test` two of them, others at each turn. */
const triedOf = (places: readonly Place[], turn: number): readonly Place[] => {
  const count = Math.min(places.length, orLong(2, places.length));
  return Array.from({ length: count }, (_, index) => {
    const at = turn + Math.floor((index * places.length) / count);
    return places[at % places.length] as Place;
  });
};

const injected = new Error('injected');
const boom = (): never => {
  throw injected;
};

/** When a transform throws: as it is opened, at its first part, at its second, at the end. */
const moments = ['open', 'first', 'second', 'complete'] as const;
type Moment = (typeof moments)[number];

const thrower = (stage: Stage, moment: Moment, fired: () => void): Stage => {
  const fire = (): never => {
    fired();
    return boom();
  };
  if (typeof stage === 'function') return fire;
  return {
    open: (next, context) => {
      if (moment === 'open') fire();
      const real = stage.open(next, context);
      let parts = 0;
      const observer: PartObserver<unknown> = {
        next: (part) => {
          parts++;
          if ((moment === 'first' && parts === 1) || (moment === 'second' && parts === 2)) fire();
          real.next(part);
        },
        error: (error) => real.error(error),
        complete: () => (moment === 'complete' ? fire() : real.complete()),
        onTeardown: () => real.onTeardown?.(),
      };
      return observer;
    },
  };
};

/** Bodies of the routes that stream when they are asked to. */
const streamed: Readonly<Record<string, object>> = {
  postChatCompletions: { stream: true },
  postCompletions: { stream: true },
  postChatCompletionsRAG: { stream: true },
  postMessages: { stream: true },
  postResponses: { stream: true },
  postImages: { stream: true, response_format: 'b64_json' },
  postAudioSpeech: { stream_format: 'sse', response_format: 'pcm' },
  postAudioTranscriptions: { stream: true },
};

/** The same, and they go on without their client. */
const resumable: Readonly<Record<string, object>> = {
  postChatCompletions: { stream: true, stream_options: { resumable: true } },
  postResponses: { stream: true, background: true },
};

t.test('a throw in any stage of any route costs one request', async (t) => {
  const gateway = await startFuzzGateway();
  const { ports, key } = gateway;
  const events: UsageEvent[] = [];
  const usage = {
    ...ports.usage,
    ensureOpen: () => ports.usage.ensureOpen(),
    record: (event: UsageEvent) => {
      events.push(event);
      return ports.usage.record(event);
    },
  };
  const lines: { readonly msg: string; readonly err?: { readonly message: string } }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const table = routes({ ...ports, usage });
  const edge = await listen({
    routes: table,
    keys: ports.keys,
    log,
    host: '127.0.0.1',
    port: 0,
    shared: false,
    limits: defaultEdgeLimits,
    tracing: undefined,
    edge: servers[0].skip === false ? 'uws' : 'node',
  });
  const pool = new Pool(edge.url, { connections: 4 });
  t.teardown(async () => {
    await pool.destroy();
    await edge.drain(0);
    await gateway.stop();
  });

  const send: Send = async ({ method, path, headers, body }: PlainRequest) => {
    const response = await pool.request({
      method: method as 'GET',
      path: `/v1${path}`,
      headers,
      body: body ?? null,
      signal: AbortSignal.timeout(20_000),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    return { status: response.statusCode, headers: response.headers, body: bytes };
  };
  const openapi = await send({ method: 'GET', path: '/openapi.json', headers: {}, body: undefined });
  const document = JSON.parse(openapi.body.toString()) as OpenApi;
  const setting = { document, key, records: new Records() };
  const finished: Readonly<Record<string, string>> = {
    getVideosByIdContent: await finishedJob(send, key, '/videos', { model: 'sluice/video', duration: 4 }),
    getMusicByIdContent: await finishedJob(send, key, '/music', { model: 'sluice/music', duration: 5 }),
  };
  await prepareRecords(key, setting.records, send);

  const plainOf = (operation: Operation): PlainRequest => {
    const plain = plainRequest(operation, setting);
    const content = finished[operation.id];
    if (content !== undefined) return { ...plain, path: content };
    return operation.path.endsWith('/files') && operation.method === 'POST'
      ? { ...plain, ...textFile }
      : plain;
  };
  const requestsTo = (operation: Operation): readonly PlainRequest[] => {
    const plain = plainOf(operation);
    const changes = [streamed[operation.id], resumable[operation.id]].filter(
      (change) => change !== undefined,
    );
    const changed = changes.map((change) => ({
      ...plain,
      body: Buffer.from(JSON.stringify({ ...JSON.parse(String(plain.body)), ...change })),
    }));
    return [plain, ...changed];
  };

  let injections = 0;
  /** One request to a route whose stage throws. False: the request did not come that far. */
  const inject = async (place: Place, moment: Moment, request: PlainRequest, what: string) => {
    const { stages, index } = place;
    const real = stages[index] as Stage;
    let fired = false;
    const [eventsBefore, linesBefore] = [events.length, lines.length];
    stages[index] = thrower(real, moment, () => {
      fired = true;
    });
    const answer = await send(request)
      .catch((error: unknown) => String(error))
      .finally(() => {
        stages[index] = real;
      });
    if (!fired) return false;
    injections++;
    await eventually(() => ports.admission.stats().running === 0, `the slot of ${what}`);
    const logged = lines.slice(linesBefore).filter(({ err }) => err?.message === injected.message);
    t.equal(logged.length, 1, `${what}: the cause is logged once`);
    if (typeof answer !== 'string') {
      const text = answer.body.toString();
      const told =
        answer.status === 500 ? isPlainError(text) : isErrorEvent(text) || isDelivered(place, moment);
      t.ok(
        told,
        `${what}: 500 before the first byte, an error event after it; got ${answer.status} ${text.slice(-300)}`,
      );
      t.match(answer.headers['x-request-id'], /^req_/, what);
    } else
      t.ok(
        /speech|music|blobs|content/i.test(what) || place.index > recorderOf(stages),
        `${what}: only streams of bytes, and what was recorded before, may be cut: ${answer}`,
      );
    // Both paths of vector stores are billed under one.
    const billed = what.replace('/vector_stores/', '/vector_store/');
    const kept = events
      .slice(eventsBefore)
      .filter(({ route, id }) => billed.includes(`${route} `) && !id.endsWith('_query'));
    if (place.held === 'account') {
      if (place.index < recorderOf(stages))
        t.match(kept, [{ outcome: 'failed', status: 500, cost: '0' }], `${what}: one usage event, failed`);
    } else if (place.held === 'slot') t.strictSame(kept, [], `${what}: nothing to bill, no usage event`);
    return true;
  };

  const missed: string[] = [];
  let turn = 0;
  for (const route of table) {
    const operation = operationsOf(document).find(
      ({ method, path }) => method === route.method && path === route.path.replaceAll('+', ''),
    );
    if (operation === undefined) throw new Error(`${route.method} ${route.path} is not in the document`);
    for (const [variant, request] of requestsTo(operation).entries())
      for (const place of triedOf(placesOf(route.pipeline), turn++)) {
        const isStep = typeof place.stages[place.index] === 'function';
        let reached = false;
        for (const moment of isStep ? (['first'] as const) : moments) {
          const what = `${route.method} ${route.path} ${variant === 0 ? '' : 'streamed '}stage ${place.name} ${moment}`;
          if (await inject(place, moment, request, what)) reached = true;
        }
        if (!reached) missed.push(`${route.method} ${route.path} stage ${place.name}`);
      }
  }
  t.comment(`${injections} injected throws`);
  t.strictSame(missed, [], 'every stage was reached');
  t.ok(injections > orLong(100, 300));

  const chat = operationsOf(document).find(({ id }) => id === 'postChatCompletions') as Operation;
  t.equal((await send(plainRequest(chat, setting))).status, 200, 'the gateway goes on');
});

const textFile = {
  headers: {
    authorization: 'Bearer sk-test-0123456789abcdef0123456789abcdef',
    'content-type': 'multipart/form-data; boundary=b',
  },
  body: Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nWater.\r\n--b--\r\n',
  ),
};

/** The path of a file that can be downloaded. */
const finishedJob = async (send: Send, key: string, path: string, fields: object): Promise<string> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ ...fields, prompt: '/sim render=0s\nA lock' }));
  const created = await send({ method: 'POST', path, headers, body });
  const { id } = JSON.parse(created.body.toString()) as { id: string };
  await eventually(async () => {
    const job = await send({ method: 'GET', path: `${path}/${id}`, headers, body: undefined });
    return (JSON.parse(job.body.toString()) as { status: string }).status === 'completed';
  }, `the job of ${path}`);
  return `${path}/${id}/content`;
};

/** What stands at and behind the recorder cannot change a usage event any more. */
const recorderOf = (stages: readonly Stage[]): number => {
  const last = stages.findLastIndex((stage) => typeof stage !== 'function');
  return stages.length > 4 && String((stages[last] as { open?: unknown }).open).includes('Pac')
    ? last - 1
    : last;
};

/** The whole reply was with the edge when the last stage threw. */
const isDelivered = ({ stages, index }: Place, moment: Moment): boolean =>
  moment === 'complete' && index === stages.length - 1;

const isPlainError = (text: string): boolean => {
  const { error, request_id } = JSON.parse(text) as {
    error: { code?: number; type: string };
    request_id?: string;
  };
  return error.code === 500 || (error.type === 'api_error' && request_id !== undefined);
};

const isErrorEvent = (text: string): boolean => /"error":\{|event: error/.test(text) && text.endsWith('\n\n');
