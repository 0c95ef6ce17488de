/** The HTTP edge on uWebSockets.js. */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { setUnlessSet } from '../../environment.ts';
import type { EdgeLimits } from '../limits.ts';
import type { Server, ServerOptions } from './channel.ts';
import { UwsChannel } from './uws-channel.ts';

/*
 * What the library does by itself, and what cannot be configured (20.41 on Node 20, 20.64 on Node 22 and later):
 * - A head has 10 to 14 s to arrive, and a connection may be idle as long; then it is closed without a response.
 * - HTTP/1.0, a target that does not begin with `/` and anything that is not HTTP get 505, a missing host and
 *   unreadable chunks 400, heads over UWS_HTTP_MAX_HEADERS_SIZE 431. These responses are HTML and not ours.
 * - 20.41 also answers 505 to a first line that arrives in several reads, and takes a head that breaks the grammar or
 *   has over 100 lines for an incomplete one.
 * - `Expect: 100-continue` is answered at once, before our handler is called.
 * - A second request on a connection whose first has no response yet closes the connection: only requests that are
 *   answered in the same tick can be pipelined. `UwsChannel` relies on it where it refuses to read on.
 * - Of two lines of a name the first counts, an empty one as none; any transfer coding counts as chunked. `FramingCheck`
 *   refuses these.
 * - Chunks are read leniently: extensions become part of the size, line ends are not looked at, trailers are taken for
 *   the next request. `UwsChannel` therefore closes the connection behind every chunked request.
 * - A line without a name hides those behind it, from us too.
 */

export type UwsLibrary = typeof import('uWebSockets.js');

/** Throws when no binary of the library runs on this machine. */
export const loadUws = (limits: EdgeLimits): UwsLibrary => {
  setUnlessSet('UWS_HTTP_MAX_HEADERS_SIZE', String(limits.maxHeaderBytes));
  const library = createRequire(import.meta.url)('uWebSockets.js') as UwsLibrary & {
    _cfg(key: string): void;
  };
  // Without a header that names the library; `Chunks` counts on it.
  library._cfg('silent');
  return library;
};

/** Undefined when the address cannot be used: the library does not say why. */
export const startUws = async (library: UwsLibrary, options: ServerOptions): Promise<Server | undefined> => {
  const { tls, limits, sessionHeaders, handle } = options;
  const app =
    tls === undefined
      ? library.App()
      : library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  const handler = (method?: string) => (response: HttpResponse, request: HttpRequest) => {
    const channel = new UwsChannel(
      response,
      request,
      method ?? request.getCaseSensitiveMethod(),
      limits,
      sessionHeaders(),
    );
    try {
      handle(channel);
    } finally {
      // The library ends the process if a handler neither responds nor subscribes to `onAborted`.
      channel.leaveHandler();
    }
  };
  // Most requests: their method is known here and need not be read from the library, which is slow.
  app.get('/*', handler('GET'));
  app.post('/*', handler('POST'));
  app.any('/*', handler());
  let connections = 0;
  const counted = (_: unknown, change: unknown): void => {
    connections += Number(change);
  };
  app.filter(counted);
  const socket = await listening(app, options);
  if (!socket) return undefined;
  let open = true;
  const stopListening = () => {
    if (open) library.us_listen_socket_close(socket);
    open = false;
  };
  return {
    name: 'uws',
    port: library.us_socket_local_port(socket),
    connections: () => connections,
    stopListening,
    close: async () => {
      stopListening();
      app.close();
    },
  };
};

/** Shared: the system distributes connections over all processes that listen so. Exclusive: a second one is refused. */
const sharedPort = 0;
const exclusivePort = 1;

const listening = (
  app: TemplatedApp,
  { host, port, shared }: ServerOptions,
): Promise<us_listen_socket | false> =>
  new Promise((resolve) => {
    // Its typings lack the overload with host, port and options.
    Reflect.apply(app.listen, app, [host, port, shared === true ? sharedPort : exclusivePort, resolve]);
  });
