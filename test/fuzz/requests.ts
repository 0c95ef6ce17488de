/** Generates a valid or broken request to an operation from a seed. */
import { Random } from '../../src/simulator/random.ts';
import { breakBytes, breakValue, toText } from './breakage.ts';
import { type JsonObject, type OpenApi, type Operation, resolved, type Schema } from './document.ts';
import type { RecordKind, Records } from './records.ts';
import { bodySamples, fileSamples, formSamples } from './samples.ts';
import { makeValue } from './values.ts';

export interface FuzzRequest {
  readonly operation: Operation;
  readonly method: string;
  /** Below `/v1`, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface Setting {
  readonly document: OpenApi;
  readonly records: Records;
  readonly key: string;
}

const boundary = 'fuzz-3f1d0c';
const formType = `multipart/form-data; boundary=${boundary}`;

/** The plainest request that is served. */
export const plainRequest = (operation: Operation, setting: Setting): FuzzRequest => {
  const random = new Random(0);
  const { id, method, path, bodies } = operation;
  const type = 'application/json' in bodies ? 'application/json' : undefined;
  const sample = setting.records.fill(JSON.stringify(bodySamples[id] ?? {}), random);
  const schema = resolved(bodies['multipart/form-data'] ?? {}, setting.document);
  const body = type === undefined ? makeForm(operation, schema, setting, random, false) : Buffer.from(sample);
  const isLink = path.startsWith('/blobs');
  return {
    operation,
    method,
    path:
      makePath(operation, setting, random, false) +
      (isLink ? makeQuery(operation, setting, random, false) : ''),
    headers: {
      authorization: `Bearer ${setting.key}`,
      ...(Object.keys(bodies).length === 0 ? {} : { 'content-type': type ?? formType }),
    },
    body: Object.keys(bodies).length === 0 ? undefined : body,
  };
};

/** The same seed and number give the same request, but for the ids of records. */
export const makeRequest = (
  operation: Operation,
  setting: Setting,
  seed: number,
  number: number,
): FuzzRequest => {
  const random = new Random(seed).fork(`request ${number}`);
  const isBroken = random.fraction() < 0.6;
  // What is broken is broken in one or two parts; the others stay good, so that it gets far.
  const breaks = (share: number): boolean => isBroken && random.fraction() < share;
  const { body, type } = makeBody(operation, setting, random, breaks(0.75));
  return {
    operation,
    method: breaks(0.02) ? random.pick(['PUT', 'PATCH', 'POST', 'GET']) : operation.method,
    path:
      makePath(operation, setting, random, breaks(0.25)) + makeQuery(operation, setting, random, breaks(0.5)),
    headers: makeHeaders(operation, setting, random, type, breaks(0.15)),
    body,
  };
};

const makePath = (operation: Operation, setting: Setting, random: Random, isBroken: boolean): string =>
  operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (isBroken) return random.pick(brokenSegments);
    const kind = recordOf(operation.path, name);
    if (kind === undefined) return modelSegment(name, random);
    const { records } = setting;
    if (kind === 'link') return records.first(kind).split('?')[0] ?? '';
    // Files and items are known of the first store alone.
    if (kind === 'store' && /\/(?:files|items)/.test(operation.path) && random.fraction() < 0.8)
      return records.first(kind);
    const goes = operation.method === 'DELETE' && operation.path.endsWith(`{${name}}`);
    const id = goes ? records.take(kind) : records.pick(kind, random);
    return id;
  });

const brokenSegments: readonly [string, ...string[]] = [
  'video_0123456789abcdef01234567',
  'vs_none',
  '..',
  '%2e%2e%2f',
  '%00',
  '%zz',
  '%c3%28',
  '%F0%9F%8C%8A',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  "'%20OR%201=1",
  '{id}',
  '*',
];

const recordOf = (path: string, name: string): RecordKind | undefined => {
  if (name === 'fileid') return 'file';
  if (name === 'itemid') return 'item';
  if (path.startsWith('/vector_store')) return 'store';
  if (path.startsWith('/videos')) return 'video';
  if (path.startsWith('/music')) return 'music';
  if (path.startsWith('/responses')) return 'response';
  if (path.startsWith('/streams')) return 'stream';
  return path.startsWith('/blobs') ? 'link' : undefined;
};

const modelSegment = (name: string, random: Random): string => {
  if (name === 'author') return 'sluice';
  const slug = random.pick(['chat', 'image', 'image-edit', 'embed', 'speech', 'chat:express']);
  return name === 'id'
    ? random.pick([`sluice/${slug}`, `sluice%2F${slug}`, `anthropic/sluice/${slug}`])
    : slug;
};

const makeQuery = (operation: Operation, setting: Setting, random: Random, isBroken: boolean): string => {
  const { document, records } = setting;
  if (operation.path.startsWith('/blobs') && !isBroken) return `?${records.first('link').split('?')[1]}`;
  const query = new URLSearchParams();
  for (const { name, schema } of operation.query) {
    if (random.fraction() > 0.3) continue;
    const value = isBroken
      ? random.pick([
          '',
          '-1',
          '1.5',
          '99999999999999999999',
          'null',
          '\0',
          '💧',
          '2026-99-99',
          '../..',
          'a,,b',
        ])
      : makeValue(schema, document, random, name);
    query.append(name, records.fill(String(value), random));
    if (isBroken && random.fraction() < 0.2) query.append(name, 'again');
  }
  if (isBroken) query.append(random.pick(['unknown', '__proto__', 'constructor', 'limit']), 'x');
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
};

const makeHeaders = (
  operation: Operation,
  { key }: Setting,
  random: Random,
  type: string | undefined,
  isBroken: boolean,
): Record<string, string> => {
  const headers: Record<string, string> = {};
  if (!operation.isPublic || random.fraction() < 0.2) headers.authorization = `Bearer ${key}`;
  if (type !== undefined) headers['content-type'] = type;
  if (random.fraction() < 0.15) Object.assign(headers, random.pick(oddHeaders));
  if (isBroken) Object.assign(headers, random.pick(brokenHeaders));
  return headers;
};

const oddHeaders: readonly [Record<string, string>, ...Record<string, string>[]] = [
  { 'anthropic-version': '2023-06-01' },
  { 'user-agent': 'OpenAI/JS 6.49.0' },
  { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 @openrouter/sdk' },
  { accept: 'text/event-stream' },
  { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  { origin: 'https://example.com' },
  { range: 'bytes=0-3' },
];
const brokenHeaders: readonly [Record<string, string>, ...Record<string, string>[]] = [
  { authorization: 'Bearer wrong' },
  { authorization: '' },
  { authorization: `Bearer ${'k'.repeat(5000)}` },
  { authorization: 'Basic dXNlcjpwYXNz' },
  { 'content-type': 'text/plain' },
  { 'content-type': '' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': `multipart/form-data; boundary=${'b'.repeat(300)}` },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'gzip' },
  { traceparent: 'nonsense' },
  { 'x-request-id': '\t"><script>' },
  { range: 'bytes=9-1,-,x' },
  { range: 'bytes=999999999-' },
  { 'x-filler': 'f'.repeat(9000) },
];

interface Body {
  readonly body: Buffer | undefined;
  readonly type: string | undefined;
}

const makeBody = (operation: Operation, setting: Setting, random: Random, isBroken: boolean): Body => {
  const types = Object.keys(operation.bodies);
  const type = types[random.integer(0, types.length - 1)];
  if (type === undefined) return { body: undefined, type: undefined };
  const schema = resolved(operation.bodies[type] ?? {}, setting.document);
  return type === 'application/json'
    ? { body: makeJson(operation, schema, setting, random, isBroken), type }
    : { body: makeForm(operation, schema, setting, random, isBroken), type: formType };
};

const makeJson = (
  operation: Operation,
  schema: Schema,
  { document, records }: Setting,
  random: Random,
  isBroken: boolean,
): Buffer => {
  const value = makeFields(bodySamples[operation.id], schema, document, random);
  if (isBroken && random.fraction() < 0.8) breakValue(value, random);
  const text = records.fill(isBroken ? toText(value, random) : JSON.stringify(value), random);
  return isBroken && random.fraction() < 0.15 ? breakBytes(Buffer.from(text), random) : Buffer.from(text);
};

/** The sample, the sample with a field or two of the schema's, or all from the schema. */
const makeFields = (
  sample: JsonObject | undefined,
  schema: Schema,
  document: OpenApi,
  random: Random,
): JsonObject => {
  if (sample === undefined || random.fraction() < 0.3)
    return makeValue({ ...schema, type: 'object' }, document, random) as JsonObject;
  const fields = structuredClone(sample);
  const names = Object.keys(schema.properties ?? {});
  for (let more = random.integer(0, 2); more > 0; more--) {
    const name = names[random.integer(0, names.length - 1)] ?? '';
    if (!(name in fields)) fields[name] = makeValue(schema.properties?.[name] ?? {}, document, random, name);
  }
  return fields;
};

const makeForm = (
  operation: Operation,
  schema: Schema,
  { document, records }: Setting,
  random: Random,
  isBroken: boolean,
): Buffer => {
  const fields = makeFields(formSamples[operation.id], schema, document, random);
  const parts: Buffer[] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isFile = property.format === 'binary' || property.items?.format === 'binary';
    if (isFile) delete fields[name];
    if (isFile && (schema.required?.includes(name) || random.fraction() < 0.5))
      parts.push(
        filePart(isBroken ? random.pick([name, name, 'file', '__proto__', 'x[0]']) : name, operation, random),
      );
  }
  if (isBroken && random.fraction() < 0.6) breakValue(fields, random);
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    parts.push(part(`name="${name}"`, Buffer.from(records.fill(text, random))));
    if (isBroken && random.fraction() < 0.1) parts.push(part(`name="${name}"`, Buffer.from('again')));
  }
  const whole = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return isBroken && random.fraction() < 0.3 ? breakBytes(whole, random) : whole;
};

const filePart = (name: string, { path }: Operation, random: Random): Buffer => {
  const wanted = path.startsWith('/audio') ? 'audio' : path.startsWith('/vector') ? 'text' : 'image';
  const fitting = fileSamples.filter(({ type }) => type.startsWith(wanted) || random.fraction() < 0.15);
  const file = fitting[random.integer(0, fitting.length - 1)];
  const bytes = file?.bytes ?? Buffer.alloc(0);
  return part(`name="${name}"; filename="${file?.name}"`, bytes, `Content-Type: ${file?.type}\r\n`);
};

const part = (disposition: string, content: Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);

/** A line for a shell that sends the request again. */
export const curlLine = ({ method, path, headers, body }: FuzzRequest, url: string): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const given = Object.entries(headers).map(([name, value]) =>
    quoted(value === '' ? `${name};` : `${name}: ${value}`),
  );
  const command = ['curl -sS -i --path-as-is -X', method, ...given.map((header) => `-H ${header}`)];
  const line = [...command, quoted(url + path)].join(' ');
  return body === undefined ? line : `echo ${body.toString('base64')} | base64 -d | ${line} --data-binary @-`;
};
