/** GET /openapi.json: the route table as an OpenAPI 3.1 document. */
import type { TSchema } from 'typebox';
import {
  apiVersion,
  type Content,
  ErrorEnvelope,
  MessagesError,
  type RouteDoc,
  statusMeanings,
} from '../../schemas/openapi.ts';
import type { JsonSchema } from '../../src/json-schema.ts';
import { jsonTextReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { takesNull } from '../core/validation/drop-nulls.ts';
import type { Route } from '../route.ts';

type Json = Readonly<Record<string, unknown>>;
/** Schemas that have a title, by it: written once and referred to. */
type Components = Map<string, Json>;

export const openapi = (ports: Ports, table: () => readonly Route[]): Pipeline =>
  compose(documentBytes(ports, table), jsonTextReply);

/** `table` is called at the first request, when it is complete. */
const documentBytes = (ports: Ports, table: () => readonly Route[]): (() => Buffer) => {
  // As bytes: it is long, and text would be encoded again for every response.
  let bytes: Buffer | undefined;
  return () => (bytes ??= Buffer.from(JSON.stringify(openapiDocument(table(), publicApi(ports)))));
};

const publicApi = (ports: Ports): ApiInfo => ({
  title: 'Sluice',
  url: ports.publicUrl(),
  security: {
    bearer: { type: 'http', scheme: 'bearer' },
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  },
});

interface ApiInfo {
  readonly title: string;
  readonly url: string;
  /** Any one of them is enough. */
  readonly security: Readonly<Record<string, Json>>;
}

/** What the document says of a route. */
export type DocumentedRoute = Pick<Route, 'method' | 'path' | 'access' | 'bodyLimit' | 'errors' | 'doc'>;

export const openapiDocument = (
  table: readonly DocumentedRoute[],
  { title, url, security }: ApiInfo,
): Json => {
  const components: Components = new Map();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of table) {
    const path = route.path.replaceAll('+}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version: apiVersion, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url }],
    security: Object.keys(security).map((name) => ({ [name]: [] })),
    paths,
    components: {
      securitySchemes: security,
      schemas: Object.fromEntries(components),
    },
  };
};

const operation = (route: DocumentedRoute, components: Components): Json => {
  const doc: RouteDoc = route.doc ?? { tag: 'Other', summary: `${route.method} ${route.path}` };
  const statuses = [
    ...(doc.errors ?? []),
    ...(route.access === 'public' ? [] : [401]),
    // A large body found no memory.
    ...(route.bodyLimit === undefined ? [] : [429, 503]),
    ...(doc.ranges === true ? [416] : []),
    500,
  ];
  const failures = failureContent(route);
  return {
    operationId: operationId(route),
    tags: [doc.tag],
    summary: doc.summary,
    ...(route.access === 'public' ? { security: [] } : {}),
    parameters: [
      ...pathParameters(route.path),
      ...parameters(doc.query, 'query'),
      ...parameters(doc.headers, 'header'),
    ],
    ...(doc.body === undefined
      ? {}
      : { requestBody: { required: true, content: content(requestBody(doc.body), components) } }),
    responses: {
      [doc.status ?? 200]: response(doc.status ?? 200, doc.response, components),
      ...(doc.orNothing === true ? { 204: response(204, undefined, components) } : {}),
      ...(doc.ranges === true ? { 206: response(206, doc.response, components) } : {}),
      ...Object.fromEntries(statuses.map((status) => [status, response(status, failures, components)])),
    },
  };
};

/** `GET /models/{id+}` → `getModelsById`. */
const operationId = ({ method, path }: DocumentedRoute): string =>
  method.toLowerCase() +
  path
    .replace(/\{(\w+)\+?\}/g, (_, name: string) => `by-${name}`)
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name, rest]) => ({
    name,
    in: 'path',
    required: true,
    ...(rest === '' ? {} : { description: 'May hold slashes, as further segments or percent-encoded' }),
    schema: { type: 'string' },
  }));

const parameters = (given: RouteDoc['query'], place: 'query' | 'header'): Json[] =>
  Object.entries(given?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: place,
    required: given?.required?.includes(name) ?? false,
    schema,
  }));

const failureContent = ({ errors }: DocumentedRoute): Content => ({
  'application/json':
    errors === 'messages'
      ? MessagesError
      : typeof errors === 'function'
        ? { anyOf: [ErrorEnvelope, MessagesError] }
        : ErrorEnvelope,
});

const response = (status: number, body: Content | undefined, components: Components): Json => ({
  description: statusMeanings[status] ?? `Status ${status}`,
  ...(body === undefined ? {} : { content: content(body, components) }),
});

const content = (body: Content, components: Components): Json =>
  Object.fromEntries(
    Object.entries(body).map(([mediaType, schema]) => [mediaType, { schema: lift(schema, components) }]),
  );

/** As `validate` reads it: in JSON, null counts as absent on optional fields. */
const requestBody = (body: Content): Content =>
  Object.fromEntries(
    Object.entries(body).map(([mediaType, schema]) => [
      mediaType,
      mediaType === 'application/json' ? withNulls(schema) : schema,
    ]),
  );

const withNulls = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  ...(schema.anyOf && { anyOf: schema.anyOf.map(withNulls) }),
  ...(schema.allOf && { allOf: schema.allOf.map(withNulls) }),
  ...(schema.items && { items: withNulls(schema.items) }),
  ...(schema.properties && {
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [
        name,
        schema.required?.includes(name) ? withNulls(field) : orNull(withNulls(field)),
      ]),
    ),
  }),
});

const orNull = (schema: JsonSchema): JsonSchema => {
  const takesAnything = schema.type === undefined && schema.anyOf === undefined && schema.enum === undefined;
  return takesAnything || takesNull(schema) ? schema : { anyOf: [schema, { type: 'null' }] };
};

/** The schema with every titled schema in it moved to the components and referred to. */
const lift = (schema: TSchema, components: Components): unknown => {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const lifted: Json = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, visit(value)]));
    return typeof lifted.title === 'string' ? refer(lifted.title, lifted, components) : lifted;
  };
  return visit(schema);
};

const refer = (title: string, schema: Json, components: Components): Json => {
  const known = components.get(title);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two schemas have the title ${title}`);
  components.set(title, schema);
  return { $ref: `#/components/schemas/${title}` };
};
