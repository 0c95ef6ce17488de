/** Route matching, and the errors for requests that match no route. */
import { of } from 'rxjs';
import type { Test } from 'tap';
import { modelDialect } from '../../../pipelines/models/routes.ts';
import { jsonReply, type Pipeline } from '../../../src/ports/exchange.ts';
import { goodKey, slowKey, startEdge } from '../../http/edge-fixture.ts';
import { request } from '../../http/raw-client.ts';
import { keyed, open } from './probe.ts';

const echo =
  (route: string): Pipeline =>
  ({ method, params, query, path }) =>
    of(jsonReply({ route, method, params, query, path }));

const whoAmI = (authorization: string | undefined, apiKey: string | undefined) => ({
  headers: {
    ...(authorization === undefined ? {} : { authorization }),
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  },
});

export const routing = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('paths', async (t) => {
    const { client } = await startEdge(t, name, [
      open('GET', '/models', echo('list')),
      open('GET', '/models/count', echo('count')),
      open('GET', '/models/{id+}', echo('model')),
      open('GET', '/model/{author}/{slug}', echo('public')),
      open('POST', '/store/{id}/search', echo('search')),
      open('DELETE', '/store/{id}/items/{itemid}', echo('item')),
      open('GET', '/store/{id}', echo('store')),
    ]);
    const connection = await client();
    const cases: [string, string, string, Record<string, string>, string?][] = [
      ['GET', '/v1/models', 'list', {}],
      ['GET', '/v1/models/', 'list', {}],
      ['GET', '/v1/models?a=1&b=%20', 'list', {}, 'a=1&b=%20'],
      ['GET', '/v1/models?', 'list', {}],
      ['GET', '/v1/models/count', 'count', {}],
      ['GET', '/v1/models/gpt', 'model', { id: 'gpt' }],
      ['GET', '/v1/models/acme/writer', 'model', { id: 'acme/writer' }],
      ['GET', '/v1/models/acme%2Fwriter', 'model', { id: 'acme/writer' }],
      ['GET', '/v1/models/acme%2fwriter%3Aexpress', 'model', { id: 'acme/writer:express' }],
      ['GET', '/v1/models/acme/writer/', 'model', { id: 'acme/writer' }],
      ['GET', '/v1/models/count/x', 'model', { id: 'count/x' }],
      ['GET', '/v1/models/a%2525', 'model', { id: 'a%25' }],
      ['GET', '/v1/models/..', 'model', { id: '..' }],
      ['GET', '/v1/models/%E2%82%AC', 'model', { id: '€' }],
      ['GET', '/v1/model/a/b%2Fc', 'public', { author: 'a', slug: 'b/c' }],
      ['POST', '/v1/store/vs_1/search', 'search', { id: 'vs_1' }],
      ['POST', '/v1/store/search/search', 'search', { id: 'search' }],
      ['DELETE', '/v1/store/vs_1/items/it_2', 'item', { id: 'vs_1', itemid: 'it_2' }],
      ['GET', '/v1/store/vs_1', 'store', { id: 'vs_1' }],
    ];
    for (const [method, url, route, params, query = ''] of cases) {
      const response = await connection.send(request(method, url)).response();
      t.same(JSON.parse(response.body), { route, method, params, query, path: url.split('?')[0] }, url);
    }
  });

  await t.test('a route table with conflicts', async (t) => {
    const twice = [open('GET', '/a/{id}', echo('a')), open('GET', '/a/{id}', echo('b'))];
    await t.rejects(startEdge(t, name, twice), { message: 'GET /a/{id} is in the route table twice' });
    const names = [open('GET', '/a/{id}', echo('a')), open('POST', '/a/{name}', echo('b'))];
    await t.rejects(startEdge(t, name, names), {
      message: 'POST /a/{name} has other parameter names than GET /a/{id}',
    });
    const early = [open('GET', '/a/{id+}/b', echo('a'))];
    await t.rejects(startEdge(t, name, early), {
      message: 'GET /a/{id+}/b has a {name+} parameter that is not last',
    });
  });

  await t.test('unknown paths, other methods, bad escapes', async (t) => {
    const { client } = await startEdge(t, name, [
      { ...open('GET', '/models/{id+}', echo('model')), errors: modelDialect },
      keyed('POST', '/chat', echo('chat')),
      { ...open('POST', '/messages', echo('messages')), errors: 'messages' },
      open('GET', '/both', echo('both')),
      open('DELETE', '/both', echo('both')),
    ]);
    const connection = await client();
    const failing = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const response = await connection
        .send(request(method, path, { headers }))
        .response({ head: method === 'HEAD' });
      const body: unknown = response.body === '' ? '' : JSON.parse(response.body);
      return {
        status: response.status,
        allow: response.headers.allow,
        body,
        id: response.headers['request-id'],
      };
    };
    const notFound = (method: string, path: string) => ({
      error: {
        code: 404,
        message: `No route for ${method} ${path}`,
        type: 'not_found_error',
        param: null,
        metadata: { error_type: 'not_found' },
      },
    });
    for (const path of [
      '/',
      '/v1',
      '/v1/',
      '/v2/models',
      '/v1/nothing',
      '/v1//models/x',
      '/v1/models',
      '/V1/models/x',
    ]) {
      const response = await failing('GET', path);
      t.same(response, { ...response, status: 404, allow: undefined, body: notFound('GET', path) }, path);
    }
    t.match(await failing('HEAD', '/v1/nothing'), { status: 404, body: '' });

    const notAllowed = await failing('POST', '/v1/models/x');
    t.same(notAllowed, {
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
      body: {
        error: {
          code: 405,
          message: 'POST is not allowed on /v1/models/x; it takes GET, HEAD, OPTIONS',
          type: 'invalid_request_error',
          param: null,
          metadata: { error_type: 'invalid_request' },
        },
      },
      id: notAllowed.id,
    });
    t.match(await failing('GET', '/v1/chat'), { status: 405, allow: 'POST, OPTIONS' }, 'without a key, too');
    t.match(await failing('HEAD', '/v1/chat'), { status: 405, allow: 'POST, OPTIONS' });
    t.match(await failing('PATCH', '/v1/both'), { status: 405, allow: 'GET, HEAD, DELETE, OPTIONS' });

    t.match(await failing('GET', '/v1/models/a%ZZ'), {
      status: 400,
      body: { error: { code: 400, message: 'id in the path is not valid percent-encoding' } },
    });
    t.match(await failing('GET', '/v1/models/%C3%28'), { status: 400 }, 'bytes that are not UTF-8');

    const version = { 'anthropic-version': '2023-06-01' };
    for (const [method, path, headers, status] of [
      ['GET', '/v1/messages', {}, 405],
      ['GET', '/v1/messages/nothing', {}, 404],
      ['POST', '/v1/models/x', version, 405],
      ['GET', '/v1/models', version, 404],
      ['GET', '/v1/models/%', version, 400],
    ] as const) {
      const response = await failing(method, path, headers);
      const type = status === 404 ? 'not_found_error' : 'invalid_request_error';
      t.match(response, { status, body: { type: 'error', error: { type }, request_id: response.id } }, path);
    }
    t.match(await failing('GET', '/v1/messagesque', version), { body: { error: { code: 404 } } });
  });

  await t.test('preflight', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/chat', echo('chat'))]);
    const connection = await client();
    const asked = { origin: 'https://app.test', 'access-control-request-method': 'POST' };
    const plain = await connection.send(request('OPTIONS', '/v1/chat', { headers: asked })).response();
    t.equal(plain.status, 204);
    t.match(plain.headers, {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': /authorization, x-api-key, content-type, anthropic-version/,
      'access-control-max-age': '86400',
    });
    const headers = { ...asked, 'access-control-request-headers': 'x-stainless-lang,authorization' };
    const echoed = await connection.send(request('OPTIONS', '/v1/chat', { headers })).response();
    t.equal(echoed.headers['access-control-allow-headers'], 'x-stainless-lang,authorization');
    t.equal((await connection.send(request('OPTIONS', '/v1/nothing')).response()).status, 404);
    const refused = await connection.send(request('POST', '/v1/chat')).response();
    t.equal(refused.status, 401);
    t.equal(refused.headers['access-control-allow-origin'], '*', 'a browser can read the refusal');
  });

  await t.test('keys', async (t) => {
    const { client } = await startEdge(t, name, [
      keyed('POST', '/chat', echo('chat')),
      open('GET', '/models', echo('list')),
      { ...keyed('POST', '/messages', echo('messages')), errors: 'messages' },
    ]);
    const connection = await client();
    const cases: [string | undefined, string | undefined, 200 | 'none' | 'invalid'][] = [
      [`Bearer ${goodKey}`, undefined, 200],
      [`Bearer ${slowKey}`, undefined, 200],
      [undefined, goodKey, 200],
      [undefined, slowKey, 200],
      [`Bearer ${goodKey}`, 'wrong', 200],
      ['Bearer wrong', goodKey, 'invalid'],
      [`bearer ${goodKey}`, undefined, 'invalid'],
      [`BEARER ${goodKey}`, undefined, 'invalid'],
      [`Basic ${goodKey}`, goodKey, 'invalid'],
      [goodKey, undefined, 'invalid'],
      [`Bearer ${goodKey.toUpperCase()}`, undefined, 'invalid'],
      [`Bearer ${goodKey}x`, undefined, 'invalid'],
      [undefined, `Bearer ${goodKey}`, 'invalid'],
      [undefined, undefined, 'none'],
      ['Bearer ', undefined, 'none'],
      ['', '', 'none'],
    ];
    for (const [authorization, apiKey, outcome] of cases) {
      const what = `${authorization} / ${apiKey}`;
      const sent = request('POST', '/v1/chat', whoAmI(authorization, apiKey));
      const response = await connection.send(sent).response();
      if (outcome === 200) {
        t.equal(response.status, 200, what);
        continue;
      }
      t.equal(response.status, 401, what);
      const message = outcome === 'none' ? 'No API key provided' : 'Invalid API key';
      t.same(
        JSON.parse(response.body),
        {
          error: {
            code: 401,
            message,
            type: 'auth_error',
            param: null,
            metadata: { error_type: 'authentication' },
          },
        },
        what,
      );
    }
    const messages = await connection.send(request('POST', '/v1/messages')).response();
    t.equal(messages.status, 401);
    t.same(JSON.parse(messages.body), {
      type: 'error',
      error: { type: 'authentication_error', message: 'No API key provided' },
      request_id: messages.headers['request-id'],
    });
    const wrongKey = whoAmI('Bearer wrong', undefined);
    t.equal((await connection.send(request('GET', '/v1/models', wrongKey)).response()).status, 200);
  });
};
