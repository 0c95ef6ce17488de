/** Routes and authenticates a request, and subscribes to its pipeline: the one subscribe of the request path. */
import { Observable, of, switchMap } from 'rxjs';
import { authenticate } from '../../pipelines/core/authenticate.ts';
import { fail } from '../errors.ts';
import type { Caller, KeyedPipeline, Reply } from '../ports/exchange.ts';
import { RequestBody } from './body/request-body.ts';
import { clientAddress } from './client-address.ts';
import { preflight } from './cors.ts';
import type { EdgeCore } from './edge-core.ts';
import { HttpExchange } from './http-exchange.ts';
import { Response } from './response.ts';
import type { Found, ServedRoute } from './route-table.ts';
import type { Channel } from './servers/channel.ts';

/** Never throws: an error that reaches the server's library ends the process, and should cost one request. */
export const respond = (core: EdgeCore, channel: Channel): void => {
  try {
    subscribe(core, channel);
  } catch (err) {
    core.log.error({ err }, 'request failed');
    channel.destroy();
  }
};

const subscribe = (core: EdgeCore, channel: Channel): void => {
  let found: Found | undefined;
  let unreadable: unknown;
  try {
    found = core.routes.find(channel.path) ?? findPage(core, channel);
  } catch (thrown) {
    unreadable = thrown;
  }
  const route = found?.byMethod.get(channel.method);
  const body = bodyOf(core, channel, route?.bodyLimit ?? 0);
  const exchange = new HttpExchange(core, channel, route, found?.params, body);
  const response = new Response(exchange);
  channel.owner = response;
  if (body !== undefined) channel.receiveBody();
  core.open.add(response);
  try {
    if (channel.malformed !== undefined) throw fail('invalid_request', channel.malformed);
    if (unreadable !== undefined) throw unreadable;
    response.attach(run(exchange, found).subscribe(response));
  } catch (thrown) {
    response.error(thrown);
  }
};

/** Any other method stays without a route, as it is where there are no pages. */
const findPage = ({ pages }: EdgeCore, { method, path }: Channel): Found | undefined =>
  method === 'GET' || method === 'HEAD' ? pages.find(path) : undefined;

/** Throws what becomes the error response; so may the pipeline. */
const run = (exchange: HttpExchange, found: Found | undefined): Observable<Reply> => {
  const { core, channel, route, method, path } = exchange;
  if (found === undefined) throw fail('not_found', `No route for ${method} ${cut(path)}`);
  if (method === 'OPTIONS') return of(preflight(channel, found.allow));
  if (route === undefined) throw notAllowed(method, path, found.allow);
  if (route.access === 'public') return route.pipeline(exchange, { exchange });
  // While the headers can be read: a key may have to be looked up.
  const address = core.trustedProxies && clientAddress(channel, core.trustedProxies);
  const caller = authenticate(core.keys, exchange);
  return caller instanceof Observable
    ? caller.pipe(switchMap((found) => runFor(found, exchange, route, address)))
    : runFor(caller, exchange, route, address);
};

const runFor = (
  caller: Caller,
  exchange: HttpExchange,
  route: Extract<ServedRoute, { pipeline: KeyedPipeline }>,
  address: string | undefined,
): Observable<Reply> => {
  exchange.caller = caller;
  caller.scope?.check(route, () => address ?? exchange.channel.address);
  if (exchange.upload !== undefined) exchange.upload.subscription = caller.subscription;
  return route.pipeline(exchange, { exchange, caller });
};

/** A path may be as long as all headers together. */
const cut = (path: string): string => (path.length > 200 ? `${path.slice(0, 199)}…` : path);

const notAllowed = (method: string, path: string, allow: string) =>
  fail('method_not_allowed', `${method} is not allowed on ${cut(path)}; it takes ${allow}`, {
    headers: { allow },
  });

const bodyOf = ({ bodies }: EdgeCore, channel: Channel, limit: number): RequestBody | undefined =>
  channel.bodyLength === 0 || channel.malformed !== undefined
    ? undefined
    : new RequestBody(channel, channel.bodyLength, limit, bodies);
