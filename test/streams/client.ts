/** A client that reads event streams, leaves in the middle, and comes back. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { TestGateway } from '../gateway.ts';

export type At = Pick<TestGateway, 'url' | 'key'>;

export interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export const send = async (
  { url, key }: At,
  method: string,
  path: string,
  {
    body,
    headers = {},
  }: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<IncomingMessage> => {
  const sent = request(`${url}${path}`, {
    method,
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  return response.setEncoding('utf8');
};

export const whole = async (response: IncomingMessage): Promise<Answered> => {
  let text = '';
  for await (const piece of response) text += piece;
  // Not an event: it is written while there is none.
  return {
    status: response.statusCode,
    headers: response.headers,
    text: text.replaceAll(': keep-alive\n\n', ''),
  };
};

export const ask = async (...request: Parameters<typeof send>): Promise<Answered> =>
  whole(await send(...request));

/** Whole events of a text, without comments and what clients ignore beside them. */
export const eventsOf = (text: string): string[] =>
  text
    .split(/(?<=\n\n)/)
    .filter((event) => event.endsWith('\n\n'))
    .map((event) => event.split('\n').filter((line) => /^(?:id|event|data): /.test(line)))
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n\n`);

/** Reads at least so many events, then cuts the connection; returns those that came whole. */
export const leaveAfter = async (response: IncomingMessage, events: number): Promise<string[]> => {
  let text = '';
  response.on('error', () => {});
  await new Promise<void>((resolve) => {
    response.on('end', resolve);
    response.on('data', (piece: string) => {
      text += piece;
      if (eventsOf(text).length >= events) resolve();
    });
  });
  response.destroy();
  return eventsOf(text);
};

export const idOf = ({ headers }: { readonly headers: IncomingHttpHeaders }): string =>
  String(headers['x-stream-id']);

export const lastId = (events: readonly string[]): number =>
  Number(/^id: (\d+)$/m.exec(events.at(-1) ?? '')?.[1] ?? -1);

/** Reads on from an event, as browsers do. */
export const resume = (at: At, id: string, after: number): Promise<Answered> =>
  ask(at, 'GET', `/streams/${id}`, after < 0 ? {} : { headers: { 'last-event-id': String(after) } });

/** The answer of a chat stream. */
export const contentOf = (events: readonly string[]): string =>
  events
    .flatMap((event) => /^data: (\{.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => (JSON.parse(data).choices?.[0]?.delta?.content as string | undefined) ?? '')
    .join('');

export const say = (content: string) => [{ role: 'user' as const, content }];
