/** Tests the catalog routes over a real socket: filters, paging, names, formats, failures and SDKs. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { OpenRouter } from '@openrouter/sdk';
import { Validator } from '@seriousme/openapi-schema-validator';
import OpenAI from 'openai';
import { firstValueFrom } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import t from 'tap';
import type { Static } from 'typebox';
import Value from 'typebox/value';
import { health, type Watched } from '../../pipelines/account/health.ts';
import { readPage } from '../../pipelines/models/query.ts';
import { routes } from '../../pipelines/routes.ts';
import type { Health } from '../../schemas/health.ts';
import { MessagesModelList, ModelEntry, ModelList, ModelResponse } from '../../schemas/model-entry.ts';
import { MusicJob } from '../../schemas/music.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { ApiError, type ErrorKind, fail } from '../../src/errors.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { jobClient } from '../jobs/job-client.ts';
import { callsOf, text } from '../vector-store/stores.ts';

const catalog = `
models:
  acme/writer:
    engine: simulator
    name: Writer
    created: 1767225600
    hugging_face_id: Acme-AI/Writer-8B
    legacy_ids: [acme/old]
    context_length: 8192
    max_completion_tokens: 2048
    reasoning: { mandatory: false, supports_max_tokens: true }
  acme/viewer:
    engine: simulator
    context_length: 8192
    input_modalities: [text, image]
    supported_parameters: [temperature, tools]
  plain: { engine: simulator, context_length: 100 }
  acme/secret: { engine: simulator, context_length: 100, private: true }
  acme/gone: { engine: simulator, context_length: 100, served: false }
  acme/embed-a: { engine: simulator, kind: embedding, context_length: 512, pricing: { prompt: '0.00000002' } }
  acme/embed-b: { engine: simulator, kind: embedding, context_length: 512 }
  acme/embed-c: { engine: simulator, kind: embedding, context_length: 512 }
  acme/picture:
    engine: simulator
    kind: image
    pricing: { completion: '0.01' }
    capabilities: { image: { max_prompt_length: 100, streaming: false, parameters: { size: { type: constraint, multiple_of: 16, min_area: 65536, max_area: 65536, max_ratio: 1, default: 256x256 }, output_format: { type: enum, values: [png] } } } }
  acme/ruleless: { engine: simulator, kind: image }
  acme/song: { engine: simulator, kind: music, capabilities: { music: { duration: { min: 2, max: 9, default: 2 }, formats: [wav], max_outputs: 1, streaming: { progressive: true, sample_rate: 16000, channels: 1 }, render_time: 0.5 } } }
  acme/songless: { engine: simulator, kind: music }
  acme/clipless: { engine: simulator, kind: video }
  acme/voice: { engine: simulator, kind: speech, voices: [ada], per_request_limits: { max_prompt_length: 4096 } }
`;
const chats = ['acme/writer', 'acme/viewer', 'plain'];
const embeds = ['acme/embed-a', 'acme/embed-b', 'acme/embed-c'];
const all = [...chats, ...embeds, 'acme/picture', 'acme/song', 'acme/voice'];
const chatsTwice = chats.flatMap((id) => [id, `anthropic/${id}`]);

interface Said<Body> {
  readonly status: number;
  readonly body: Body;
}

type List = Static<typeof ModelList>;
type MessagesList = Static<typeof MessagesModelList>;
type One = Static<typeof ModelResponse>;

interface OpenApi {
  readonly info: { readonly version: string };
  readonly servers: unknown;
  readonly paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  readonly operationId: string;
  readonly security?: unknown;
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: unknown }> }>;
}

/** `Body` is what a success should have; what an answer really has is compared or checked as a whole. */
const ask = async <Body>(
  gateway: TestGateway,
  path: string,
  headers: Record<string, string> = {},
): Promise<Said<Body>> => {
  const response = await fetch(`${gateway.url}${path}`, { headers, redirect: 'error' });
  return { status: response.status, body: (await response.json()) as Body };
};

const invalid = (message: string) => envelope(400, message, 'validation_error', 'invalid_request');
const notFound = (message: string) => envelope(404, message, 'not_found_error', 'not_found');
const withKey = (gateway: TestGateway) => ({ authorization: `Bearer ${gateway.key}` });
const version = { 'anthropic-version': '2023-06-01' };
const idsOf = (said: Said<List | MessagesList>): string[] => said.body.data.map((entry) => entry.id);

const refusal = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

t.test('routes', async (t) => {
  const gateway = await startGateway({ catalog });
  t.teardown(() => gateway.stop());
  const get = <Body = List>(path: string, headers?: Record<string, string>) =>
    ask<Body>(gateway, path, headers);

  t.test('GET /models: filters', async (t) => {
    const sdk = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk' };
    const cases: readonly [query: string, headers: Record<string, string>, ids: readonly string[]][] = [
      ['', {}, all],
      ['', sdk, chats],
      ['', { 'user-agent': 'ai-sdk/OpenRouter/3.1.0' }, chats],
      ['', { 'user-agent': 'OpenAI/JS 6.49.0' }, all],
      ['?format=openrouter', {}, chats],
      ['?format=other', {}, all],
      ['?output_modalities=all', sdk, all],
      ['?output_modalities=all&format=openrouter', {}, all],
      ['?output_modalities=image', sdk, ['acme/picture']],
      ['?output_modalities=image,music', {}, ['acme/picture', 'acme/song']],
      ['?output_modalities=image&output_modalities=text', {}, [...chats, 'acme/picture']],
      ['?output_modalities=%20Image%20,', {}, ['acme/picture']],
      ['?output_modalities=embeddings', {}, embeds],
      ['?output_modalities=smell', {}, []],
      ['?output_modalities=', {}, all],
      ['?input_modalities=image', {}, ['acme/viewer']],
      ['?input_modalities=text,image', {}, ['acme/viewer']],
      ['?supported_parameters=tools', {}, chats],
      ['?supported_parameters=tools,reasoning', {}, ['acme/writer']],
      ['?supported_parameters=temperature&output_modalities=speech', {}, ['acme/voice']],
      ['?category=programming&q=zzz&sort=newest&zdr=true', {}, all],
    ];
    for (const [query, headers, ids] of cases) {
      const list = await get(`/models${query}`, headers);
      t.same([list.status, idsOf(list), list.body.total_count], [200, ids, ids.length], query);
      t.ok(Value.Check(ModelList, list.body));
      t.same(
        (await get(`/models/count${query}`, headers)).body,
        { data: { count: ids.length } },
        `count ${query}`,
      );
    }
  });

  t.test('paging of /models and /embeddings/models', async (t) => {
    for (const [path, ids] of [
      ['/models', all],
      ['/embeddings/models', embeds],
    ] as const) {
      const last = ids.length - 1;
      const cases: readonly [query: string, ids: readonly string[], next: string | null][] = [
        ['', ids, null],
        ['?limit=2', ids.slice(0, 2), `/v1${path}?limit=2&offset=2`],
        ['?offset=1', ids.slice(1), null],
        ['?offset=1&limit=1', ids.slice(1, 2), `/v1${path}?offset=2&limit=1`],
        [`?offset=${last}&limit=1000`, ids.slice(last), null],
        ['?offset=999', [], null],
        ['?limit=500&offset=0', ids, null],
      ];
      for (const [query, shown, next] of cases) {
        const list = await get(`${path}${query}`);
        t.same(
          [idsOf(list), list.body.total_count, list.body.links],
          [shown, ids.length, { next }],
          path + query,
        );
      }
      const badLimit = invalid('limit must be an integer from 1 to 1000');
      const badOffset = invalid('offset must be an integer of at least 0');
      for (const bad of ['0', '1001', '-1', '1.5', 'ten', '', '1e2', '%2B5', '99999999999999999999'])
        t.same(await get(`${path}?limit=${bad}`), { status: 400, body: badLimit }, `limit ${bad}`);
      for (const bad of ['-1', '0.5', 'x', '', '0x10', '99999999999999999999'])
        t.same(await get(`${path}?offset=${bad}`), { status: 400, body: badOffset }, `offset ${bad}`);
    }
    const page = (query: string) => readPage(new URLSearchParams(query));
    t.equal(page(''), undefined, 'the whole list, however long');
    t.same(page('offset=3'), { offset: 3, limit: 500 });
    t.same(page('limit=1000'), { offset: 0, limit: 1000 });
    const [embed] = (await get('/embeddings/models')).body.data;
    t.same(embed?.architecture.output_modalities, ['embeddings']);
    t.same([embed?.context_length, embed?.pricing], [512, { prompt: '0.00000002', completion: '0' }]);
  });

  t.test('public routes ignore a key, even a wrong one', async (t) => {
    for (const path of [
      '/models',
      '/models/count',
      '/model/acme/writer',
      '/embeddings/models',
      '/openapi.json',
    ])
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': 'wrong' }])
        t.equal((await get(path, headers as Record<string, string>)).status, 200, path);
    t.same(
      routes(gateway.ports).flatMap(({ access, method, path }) =>
        access === 'public' ? [`${method} ${path}`] : [],
      ),
      [
        'GET /models',
        'GET /models/count',
        'GET /model/{author}/{slug+}',
        'GET /embeddings/models',
        'GET /blobs/{name+}',
        'GET /openapi.json',
      ],
      'the contract’s, links that carry their own signature, and the description of it all',
    );
    for (const path of ['/models/acme/writer', '/health']) {
      t.same(
        await get(path),
        { status: 401, body: envelope(401, 'No API key provided', 'auth_error', 'authentication') },
        path,
      );
      t.same(await get(path, { 'x-api-key': 'wrong' }), {
        status: 401,
        body: envelope(401, 'Invalid API key', 'auth_error', 'authentication'),
      });
    }
  });

  t.test('GET /model/{author}/{slug}', async (t) => {
    for (const [path, id] of [
      ['acme/writer', 'acme/writer'],
      ['anyone/writer', 'acme/writer'],
      ['anyone/acme%2Fwriter', 'acme/writer'],
      ['anyone/acme/writer', 'acme/writer'],
      ['anyone/plain', 'plain'],
      ['acme/writer%3Aexpress', 'acme/writer'],
      ['acme/writer:free', 'acme/writer'],
      ['acme-ai/writer-8b', 'acme/writer'],
      ['anyone/ACME-AI%2FWRITER-8B', 'acme/writer'],
      ['acme/old', 'acme/writer'],
      ['anyone/acme%2Fold', 'acme/writer'],
    ] as const) {
      const said = await get<One>(`/model/${path}`);
      t.same([said.status, said.body.data.id], [200, id], path);
      t.ok(Value.Check(ModelResponse, said.body));
    }
    for (const [path, name] of [
      ['acme/nothing', 'acme/nothing'],
      ['acme/secret', 'acme/secret'],
      ['acme/gone', 'acme/gone'],
      ['acme/ruleless', 'acme/ruleless'],
      ['acme/songless', 'acme/songless'],
      ['acme/clipless', 'acme/clipless'],
      ['anyone/acme%2Fgone', 'anyone/acme/gone'],
    ] as const)
      t.same(await get(`/model/${path}`), { status: 404, body: notFound(`No model named "${name}"`) }, path);
    t.equal((await get('/model/acme')).status, 404);
    t.same(await get('/model/acme/%zz'), {
      status: 400,
      body: invalid('slug in the path is not valid percent-encoding'),
    });
  });

  t.test('GET /models/{id}', async (t) => {
    const key = withKey(gateway);
    const list = (await get('/models')).body.data;
    for (const [path, id] of [
      ['acme/writer', 'acme/writer'],
      ['acme%2Fwriter', 'acme/writer'],
      ['plain', 'plain'],
      ['acme/picture', 'acme/picture'],
      ['anthropic/acme/writer', 'acme/writer'],
    ] as const) {
      const said = await get(`/models/${path}`, key);
      t.same(
        said,
        { status: 200, body: list.find((entry) => entry.id === id) },
        `${path}: as the list shows it`,
      );
    }
    const secret = await get('/models/acme/secret', key);
    t.equal(secret.status, 200, 'who knows a private id and has a key may read it');
    t.ok(Value.Check(ModelEntry, secret.body));
    for (const id of [
      'Acme/writer',
      'acme/writer:express',
      'acme/old',
      'acme/gone',
      'nothing',
      'acme-ai/writer-8b',
    ])
      t.same(await get(`/models/${id}`, key), { status: 404, body: notFound(`No model named "${id}"`) }, id);
  });

  t.test('the messages format', async (t) => {
    const key = withKey(gateway);
    const first = {
      type: 'model',
      id: 'acme/writer',
      display_name: 'Writer',
      created_at: '2026-01-01T00:00:00.000Z',
      max_input_tokens: 8192,
      max_tokens: 2048,
      capabilities: null,
      lifecycle: 'active',
      line: null,
      deprecated_at: null,
      retires_at: null,
    };
    const list = await get<MessagesList>('/models', version);
    t.ok(Value.Check(MessagesModelList, list.body));
    t.same(list.body.data[0], first);
    t.same(
      [idsOf(list), list.body.has_more, list.body.first_id, list.body.last_id],
      [chatsTwice, false, 'acme/writer', 'anthropic/plain'],
    );
    const cases: readonly [query: string, ids: readonly string[], more: boolean][] = [
      ['limit=2', chatsTwice.slice(0, 2), true],
      ['limit=6', chatsTwice, false],
      ['limit=1000', chatsTwice, false],
      ['limit=2&after_id=anthropic/acme/writer', chatsTwice.slice(2, 4), true],
      ['after_id=acme%2Fviewer', chatsTwice.slice(3), false],
      ['after_id=anthropic/plain', [], false],
      ['limit=2&before_id=plain', chatsTwice.slice(2, 4), true],
      ['limit=4&before_id=plain', chatsTwice.slice(0, 4), false],
      ['before_id=acme/writer', [], false],
    ];
    for (const [query, ids, more] of cases) {
      const page = await get(`/models?${query}`, version);
      t.same(
        page.body,
        {
          data: list.body.data.filter((model) => ids.includes(model.id)),
          has_more: more,
          first_id: ids[0] ?? null,
          last_id: ids.at(-1) ?? null,
        },
        query,
      );
    }
    const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
    for (const [query, message] of [
      ['limit=0', 'limit must be an integer from 1 to 1000'],
      ['limit=1001', 'limit must be an integer from 1 to 1000'],
      ['after_id=nothing', 'after_id must be the id of a model of this list'],
      ['before_id=acme/picture', 'before_id must be the id of a model of this list'],
      ['before_id=plain&after_id=plain', 'after_id and before_id cannot be sent together'],
    ] as const)
      t.match(
        await get(`/models?${query}`, version),
        { status: 400, body: error('invalid_request_error', message) },
        query,
      );
    t.same(await get('/models/acme/writer', { ...key, ...version }), { status: 200, body: first });
    t.same(await get('/models/anthropic%2Facme%2Fwriter', { ...key, 'anthropic-version': 'of tomorrow' }), {
      status: 200,
      body: { ...first, id: 'anthropic/acme/writer' },
    });
    for (const id of ['acme/picture', 'acme/secret', 'nothing'])
      t.match(
        await get(`/models/${id}`, { ...key, ...version }),
        { status: 404, body: error('not_found_error', `No model named "${id}"`) },
        id,
      );
    t.match(await get('/models/acme/writer', version), {
      status: 401,
      body: error('authentication_error', 'No API key provided'),
    });
  });

  t.test('openai', async (t) => {
    const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key });
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    t.same(ids, all);
    t.match(await client.models.retrieve('acme/writer'), {
      id: 'acme/writer',
      object: 'model',
      owned_by: 'acme',
      created: 1_767_225_600,
    });
    t.type(await refusal(client.models.retrieve('nothing')), OpenAI.NotFoundError);
  });

  t.test('@anthropic-ai/sdk', async (t) => {
    const client = new Anthropic({ baseURL: gateway.root, apiKey: gateway.key });
    const ids: string[] = [];
    for await (const model of client.models.list({ limit: 2 })) ids.push(model.id);
    t.same(ids, chatsTwice, 'three pages');
    const page = await client.models.list({ limit: 2, before_id: 'plain' });
    t.same([page.data.map((model) => model.id), page.hasNextPage()], [chatsTwice.slice(2, 4), true]);
    t.match(await client.models.retrieve('anthropic/acme/writer'), {
      id: 'anthropic/acme/writer',
      display_name: 'Writer',
    });
    t.match(await refusal(client.models.retrieve('acme/picture')), { status: 404, type: 'not_found_error' });
  });

  t.test('@openrouter/sdk', async (t) => {
    const client = new OpenRouter({
      serverURL: gateway.url,
      apiKey: gateway.key,
      retryConfig: { strategy: 'none' },
    });
    const listed = async (request?: { outputModalities: string }) => {
      const ids: string[] = [];
      for await (const page of await client.models.list(request))
        ids.push(...page.result.data.map((model) => model.id));
      return ids;
    };
    t.same(await listed(), chats, 'text models by default');
    t.same(await listed({ outputModalities: 'all' }), all);
    t.same(await client.models.count(), { data: { count: chats.length } });
    t.same(await client.models.count({ outputModalities: 'all' }), { data: { count: all.length } });
    t.match(await client.models.get({ author: 'acme', slug: 'writer:express' }), {
      data: { id: 'acme/writer', reasoning: { mandatory: false, supportsMaxTokens: true } },
    });
    const embeddings: string[] = [];
    for await (const page of await client.embeddings.listModels())
      embeddings.push(...page.result.data.map((model) => model.id));
    t.same(embeddings, embeds);
    t.match(await refusal(client.models.get({ author: 'acme', slug: 'nothing' })), { statusCode: 404 });
  });

  t.test('GET /health', async (t) => {
    const said = await get<Health>('/health', withKey(gateway));
    const { time, ...rest } = said.body;
    t.same(
      { status: said.status, body: rest },
      {
        status: 200,
        body: { status: 'ok', version: '1.4.0', checks: { catalog: 'ok', engines: 'ok', storage: 'ok' } },
      },
    );
    t.ok(Number.isInteger(time) && Math.abs(time - Date.now() / 1000) < 60);
  });

  t.test('GET /openapi.json is valid OpenAPI 3.1 and has every route', async (t) => {
    const { body } = await get<OpenApi>('/openapi.json');
    const validator = new Validator();
    const result = await validator.validate({ ...body });
    t.ok(result.valid, JSON.stringify(result.errors));
    t.equal(validator.version, '3.1');
    t.equal(body.info.version, '1.4.0');
    t.same(body.servers, [{ url: gateway.url, description: 'This gateway' }]);
    t.same(Object.keys(body.paths), [
      ...new Set(routes(gateway.ports).map((route) => route.path.replace('+}', '}'))),
    ]);
    t.same(body.paths['/models']?.get?.security, []);
    t.equal('security' in (body.paths['/health']?.get ?? {}), false);
    t.same(Object.keys(body.paths['/models/{id}']?.get?.responses ?? {}).sort(), [
      '200',
      '400',
      '401',
      '404',
      '500',
      '502',
      '503',
    ]);
    t.same(body.paths['/model/{author}/{slug}']?.get?.responses['200']?.content['application/json']?.schema, {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/components/schemas/ModelEntry' } },
    });
    const operations = Object.values(body.paths).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    );
    t.equal(new Set(operations).size, operations.length, 'operation ids are unique');
  });
});

t.test('every SDK reads the default catalog', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const expected = defaultCatalog.models.map((model) => model.id);
  const openRouter = new OpenRouter({ serverURL: gateway.url, retryConfig: { strategy: 'none' } });
  const ids: string[] = [];
  for await (const page of await openRouter.models.list({ outputModalities: 'all' }))
    ids.push(...page.result.data.map((model) => model.id));
  t.same(ids, expected);
  const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key });
  t.same(
    (await openai.models.list()).data.map((model) => model.id),
    expected,
  );
  const anthropic = new Anthropic({ baseURL: gateway.root, apiKey: gateway.key });
  t.equal(
    (await anthropic.models.list({ limit: 1000 })).data.length,
    2 * defaultCatalog.models.filter((model) => model.kind === 'chat').length,
  );
});

t.test('health reports what is wrong', async (t) => {
  const needing = (...engines: string[]) => engines.map((engine) => ({ engine }));
  const fine: Watched = {
    catalog: { list: () => [], inService: () => needing('a', 'b') },
    engines: { health: () => ({ simulator: 'ok', a: 'ok', b: 'ok' }) },
    state: { check: async () => {} },
    blobs: { check: async () => {} },
    vectors: { check: async () => {} },
  };
  const lost = (kind: ErrorKind): Watched['catalog'] => ({
    list: () => {
      throw fail(kind, 'lost');
    },
    inService: () => [],
  });
  const down: Watched['state'] = { check: () => Promise.reject(new Error('refused')) };
  const said = (watched: Partial<Watched>): Promise<unknown> =>
    firstValueFrom(health({ ...fine, ...watched })(undefined, undefined)).then(
      (answer) => {
        const { status, checks } = JSON.parse(String(answer.body));
        return [status, checks.catalog, checks.engines, checks.storage];
      },
      (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.message}` : error),
    );
  t.same(await said({}), ['ok', 'ok', 'ok', 'ok']);
  const words = (a: 'ok' | 'down', b: 'ok' | 'down'): Watched['engines'] => ({
    health: () => ({ simulator: 'ok', a, b }),
  });
  const needs = (...engines: string[]): Watched['catalog'] => ({
    list: () => [],
    inService: () => needing(...engines),
  });
  t.same(await said({ engines: words('down', 'down'), catalog: needs() }), ['ok', 'ok', 'ok', 'ok']);
  t.same(await said({ engines: words('ok', 'down') }), ['degraded', 'ok', 'degraded', 'ok']);
  t.same(await said({ engines: words('ok', 'down'), catalog: needs('a', 'a') }), ['ok', 'ok', 'ok', 'ok']);
  t.same(await said({ catalog: lost('engine_unreachable') }), ['degraded', 'degraded', 'ok', 'ok']);
  t.same(await said({ blobs: down }), ['degraded', 'ok', 'ok', 'degraded']);
  t.same(await said({ vectors: down }), ['degraded', 'ok', 'ok', 'degraded']);
  t.same(
    await said({ engines: words('down', 'down') }),
    '503 Down: engines',
    'the simulator is up, but no model uses it',
  );
  t.same(await said({ engines: words('down', 'down'), catalog: needs('a', 'simulator') }), [
    'degraded',
    'ok',
    'degraded',
    'ok',
  ]);
  t.same(await said({ catalog: lost('unavailable'), state: down }), '503 Down: catalog, storage');
  const silent: Watched = { ...fine, state: { check: () => new Promise(() => {}) } };
  new TestScheduler((actual, expected) => t.same(actual, expected)).run(({ expectObservable }) => {
    expectObservable(health(silent)(undefined, undefined)).toBe(
      '2s #',
      undefined,
      fail('unavailable', 'Down: storage'),
    );
  });
});

t.test('reload', async (t) => {
  const gateway = await startGateway({ catalog });
  t.teardown(() => gateway.stop());
  const get = <Body = List>(path: string, headers?: Record<string, string>) =>
    ask<Body>(gateway, path, headers);
  const ids = async () => idsOf(await get('/models'));
  const use = async (path: string, model: string): Promise<Said<unknown>> => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { ...withKey(gateway), 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    return { status: response.status, body: await response.json() };
  };
  const write = (text: string) => {
    // As editors and deployers do: a new file in the old one's place.
    const fresh = join(gateway.folder, 'fresh.yaml');
    writeFileSync(fresh, text);
    renameSync(fresh, gateway.configFile);
  };
  const one = 'models:\n  acme/one: { engine: simulator, context_length: 100 }\n';

  t.same(await ids(), all);
  write(one);
  t.ok(await eventually(async () => (await ids()).join() === 'acme/one'), 'a changed file is read by itself');

  write(`${one}  acme/two: { engine: simulator, contxt_length: 10 }\n`);
  gateway.reload();
  t.same(await ids(), ['acme/one'], 'a bad file is refused');
  t.match(
    gateway.logLines.findLast((line) => line.msg.startsWith('catalog')),
    {
      level: 50,
      msg: /sluice\.yaml:3:34 models\.acme\/two\.contxt_length is not a known field; did you mean context_length\?/,
    },
  );

  const before = gateway.logLines.length;
  for (const empty of ['', 'models:\n', 'models: {}\n']) {
    write(empty);
    gateway.reload();
    t.same(await ids(), ['acme/one'], `a file without models is refused: ${JSON.stringify(empty)}`);
    t.equal((await use('/chat/completions', 'acme/one')).status, 200);
  }
  const refusals = gateway.logLines.slice(before).filter(({ msg }) => msg.startsWith('catalog'));
  t.ok(refusals.every(({ level }) => level === 50));
  t.same(
    [...new Set(refusals.map(({ msg }) => msg.slice(msg.indexOf('sluice.yaml'))))],
    [
      'sluice.yaml:1:1 models is missing',
      'sluice.yaml:1:1 models must be a map of fields',
      'sluice.yaml:1:1 models must have at least one model',
    ],
  );

  rmSync(gateway.configFile);
  gateway.reload();
  const unreadable = envelope(
    502,
    'The model catalog cannot be read at the moment; retry',
    'server_error',
    'provider_unavailable',
  );
  const key = withKey(gateway);
  for (const path of [
    '/models',
    '/models/count',
    '/model/acme/one',
    '/embeddings/models',
    '/models/acme/one',
  ])
    t.same(await get(path, key), { status: 502, body: unreadable }, `${path} without its file`);
  t.match(await get('/models/acme/one', { ...key, ...version }), {
    status: 502,
    body: { type: 'error', error: { type: 'api_error' } },
  });
  t.equal(gateway.ports.catalog.resolve('acme/one', 'chat').model.id, 'acme/one', 'models stay in service');
  t.equal((await use('/chat/completions', 'acme/one')).status, 200);
  t.match((await get('/health', key)).body, { status: 'degraded', checks: { catalog: 'degraded' } });

  write(`${one}served_list: served.txt\n`);
  gateway.reload();
  const listUnreadable = envelope(
    503,
    'The list of served models cannot be read at the moment; retry',
    'server_error',
    'provider_overloaded',
  );
  for (const path of [
    '/models',
    '/models/count',
    '/model/acme/one',
    '/embeddings/models',
    '/models/acme/one',
  ])
    t.same(await get(path, key), { status: 503, body: listUnreadable }, `${path} without the served list`);
  t.throws(() => gateway.ports.catalog.resolve('acme/one', 'chat'), listUnreadable.error.message);
  t.same(await use('/chat/completions', 'acme/one'), { status: 503, body: listUnreadable });
  t.match(await use('/messages', 'acme/one'), {
    status: 503,
    body: { type: 'error', error: { type: 'api_error', message: listUnreadable.error.message } },
  });
  t.same(await get('/health', key), {
    status: 503,
    body: envelope(503, 'Down: catalog', 'server_error', 'provider_overloaded'),
  });

  writeFileSync(join(gateway.folder, 'served.txt'), '# deployed now\nacme/one # first\n\nacme/no-row\n');
  t.ok(await eventually(async () => (await get('/models')).status === 200), 'the list is watched as well');
  t.same(await ids(), ['acme/one']);
  t.equal((await get('/models/acme/no-row', key)).status, 404, 'served, but its row is missing');
  t.same(await use('/chat/completions', 'acme/no-row'), {
    status: 404,
    body: notFound('No model named "acme/no-row"'),
  });
  writeFileSync(join(gateway.folder, 'served.txt'), '');
  gateway.reload();
  t.same(await ids(), [], 'nothing deployed is no failure');
});

t.test('without its file the loaded catalog is still served', async (t) => {
  const gateway = await startGateway({
    catalog: `
models:
  acme/embed: { engine: simulator, kind: embedding, context_length: 512, capabilities: { embedding: { dimensions: 64 } } }
  acme/decide: { engine: simulator, kind: decision, context_length: 512 }
  acme/song: { engine: simulator, kind: music, capabilities: { music: { duration: { min: 2, max: 9, default: 2 }, formats: [wav], max_outputs: 1, streaming: { progressive: true, sample_rate: 16000, channels: 1 }, render_time: 0.5 } } }
`,
  });
  t.teardown(() => gateway.stop());
  const { call, create, add, search } = callsOf(gateway.url, gateway.key);
  const store = await create();
  rmSync(gateway.configFile);
  gateway.reload();
  t.equal((await ask(gateway, '/models')).status, 502);

  t.match(await add(store.id, text('The moon pulls on the sea.')), {
    status: 201,
    body: { status: 'completed', item_count: 1 },
  });
  t.match(await search(store.id, 'the sea'), [{ content: [{ text: 'The moon pulls on the sea.' }] }]);

  const questions = { a: { type: 'noul', instructions: 'Is it?' } };
  t.match(await call('POST', '/systemone', { model: 'decide', state: 'x', questions }), {
    status: 200,
    body: { model: 'acme/decide' },
  });

  const music = jobClient(t, gateway, { path: '/music', model: 'acme/song', job: MusicJob });
  const { id, stream_url = '' } = await music.create({ prompt: '/sim render=0s' });
  const heard = await fetch(stream_url, { headers: withKey(gateway) });
  t.equal(heard.status, 200);
  t.equal(Buffer.from(await heard.arrayBuffer()).readUInt32LE(24), 16_000, 'as its row says');
  t.match(await music.final(id), { status: 'completed' });
});
