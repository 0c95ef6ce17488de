/** A trace collector for tests: accepts OTLP over HTTP with JSON and rejects everything else. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const strict = { additionalProperties: false };
/** Ids are hexadecimal here, not base64 as bytes usually are in this JSON; numbers of 64 bits are strings. */
const Id = (bytes: number) => Type.String({ pattern: `^(?!0+$)[0-9a-f]{${bytes * 2}}$` });
const Nanoseconds = Type.String({ pattern: '^[1-9][0-9]{18}$' });
const AnyValue = Type.Union([
  Type.Object({ stringValue: Type.String() }, strict),
  Type.Object({ intValue: Type.String({ pattern: '^-?[0-9]+$' }) }, strict),
  Type.Object({ doubleValue: Type.Number() }, strict),
]);
const Attributes = Type.Array(Type.Object({ key: Type.String({ minLength: 1 }), value: AnyValue }, strict));
const SpanJson = Type.Object(
  {
    traceId: Id(16),
    spanId: Id(8),
    parentSpanId: Type.Optional(Id(8)),
    traceState: Type.Optional(Type.String()),
    name: Type.String({ minLength: 1 }),
    kind: Type.Integer({ minimum: 1, maximum: 5 }),
    startTimeUnixNano: Nanoseconds,
    endTimeUnixNano: Nanoseconds,
    attributes: Attributes,
    events: Type.Array(Type.Object({ name: Type.String(), timeUnixNano: Nanoseconds }, strict)),
    status: Type.Object({ code: Type.Integer({ minimum: 0, maximum: 2 }) }, strict),
  },
  strict,
);
const ExportTraceServiceRequest = Type.Object(
  {
    resourceSpans: Type.Array(
      Type.Object(
        {
          resource: Type.Object({ attributes: Attributes }, strict),
          scopeSpans: Type.Array(
            Type.Object(
              {
                scope: Type.Object({ name: Type.String(), version: Type.String() }, strict),
                spans: Type.Array(SpanJson, { minItems: 1 }),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
  },
  strict,
);
const checked = Compile(ExportTraceServiceRequest);

export type SpanJson = Static<typeof SpanJson>;

export interface Collector {
  /** Without a path. */
  readonly url: string;
  readonly spans: readonly SpanJson[];
  readonly resources: readonly Readonly<Record<string, string>>[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** What was wrong with what came. */
  readonly faults: readonly string[];
  /** What it answers next, in order; then 200. */
  readonly answers: { status: number; body?: string; headers?: Record<string, string> }[];
  close(): Promise<void>;
}

export const valuesOf = (attributes: Static<typeof Attributes>): Readonly<Record<string, string>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));

export const startCollector = async (): Promise<Collector> => {
  const [spans, faults]: [SpanJson[], string[]] = [[], []];
  const resources: Readonly<Record<string, string>>[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const answers: Collector['answers'] = [];
  const take = (text: string): void => {
    const message: unknown = JSON.parse(text);
    if (!checked.Check(message)) {
      faults.push(JSON.stringify(checked.Errors(message)));
      return;
    }
    for (const { resource, scopeSpans } of message.resourceSpans) {
      resources.push(valuesOf(resource.attributes));
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
  };
  const server = createServer(async (request, response) => {
    requests.push({ path: `${request.method} ${request.url}`, headers: request.headers });
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { status, body = '{}', headers = {} } = answers.shift() ?? { status: 200 };
    if (status === 200) take(Buffer.concat(pieces).toString());
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    requests,
    faults,
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
