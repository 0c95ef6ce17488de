/** A route table as an OpenAPI 3.1 document. */
import type { TObject } from 'typebox';
import {
  apiVersion,
  type Content,
  type Examples,
  type ReplyHeader,
  type RouteDoc,
  replyHeaders,
  statusMeanings,
} from '../../schemas/openapi.ts';
import type { JsonSchema } from '../../src/helpers/json-schema.ts';
import type { Route } from '../route.ts';
import { type ErrorShape, Failures } from './openapi-failures.ts';
import { Components, type Json, requestBody } from './openapi-schemas.ts';

export interface ApiInfo {
  readonly title: string;
  /** What it is and what all routes have in common; Markdown. */
  readonly description?: string;
  readonly url: string;
  readonly server?: string;
  /** Any one of them is enough. */
  readonly security: Readonly<Record<string, Json>>;
  /** Descriptions of the groups, in the order that they are shown in. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Headers of every response with a status. */
  readonly headers?: (status: number) => readonly ReplyHeader[];
}

/** What the document says of a route. */
export type DocumentedRoute = Pick<Route, 'method' | 'path' | 'access' | 'bodyLimit' | 'errors' | 'doc'>;

export const openapiDocument = (
  table: readonly DocumentedRoute[],
  { title, description, url, server, security, tags = {}, headers = () => [] }: ApiInfo,
): Json => {
  const components = new Components();
  const failures = new Failures(components, (status) => headerRefs(headers(status)));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of table) {
    const path = route.path.replaceAll('+}', '}');
    const written = operation(route, components, failures, headers);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: written };
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      ...(description === undefined ? {} : { description }),
      version: apiVersion,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url, ...(server === undefined ? {} : { description: server }) }],
    security: Object.keys(security).map((name) => ({ [name]: [] })),
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: security,
      schemas: components.schemas,
      responses: failures.responses,
      headers: Object.fromEntries(
        Object.entries(replyHeaders).map(([name, header]) => [name, apart(header)]),
      ),
    },
  };
};

const operation = (
  route: DocumentedRoute,
  components: Components,
  failures: Failures,
  headers: (status: number) => readonly ReplyHeader[],
): Json => {
  const doc: RouteDoc = route.doc ?? { tag: 'Other', summary: `${route.method} ${route.path}` };
  const statuses = [
    ...(doc.errors ?? []),
    ...(route.access === 'public' ? [] : [401]),
    // A large body found no memory.
    ...(route.bodyLimit === undefined ? [] : [429, 503]),
    ...(doc.ranges === true ? [416] : []),
    500,
  ];
  const success = (status: number, body: Content | undefined): Json => ({
    description: statusMeanings[status] ?? `Status ${status}`,
    headers: headerRefs([...headers(status), ...(doc.replyHeaders ?? [])]),
    ...(body === undefined ? {} : { content: content(body, components, doc.examples?.response) }),
  });
  const status = doc.status ?? 200;
  return {
    operationId: operationId(route),
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description === undefined ? {} : { description: doc.description }),
    ...(route.access === 'public' ? { security: [] } : {}),
    parameters: [
      ...pathParameters(route.path, doc.params),
      ...parameters(doc.query, 'query'),
      ...parameters(doc.headers, 'header'),
    ],
    ...(doc.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: content(requestBody(doc.body), components, doc.examples?.request),
          },
        }),
    responses: {
      [status]: success(status, doc.response),
      ...(doc.orNothing === true ? { 204: success(204, undefined) } : {}),
      ...(doc.ranges === true ? { 206: success(206, doc.response) } : {}),
      ...Object.fromEntries(statuses.map((each) => [each, failures.response(each, errorShape(route))])),
    },
  };
};

const headerRefs = (names: readonly ReplyHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** `GET /models/{id+}` → `getModelsById`. */
const operationId = ({ method, path }: DocumentedRoute): string =>
  method.toLowerCase() +
  path
    .replace(/\{(\w+)\+?\}/g, (_, name: string) => `by-${name}`)
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const pathParameters = (path: string, given: TObject | undefined): Json[] =>
  [...path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name = '', rest]) => {
    const { description, schema } = apart(given?.properties[name] ?? { type: 'string' });
    const slashes = rest === '' ? [] : ['May hold slashes, as further segments or percent-encoded'];
    const text = [...(description === undefined ? [] : [description]), ...slashes].join('. ');
    return { name, in: 'path', required: true, ...(text === '' ? {} : { description: text }), schema };
  });

const parameters = (given: TObject | undefined, place: 'query' | 'header'): Json[] =>
  Object.entries(given?.properties ?? {}).map(([name, described]) => ({
    name,
    in: place,
    required: given?.required?.includes(name) ?? false,
    ...apart(described),
  }));

/** Viewers show the description of a parameter or header, not that of its schema. */
const apart = ({ description, ...schema }: JsonSchema): { description?: string; schema: JsonSchema } => ({
  ...(description === undefined ? {} : { description }),
  schema,
});

const errorShape = ({ errors = 'envelope' }: DocumentedRoute): ErrorShape =>
  typeof errors === 'function' ? 'either' : errors;

const content = (body: Content, components: Components, examples: Examples = {}): Json =>
  Object.fromEntries(
    Object.entries(body).map(([mediaType, schema]) => {
      const shown = Object.entries(examples[mediaType] ?? {}).map(([name, value]) => [name, { value }]);
      return [
        mediaType,
        {
          schema: components.lift(schema),
          ...(shown.length === 0 ? {} : { examples: Object.fromEntries(shown) }),
        },
      ];
    }),
  );
