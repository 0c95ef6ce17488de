/** A channel in; its request routed, authenticated and run by its pipeline, the replies written: the one subscribe of the product. */
import { Observable, of, switchMap, throwError } from 'rxjs';
import { authenticate } from '../../pipelines/core/authenticate.ts';
import { fail } from '../errors.ts';
import type { Reply } from '../ports/exchange.ts';
import type { Channel } from './channel.ts';
import { preflight } from './cors.ts';
import type { EdgeCore } from './edge-core.ts';
import { HttpExchange } from './http-exchange.ts';
import { emptyBody, RequestBody } from './request-body.ts';
import { Response } from './response.ts';
import type { Found } from './route-table.ts';

export const respond = (core: EdgeCore, channel: Channel): void => {
  let found: Found | undefined;
  let unreadable: unknown;
  try {
    found = core.routes.find(channel.path);
  } catch (thrown) {
    unreadable = thrown;
  }
  const route = found?.byMethod.get(channel.method);
  const body = bodyOf(channel, route?.bodyLimit ?? 0);
  const exchange = new HttpExchange(core, channel, route, found?.params, body ?? emptyBody);
  const response = new Response(core, channel, exchange, body, route);
  channel.owner = response;
  if (body !== undefined) channel.receiveBody();
  core.open.add(response);
  const replies =
    unreadable === undefined ? run(core, channel, exchange, found) : throwError(() => unreadable);
  replies.subscribe(response);
};

const run = (
  core: EdgeCore,
  channel: Channel,
  exchange: HttpExchange,
  found: Found | undefined,
): Observable<Reply> => {
  const { method, path } = channel;
  if (found === undefined) return throwError(() => fail('not_found', `No route for ${method} ${cut(path)}`));
  if (method === 'OPTIONS') return of(preflight(channel, found.allow));
  const route = found.byMethod.get(method);
  if (route === undefined) return throwError(() => notAllowed(method, path, found.allow));
  try {
    if (route.access === 'public') return route.pipeline(exchange, { exchange });
    const { pipeline } = route;
    const caller = authenticate(core.keys, exchange);
    return caller instanceof Observable
      ? caller.pipe(switchMap((found) => pipeline(exchange, { exchange, caller: found })))
      : pipeline(exchange, { exchange, caller });
  } catch (thrown) {
    return throwError(() => thrown);
  }
};

/** A path may be as long as all headers together. */
const cut = (path: string): string => (path.length > 200 ? `${path.slice(0, 199)}…` : path);

const notAllowed = (method: string, path: string, allow: string) =>
  fail('method_not_allowed', `${method} is not allowed on ${cut(path)}; it takes ${allow}`, {
    headers: { allow },
  });

const bodyOf = (channel: Channel, limit: number): RequestBody | undefined => {
  const declared = channel.header('content-length');
  if (declared !== '')
    return declared === '0' ? undefined : new RequestBody(channel, Number(declared), limit);
  return channel.header('transfer-encoding') === '' ? undefined : new RequestBody(channel, undefined, limit);
};
