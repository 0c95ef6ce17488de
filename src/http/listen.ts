/** Starts the HTTP edge, on uWebSockets.js or on node:http, and drains it. */
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Route } from '../../pipelines/route.ts';
import { linkTo, readTls, type TlsFiles, whyRefused } from '../helpers/address.ts';
import { IndexedList } from '../helpers/indexed-list.ts';
import type { Networks } from '../helpers/networks.ts';
import type { MetricFamily } from '../metrics/exposition.ts';
import { RouteStats } from '../metrics/route-stats.ts';
import type { Keys } from '../ports/keys.ts';
import type { LiveRequests } from '../ports/live.ts';
import type { Tracing } from '../ports/trace.ts';
import { BodyBudget } from './body/budget.ts';
import type { EdgeCore } from './edge-core.ts';
import { edgeFamilies, noCuts } from './edge-stats.ts';
import type { EdgeLimits } from './limits.ts';
import { liveRequests } from './live-request.ts';
import { RecentRequests } from './recent-requests.ts';
import { requestIds } from './request-id.ts';
import { respond } from './respond.ts';
import { RouteTable } from './route-table.ts';
import type { ResponseHeaders } from './served-lines.ts';
import type { Server, ServerOptions } from './servers/channel.ts';
import { startNode } from './servers/node.ts';
import { loadUws, startUws, type UwsLibrary } from './servers/uws.ts';

export { defaultEdgeLimits, type EdgeLimits } from './limits.ts';

export interface EdgeOptions {
  readonly routes: readonly Route[];
  /** With paths outside `/v1`; none unless given. */
  readonly pages?: readonly Route[];
  readonly keys: Keys;
  readonly log: Logger;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly tls?: TlsFiles;
  readonly limits: EdgeLimits;
  /** Headers, in lower case, that pipelines read because the catalog names them; none unless given. */
  readonly sessionHeaders?: () => readonly string[];
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Which headers say how a request was served; all by default. */
  readonly responseHeaders?: ResponseHeaders;
  /** Proxies whose `x-forwarded-for` is believed; none unless given. */
  readonly trustedProxies?: Networks | undefined;
  /** Other processes of the same gateway listen there too. */
  readonly shared?: boolean;
  /** `auto`: uWebSockets.js where its binary loads, else node:http. */
  readonly edge?: 'auto' | 'uws' | 'node';
}

export interface Edge {
  /** Where it listens, without `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly name: 'uws' | 'node';
  /** Requests not finished yet. */
  inFlight(): number;
  families(): readonly MetricFamily[];
  readonly requests: LiveRequests;
  /** Accepts no more connections and resolves when nothing is in flight; after the drain time the rest is cut. */
  drain(drainMs: number, options?: DrainOptions): Promise<void>;
}

export interface DrainOptions {
  /**
   * Another process takes over: kept-alive connections close with their next response, so that no client loses a request
   * that it sends on one just now; idle ones close by their time-out.
   */
  readonly handOver: boolean;
}

export const listen = async (options: EdgeOptions): Promise<Edge> => {
  const core: EdgeCore = {
    routes: new RouteTable(options.routes),
    pages: new RouteTable(options.pages ?? [], ''),
    unrouted: new RouteStats('other', 'other'),
    cuts: noCuts(),
    keys: options.keys,
    log: options.log,
    limits: options.limits,
    bodies: bodyBudget(options),
    tracing: options.tracing,
    responseHeaders: options.responseHeaders ?? 'all',
    trustedProxies: options.trustedProxies,
    nextId: requestIds(),
    open: new IndexedList(),
    recent: new RecentRequests(),
    now: performance.now(),
    logging: options.log.isLevelEnabled('info'),
    draining: false,
    drained: () => {},
  };
  const server = await start(options, core);
  const timer = setInterval(() => {
    core.now = performance.now();
    core.logging = options.log.isLevelEnabled('info');
    for (const response of core.open) response.tick();
  }, options.limits.tickMs);
  timer.unref();
  const { host, tls } = options;
  let drained: Promise<void> | undefined;
  return {
    url: linkTo(tls === undefined ? 'http' : 'https', { host, port: server.port }),
    port: server.port,
    name: server.name,
    inFlight: () => core.open.size,
    families: () => edgeFamilies(core, server.connections()),
    requests: liveRequests(core),
    drain: (drainMs, drainOptions) => {
      drained ??= drain(core, server, drainMs, drainOptions).finally(() => clearInterval(timer));
      return drained;
    },
  };
};

/** At least one body fits, whatever the settings. */
const bodyBudget = ({ routes, limits }: EdgeOptions): BodyBudget => {
  const largest = Math.max(0, ...routes.map(({ bodyLimit = 0 }) => bodyLimit));
  return new BodyBudget(
    Math.max(largest, limits.bodyBytes),
    Math.max(largest, limits.bodyBytesPerSubscription),
  );
};

const drain = async (
  core: EdgeCore,
  server: Server,
  drainMs: number,
  { handOver }: DrainOptions = { handOver: false },
): Promise<void> => {
  core.draining = true;
  // Right after this tick's new connections were accepted: what is still in the backlog of a closed port is lost.
  await setImmediate();
  server.stopListening();
  if (handOver) await disconnected(server, drainMs);
  await emptied(core, drainMs);
  for (const response of core.open) response.shutDown();
  // The last responses are on their way to the operating system.
  await emptied(core, core.limits.lingerMs);
  await server.close();
};

const disconnected = async (server: Server, waitMs: number): Promise<void> => {
  const until = performance.now() + waitMs;
  while (server.connections() > 0 && performance.now() < until) await delay(50);
};

const emptied = (core: EdgeCore, waitMs: number): Promise<void> =>
  new Promise((resolve) => {
    if (core.open.size === 0) {
      resolve();
      return;
    }
    const timer = setTimeout(resolve, waitMs);
    core.drained = () => {
      clearTimeout(timer);
      resolve();
    };
  });

const noHeaders: readonly string[] = [];

const start = async (options: EdgeOptions, core: EdgeCore): Promise<Server> => {
  const serverOptions: ServerOptions = {
    host: options.host,
    port: options.port,
    shared: options.shared,
    tls: options.tls,
    limits: options.limits,
    sessionHeaders: options.sessionHeaders ?? (() => noHeaders),
    nextId: core.nextId,
    handle: (channel) => respond(core, channel),
  };
  const pair = options.tls && readTls(options.tls);
  const library = options.edge === 'node' ? undefined : load(options);
  if (library === undefined) return startNode(serverOptions, pair);
  const server = await startUws(library, serverOptions);
  if (server === undefined) throw await whyRefused(options);
  return server;
};

const load = (options: EdgeOptions): UwsLibrary | undefined => {
  try {
    return loadUws(options.limits);
  } catch (error) {
    if (options.edge === 'uws') throw error;
    // Its first line lists what it supports; the next says what went wrong here.
    const lines = String(error).split('\n').filter(Boolean);
    const reason = lines[1] ?? lines[0];
    options.log.warn({ reason }, 'uWebSockets.js cannot be loaded here; serving with node:http instead');
    return undefined;
  }
};
