/** The simulator as an HTTP engine of its own: OpenAI-like requests in, answers with the habits of real engines out. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { asApiError, fail } from '../../../errors.ts';
import { Demand } from '../../../ports/demand.ts';
import { simulateChat } from '../chat.ts';
import { paceOf, type SimulatorOptions } from '../simulator.ts';
import { systemClock, Ticker } from '../ticker.ts';
import { answerChat } from './exchange.ts';
import type { Quirk } from './quirks.ts';
import { readBody } from './read-body.ts';
import { readRequest } from './read-request.ts';
import { sendError, sendJson } from './send.ts';
import { type SimulatorStats, Tally } from './tally.ts';

export interface SimulatorServerOptions extends SimulatorOptions {
  readonly host?: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly quirks?: Iterable<Quirk>;
  /** Ids on offer, all others answered 404; absent: every id is served. */
  readonly models?: readonly string[];
  /** Asked of every request as a bearer token. */
  readonly key?: string;
  /** Sees every chat request before it is answered. */
  readonly onRequest?: (request: { readonly body: unknown; readonly headers: IncomingHttpHeaders }) => void;
}

export interface SimulatorServer {
  /** Ends in `/v1`. */
  readonly url: string;
  /** Cuts running answers off. */
  close(): Promise<void>;
  stats(): SimulatorStats;
}

const defaultModels = ['simulator', 'simulator-reasoning'];

export async function startSimulatorServer(options: SimulatorServerOptions = {}): Promise<SimulatorServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const tally = new Tally();
  const server = createServer(listener(options, tally));
  // A gateway keeps its connections: they must not be closed under its next request.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}/v1`,
    stats: () => tally.stats(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listener(options: SimulatorServerOptions, tally: Tally): RequestListener {
  const quirks = new Set(options.quirks);
  const ticker = new Ticker(options.clock ?? systemClock);
  const pace = paceOf(options);

  const chat = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    options.onRequest?.({ body, headers: request.headers });
    const chatRequest = readRequest(body);
    const { model, call } = chatRequest;
    if (options.models !== undefined && !options.models.includes(model)) throw unknownModel(model);
    const demand = new Demand();
    const thinker = {
      // Every model thinks when asked; those with a telling name think unasked.
      reasoning: {
        mandatory: false,
        supports_max_tokens: true,
        default_enabled: /reason|think/i.test(model),
      },
    };
    const answer = simulateChat(thinker, call, { requestId: '', demand }, pace, ticker);
    answerChat(chatRequest, response, answer, demand, quirks, tally);
  };

  const models = (_request: IncomingMessage, response: ServerResponse): void => {
    const data = (options.models ?? defaultModels).map((id) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'simulator',
    }));
    sendJson(response, JSON.stringify({ object: 'list', data }));
  };

  const health = (_request: IncomingMessage, response: ServerResponse): void => {
    sendJson(response, '{"status":"ok"}');
  };

  const routes: Readonly<Record<string, { method: string; run: typeof chat | typeof health }>> = {
    '/v1/chat/completions': { method: 'POST', run: chat },
    '/v1/models': { method: 'GET', run: models },
    '/health': { method: 'GET', run: health },
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) throw fail('not_found', 'Not Found');
    if (request.method !== route.method) {
      throw fail('method_not_allowed', 'Method Not Allowed', { headers: { allow: route.method } });
    }
    if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`) {
      throw fail('authentication', 'Unauthorized');
    }
    await route.run(request, response);
  };

  return (request, response) => {
    serve(request, response).catch((thrown: unknown) => sendError(response, asApiError(thrown), quirks));
  };
}

const unknownModel = (model: string) =>
  fail('not_found', `The model \`${model.slice(0, 100)}\` does not exist.`);
