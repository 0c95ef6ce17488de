/** Malformed requests, byte for byte. */
import { goodKey } from '../edge-fixture.ts';
import { request } from '../raw-client.ts';
import { type Case, type Outcome, sinceNode22 } from './expected.ts';

const key = { authorization: `Bearer ${goodKey}` };
const json = { ...key, 'content-type': 'application/json' };
const boundary = 'B';
const form = { ...key, 'content-type': `multipart/form-data; boundary=${boundary}` };

const post = (body: string | Buffer, headers: Record<string, string> = json, path = '/v1/chat') =>
  request('POST', path, { headers, body });

const bad = (message: string): Outcome => ({ status: 400, message });
const notJson = (where: string): Outcome => bad(`The request body is not valid JSON: ${where}`);

const part = (disposition: string, content: string, rest = '') =>
  `--${boundary}\r\nContent-Disposition: ${disposition}\r\n${rest}\r\n${content}\r\n`;
const end = `--${boundary}--\r\n`;
const file = part('form-data; name="file"; filename="a.txt"', 'text', 'Content-Type: text/plain\r\n');
const upload = (body: string | Buffer, headers: Record<string, string> = form) =>
  post(body, headers, '/v1/files');

const badRequest: Outcome = { library: 400, body: '<h1>Bad Request</h1><hr><i>uWebSockets/20 Server</i>' };
const badVersion: Outcome = {
  library: 505,
  body: '<h1>HTTP Version Not Supported</h1><p>This server does not support HTTP/1.0.</p><hr><i>uWebSockets/20 Server</i>',
};
const headersTooLarge: Outcome = {
  library: 431,
  body: '<h1>Request Header Fields Too Large</h1><hr><i>uWebSockets/20 Server</i>',
};
const notHttp = bad('The request is not valid HTTP');
const chat = '{"model":"m","messages":[{"role":"user","content":"hi"}]}';
const raw = (lines: string[], body = '') => `${lines.join('\r\n')}\r\n\r\n${body}`;
const host = 'host: test';

const bodies: Case[] = [
  {
    name: 'no body',
    bytes: request('POST', '/v1/chat', { headers: json }),
    expected: bad('The request body is empty; a JSON object is expected'),
  },
  {
    name: 'empty body',
    bytes: post(''),
    expected: bad('The request body is empty; a JSON object is expected'),
  },
  { name: 'blank body', bytes: post('  \n '), expected: notJson('unexpected end at line 2 column 2') },
  {
    name: 'half an object',
    bytes: post('{"model":"m","messages":['),
    expected: notJson('unexpected end at line 1 column 26'),
  },
  {
    name: 'trailing comma',
    bytes: post('{"model":"m",}'),
    expected: notJson('unexpected "}" at line 1 column 14'),
  },
  {
    name: 'single quotes',
    bytes: post("{'model':'m'}"),
    expected: notJson('unexpected "\'" at line 1 column 2'),
  },
  {
    name: 'bare word',
    bytes: post('{"model":undefined}'),
    expected: notJson('unexpected "u" at line 1 column 10'),
  },
  {
    name: 'NaN',
    bytes: post('{"temperature":NaN}'),
    expected: notJson('unexpected "N" at line 1 column 16'),
  },
  {
    name: 'comment',
    bytes: post('{"model":"m" /* c */}'),
    expected: notJson('unexpected "/" at line 1 column 14'),
  },
  {
    name: 'two objects',
    bytes: post(`${chat}${chat}`),
    expected: notJson('unexpected "{" at line 1 column 58'),
  },
  {
    name: 'JSON with a byte order mark',
    bytes: post(`\ufeff${chat}`),
    expected: 'fine',
  },
  {
    name: 'JSON with two byte order marks',
    bytes: post(`\ufeff\ufeff${chat}`),
    expected: notJson('unexpected "\ufeff" at line 1 column 1'),
  },
  {
    name: 'a fault behind a byte order mark',
    bytes: post('\ufeff{"model":}'),
    expected: notJson('unexpected "}" at line 1 column 10'),
  },
  {
    name: 'nothing but a byte order mark',
    bytes: post('\ufeff'),
    expected: notJson('unexpected end at line 1 column 1'),
  },
  {
    name: 'fault on a later line',
    bytes: post('{\n  "model": "m",\n  "messages": [}\n'),
    expected: notJson('unexpected "}" at line 3 column 16'),
  },
  {
    name: 'control character in a string',
    bytes: post('{"model":"\u0001"}'),
    expected: notJson('unexpected "\\u0001" at line 1 column 11'),
  },
  {
    name: 'null byte',
    bytes: post('{"model":"m"}\0'),
    expected: notJson('unexpected "\\u0000" at line 1 column 14'),
  },
  {
    name: 'bad escape',
    bytes: post('{"model":"\\q"}'),
    expected: notJson('unexpected "\\\\" at line 1 column 11'),
  },
  {
    name: 'bad UTF-8',
    bytes: post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    expected: bad('The request body is not valid UTF-8'),
  },
  {
    name: 'UTF-16',
    bytes: post(Buffer.from(`\ufeff${chat}`, 'utf16le')),
    expected: bad('The request body is not valid UTF-8'),
  },
  {
    name: 'gzip',
    bytes: post(Buffer.from('1f8b08000000000000ff', 'hex'), { ...json, 'content-encoding': 'gzip' }),
    expected: bad('content-encoding gzip is not supported'),
  },
  {
    name: 'unpaired surrogate in bytes',
    bytes: post(Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])),
    expected: bad('The request body is not valid UTF-8'),
  },
  { name: 'array', bytes: post('[]'), expected: bad('The request body must be a JSON object, not an array') },
  {
    name: 'string',
    bytes: post('"hi"'),
    expected: bad('The request body must be a JSON object, not a string'),
  },
  {
    name: 'number',
    bytes: post('42'),
    expected: bad('The request body must be a JSON object, not a number'),
  },
  { name: 'null', bytes: post('null'), expected: bad('The request body must be a JSON object, not null') },
  {
    name: 'nested objects',
    bytes: post(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`),
    expected: bad('The request body is nested more than 64 levels deep'),
  },
  {
    name: 'nested arrays',
    bytes: post(`{"a":${'['.repeat(900)}${']'.repeat(900)}}`),
    expected: bad('The request body is nested more than 64 levels deep'),
  },
  {
    name: 'no content type',
    bytes: post(chat, key),
    expected: bad('content-type must be application/json, but none was sent'),
  },
  {
    name: 'form encoding',
    bytes: post('model=m', { ...key, 'content-type': 'application/x-www-form-urlencoded' }),
    expected: bad('content-type must be application/json, not "application/x-www-form-urlencoded"'),
  },
  {
    name: 'text',
    bytes: post(chat, { ...key, 'content-type': 'text/plain' }),
    expected: bad('content-type must be application/json, not "text/plain"'),
  },
  {
    name: 'nearly JSON',
    bytes: post(chat, { ...key, 'content-type': 'application/jsonp' }),
    expected: bad('content-type must be application/json, not "application/jsonp"'),
  },
  {
    name: 'a form where JSON is due',
    bytes: post(file + end, form),
    expected: bad('content-type must be application/json, not "multipart/form-data; boundary=B"'),
  },
  {
    name: 'too large, declared',
    bytes: post(`{"a":"${'x'.repeat(3000)}"}`),
    expected: { status: 413, message: 'Request body is larger than the limit of 2000 bytes' },
  },
  {
    name: 'too large, chunked',
    bytes: post(`bb9\r\n${'x'.repeat(3001)}\r\n0\r\n\r\n`, { ...json, 'transfer-encoding': 'chunked' }),
    expected: { status: 413, message: 'Request body is larger than the limit of 2000 bytes' },
  },
  {
    name: 'a body where none is read',
    bytes: request('GET', '/v1/ok', { body: 'x'.repeat(500) }),
    expected: 'fine',
  },
];

const values: Case[] = [
  { name: 'nothing in it', bytes: post('{}'), expected: bad('model is required') },
  {
    name: 'a required field is null',
    bytes: post('{"model":null,"messages":[]}'),
    expected: bad('model must be a string'),
  },
  {
    name: 'a field of another type',
    bytes: post('{"model":["m"],"messages":[]}'),
    expected: bad('model must be a string'),
  },
  {
    name: 'an empty list',
    bytes: post('{"model":"m","messages":[]}'),
    expected: bad('messages must have at least 1 item'),
  },
  {
    name: 'a wrong word',
    bytes: post('{"model":"m","messages":[{"role":"robot","content":""}]}'),
    expected: bad('messages[0].role must be one of "user", "assistant"'),
  },
  {
    name: 'a fault deep inside',
    bytes: post('{"model":"m","messages":[{"role":"user","content":""},{"role":"user","content":7}]}'),
    expected: bad('messages[1].content must be a string'),
  },
  {
    name: 'a huge number',
    bytes: post(chat.replace('}]}', '}],"n":1e400}')),
    expected: bad('n must be an integer'),
  },
  {
    name: 'a long number',
    bytes: post(chat.replace('}]}', `}],"n":${'9'.repeat(300)}}`)),
    expected: bad('n must be between 1 and 10'),
  },
  {
    name: 'a fraction',
    bytes: post(chat.replace('}]}', '}],"n":1.5}')),
    expected: bad('n must be an integer'),
  },
  {
    name: 'a number as text',
    bytes: post(chat.replace('}]}', '}],"n":"1"}')),
    expected: bad('n must be an integer'),
  },
  {
    name: 'a prototype as a field',
    bytes: post('{"__proto__":{"model":"m","messages":[{"role":"user","content":""}]}}'),
    expected: bad('model is required'),
  },
  { name: 'nulls for optional fields', bytes: post(chat.replace('}]}', '}],"n":null}')), expected: 'fine' },
  {
    name: 'the same in the messages format',
    bytes: post('{}', json, '/v1/messages'),
    expected: { status: 400, message: 'model is required', messages: true },
  },
  {
    name: 'bad JSON in the messages format',
    bytes: post('{', json, '/v1/messages'),
    expected: {
      status: 400,
      message: 'The request body is not valid JSON: unexpected end at line 1 column 2',
      messages: true,
    },
  },
  {
    name: 'too large in the messages format',
    bytes: post('x'.repeat(2001), json, '/v1/messages'),
    expected: { status: 413, message: 'Request body is larger than the limit of 2000 bytes', messages: true },
  },
  {
    name: 'bad JSON where 422 is due',
    bytes: post('{', json, '/v1/systemone'),
    expected: {
      status: 422,
      message: 'The request body is not valid JSON: unexpected end at line 1 column 2',
    },
  },
  {
    name: 'a wrong value where 422 is due',
    bytes: post('{}', json, '/v1/systemone'),
    expected: { status: 422, message: 'model is required' },
  },
];

const keys: Case[] = [
  {
    name: 'no key, bad body',
    bytes: post('{', { 'content-type': 'application/json' }),
    expected: { status: 401, message: 'No API key provided' },
  },
  {
    name: 'wrong key, bad body',
    bytes: post('{', { ...json, authorization: 'Bearer wrong' }),
    expected: { status: 401, message: 'Invalid API key' },
  },
  {
    name: 'wrong key, wrong type, too large',
    bytes: post('x'.repeat(5000), { authorization: 'Bearer wrong' }),
    expected: { status: 401, message: 'Invalid API key' },
  },
  {
    name: 'another scheme',
    bytes: post(chat, { ...json, authorization: 'Basic dXNlcjpwYXNz' }),
    expected: { status: 401, message: 'Invalid API key' },
  },
  {
    name: 'a very long key',
    bytes: post(chat, { ...json, authorization: `Bearer ${'k'.repeat(8000)}` }),
    expected: { status: 401, message: 'Invalid API key' },
  },
  {
    name: 'no key in the messages format',
    bytes: post('{', {}, '/v1/messages'),
    expected: { status: 401, message: 'No API key provided', messages: true },
  },
];

const paths: Case[] = [
  {
    name: 'unknown path',
    bytes: request('GET', '/v1/nothing'),
    expected: { status: 404, message: 'No route for GET /v1/nothing' },
  },
  { name: 'root', bytes: request('GET', '/'), expected: { status: 404, message: 'No route for GET /' } },
  {
    name: 'up and out',
    bytes: request('GET', '/v1/../../etc/passwd'),
    expected: { status: 404, message: 'No route for GET /v1/../../etc/passwd' },
  },
  {
    name: 'double slash',
    bytes: request('GET', '/v1//ok'),
    expected: { status: 404, message: 'No route for GET /v1//ok' },
  },
  {
    name: 'bad escape',
    bytes: request('GET', '/v1/models/%zz'),
    expected: bad('id in the path is not valid percent-encoding'),
  },
  {
    name: 'half an escape',
    bytes: request('GET', '/v1/models/a%2'),
    expected: bad('id in the path is not valid percent-encoding'),
  },
  {
    name: 'escaped bytes that are not UTF-8',
    bytes: request('GET', '/v1/models/%ff'),
    expected: bad('id in the path is not valid percent-encoding'),
  },
  { name: 'a long path', bytes: request('GET', `/v1/models/${'a'.repeat(4000)}`), expected: 'fine' },
  {
    name: 'another method',
    bytes: request('PUT', '/v1/ok'),
    expected: { status: 405, message: 'PUT is not allowed on /v1/ok; it takes GET, HEAD, OPTIONS' },
  },
  {
    name: 'another method, messages format',
    bytes: request('GET', '/v1/messages'),
    expected: {
      status: 405,
      message: 'GET is not allowed on /v1/messages; it takes POST, OPTIONS',
      messages: true,
    },
  },
  {
    name: 'TRACE',
    bytes: request('TRACE', '/v1/ok'),
    expected: { status: 405, message: 'TRACE is not allowed on /v1/ok; it takes GET, HEAD, OPTIONS' },
  },
  {
    name: 'a method in lower case',
    bytes: request('get', '/v1/ok'),
    expected: {
      uws: { status: 405, message: 'get is not allowed on /v1/ok; it takes GET, HEAD, OPTIONS' },
      node: notHttp,
    },
  },
  {
    name: 'a method nobody knows',
    bytes: request('BREW', '/v1/ok'),
    expected: {
      uws: { status: 405, message: 'BREW is not allowed on /v1/ok; it takes GET, HEAD, OPTIONS' },
      node: notHttp,
    },
  },
  {
    name: 'HEAD of nothing',
    bytes: request('HEAD', '/v1/nothing'),
    head: true,
    expected: { status: 404, message: '' },
  },
  {
    name: 'an address with a host',
    bytes: request('GET', 'http://test/v1/ok'),
    expected: { uws: badVersion, node: 'fine' },
  },
  {
    name: 'OPTIONS of everything',
    bytes: request('OPTIONS', '*'),
    expected: { uws: badVersion, node: { status: 404, message: 'No route for OPTIONS *' } },
  },
];

const forms: Case[] = [
  {
    name: 'JSON where a form is due',
    bytes: upload('{}', json),
    expected: bad('content-type must be multipart/form-data, not "application/json"'),
  },
  {
    name: 'no boundary',
    bytes: upload(file + end, { ...key, 'content-type': 'multipart/form-data' }),
    expected: bad('content-type multipart/form-data must name a boundary of 1 to 70 characters'),
  },
  {
    name: 'another boundary',
    bytes: upload(file + end, { ...key, 'content-type': 'multipart/form-data; boundary=other' }),
    expected: bad('The form ends before its closing boundary'),
  },
  {
    name: 'no closing boundary',
    bytes: upload(file),
    expected: bad('The form ends before its closing boundary'),
  },
  { name: 'nothing in the form', bytes: upload(end), expected: bad('file is required') },
  {
    name: 'an empty body for a form',
    bytes: upload(''),
    expected: bad('The form ends before its closing boundary'),
  },
  {
    name: 'a missing field',
    bytes: upload(part('form-data; name="purpose"', 'x') + end),
    expected: bad('file is required'),
  },
  {
    name: 'a field twice',
    bytes: upload(
      part('form-data; name="purpose"', 'x') + part('form-data; name="purpose"', 'y') + file + end,
    ),
    expected: bad('purpose is given more than once'),
  },
  { name: 'a file twice', bytes: upload(file + file + end), expected: bad('file is given more than once') },
  {
    name: 'a part without a name',
    bytes: upload(part('form-data', 'x') + end),
    expected: bad('A part of the form has no name'),
  },
  {
    name: 'a field that is too long',
    bytes: upload(part('form-data; name="purpose"', 'x'.repeat(101)) + file + end),
    expected: { status: 413, message: 'purpose is larger than the limit of 100 bytes' },
  },
  {
    name: 'a file that is too large',
    bytes: upload(part('form-data; name="file"; filename="a"', 'x'.repeat(1001)) + end),
    expected: { status: 413, message: 'file is larger than the limit of 1000 bytes' },
  },
  {
    name: 'a field that is not UTF-8',
    bytes: upload(Buffer.from(`${part('form-data; name="purpose"', '\xff')}${file}${end}`, 'latin1')),
    expected: bad('purpose is not valid UTF-8'),
  },
  {
    name: 'too many parts',
    bytes: upload(
      Array.from({ length: 9 }, (_, index) => part(`form-data; name="f${index}"`, 'x')).join('') + end,
    ),
    expected: bad('The form has more than 8 parts'),
  },
];

/**
 * Where the two differ the library has answered by itself. uWebSockets.js 20.41, as on Node 20, takes a head it cannot
 * read for one that is not complete, waits for the rest and closes after 10 s; it bounds the size of a head only when
 * that arrives in pieces. Its release for later versions of Node refuses most such heads at once.
 */
const protocol: Case[] = [
  {
    name: 'HTTP/1.0',
    bytes: raw(['GET /v1/ok HTTP/1.0', host]),
    expected: { uws: badVersion, node: 'fine' },
  },
  {
    name: 'HTTP/2.0',
    bytes: raw(['GET /v1/ok HTTP/2.0', host]),
    expected: { uws: badVersion, node: { status: 400, message: 'HTTP/2.0 is not supported' } },
  },
  {
    name: 'no version',
    bytes: raw(['GET /v1/ok', host]),
    expected: {
      uws: sinceNode22(badVersion, 'waiting'),
      node: { status: 400, message: 'HTTP/0.9 is not supported' },
    },
  },
  {
    name: 'TLS on a plain port',
    bytes: Buffer.from('16030100a5010000a10303\r\n\r\n', 'latin1'),
    expected: { uws: sinceNode22(badVersion, 'waiting'), node: notHttp },
  },
  {
    name: 'noise',
    bytes: Buffer.concat([Buffer.from([0, 1, 2, 255, 254]), Buffer.from('\r\n\r\n')]),
    expected: { uws: badVersion, node: notHttp },
  },
  {
    name: 'line feeds alone',
    bytes: 'GET /v1/ok HTTP/1.1\nhost: test\n\n',
    expected: { uws: badVersion, node: notHttp },
  },
  {
    name: 'no host',
    bytes: raw(['GET /v1/ok HTTP/1.1']),
    expected: {
      uws: sinceNode22('waiting', badRequest),
      node: { status: 400, message: 'The request has no Host header' },
    },
  },
  { name: 'half a request', bytes: 'GET /v1/ok HTTP/1.1\r\nhost: te', expected: 'waiting' },
  {
    name: 'half a body',
    bytes: request('POST', '/v1/chat', { headers: { ...json, 'content-length': '50' }, body: '{"model"' }),
    expected: 'waiting',
  },
  {
    name: 'a header without a colon',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'nonsense']),
    expected: { uws: sinceNode22('waiting', badRequest), node: notHttp },
  },
  {
    name: 'a header with a space in its name',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'a b: c']),
    expected: { uws: sinceNode22('waiting', badRequest), node: notHttp },
  },
  {
    name: 'a header folded over two lines',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'a: b', ' c']),
    expected: { uws: sinceNode22('waiting', badRequest), node: notHttp },
  },
  {
    name: 'a header with a control character',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'a: b\u0001c']),
    expected: { uws: sinceNode22('waiting', badRequest), node: notHttp },
  },
  {
    name: 'a length that is no number',
    bytes: raw(['POST /v1/chat HTTP/1.1', host, 'content-length: ten'], chat),
    expected: { uws: badRequest, node: notHttp },
  },
  {
    name: 'a negative length',
    bytes: raw(['POST /v1/chat HTTP/1.1', host, 'content-length: -1'], chat),
    expected: { uws: badRequest, node: notHttp },
  },
  {
    name: 'a length beyond counting',
    bytes: raw(['POST /v1/chat HTTP/1.1', host, `content-length: ${'9'.repeat(30)}`], chat),
    expected: { uws: badRequest, node: notHttp },
  },
  {
    name: 'two lengths',
    bytes: raw(['POST /v1/chat HTTP/1.1', host, 'content-length: 57', 'content-length: 58'], chat),
    expected: {
      uws: { status: 400, message: 'The request has more than one Content-Length header' },
      node: notHttp,
    },
  },
  {
    name: 'a length and chunks',
    bytes: raw(
      ['POST /v1/chat HTTP/1.1', host, 'content-length: 5', 'transfer-encoding: chunked'],
      '0\r\n\r\n',
    ),
    expected: { uws: badRequest, node: notHttp },
  },
  {
    name: 'a coding nobody knows',
    bytes: raw(['POST /v1/chat HTTP/1.1', host, 'transfer-encoding: zip'], 'x'),
    expected: {
      uws: badRequest,
      node: { status: 400, message: 'Transfer-Encoding must be "chunked", and nothing else' },
    },
  },
  {
    name: 'a chunk of no size',
    bytes: raw(
      [
        'POST /v1/chat HTTP/1.1',
        host,
        `authorization: Bearer ${goodKey}`,
        'content-type: application/json',
        'transfer-encoding: chunked',
      ],
      'zz\r\n{}\r\n0\r\n\r\n',
    ),
    expected: { uws: badRequest, node: notHttp },
  },
  {
    name: 'a chunk longer than it says',
    bytes: raw(
      [
        'POST /v1/chat HTTP/1.1',
        host,
        `authorization: Bearer ${goodKey}`,
        'content-type: application/json',
        'transfer-encoding: chunked',
      ],
      '2\r\n{}xx\r\n0\r\n\r\n',
    ),
    expected: { uws: bad('model is required'), node: notHttp },
  },
  {
    name: 'a header too large',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, `a: ${'x'.repeat(600_000)}`]),
    expected: {
      uws: headersTooLarge,
      node: bad('The request headers are larger than the limit of 16384 bytes'),
    },
  },
  {
    name: 'a flood of headers',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, ...Array.from({ length: 5000 }, (_, index) => `h${index}: x`)]),
    expected: {
      uws: headersTooLarge,
      node: bad('The request headers are larger than the limit of 16384 bytes'),
    },
  },
  {
    name: 'two hundred headers',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, ...Array.from({ length: 200 }, (_, index) => `h${index}: x`)]),
    expected: { uws: sinceNode22('waiting', headersTooLarge), node: 'fine' },
  },
  {
    name: 'an upgrade to what we do not speak',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'connection: upgrade', 'upgrade: websocket']),
    expected: 'fine',
  },
  {
    name: 'CONNECT',
    bytes: raw(['CONNECT test:443 HTTP/1.1', host]),
    expected: { uws: badVersion, node: 'closed' },
  },
  {
    name: 'an expectation nobody meets',
    bytes: raw(['GET /v1/ok HTTP/1.1', host, 'expect: miracles']),
    expected: 'fine',
  },
];

export const cases: Case[] = [...bodies, ...values, ...keys, ...paths, ...forms, ...protocol];
