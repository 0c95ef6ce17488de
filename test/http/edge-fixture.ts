/** Starts an edge with test routes, a known key and its log in memory. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { delay, of, throwError } from 'rxjs';
import type { Test } from 'tap';
import type { Route } from '../../pipelines/route.ts';
import { fail } from '../../src/errors.ts';
import {
  defaultEdgeLimits,
  type Edge,
  type EdgeLimits,
  type EdgeOptions,
  listen,
} from '../../src/http/listen.ts';
import type { Keys } from '../../src/ports/keys.ts';
import { RawClient } from './raw-client.ts';

export const goodKey = 'sk-good';
/** Known only after a while, as on first sight. */
export const slowKey = 'sk-slow';
/** Of another subscription. */
export const otherKey = 'sk-other';

const keys: Keys = {
  authenticate: (secret) => {
    const caller = of({ subscription: 'sub_test', key: 'key_test' });
    if (secret === goodKey) return caller;
    if (secret === otherKey) return of({ subscription: 'sub_other', key: 'key_other' });
    return secret === slowKey
      ? caller.pipe(delay(100))
      : throwError(() => fail('authentication', 'Invalid API key'));
  },
};

export interface EdgeFixture {
  readonly edge: Edge;
  readonly port: number;
  /** Parsed lines of the log. */
  readonly log: Record<string, unknown>[];
  client(): Promise<RawClient>;
}

export const startEdge = async (
  t: Test,
  name: 'uws' | 'node',
  routes: readonly Route[],
  limits: Partial<EdgeLimits> = {},
  options: Partial<EdgeOptions> = {},
): Promise<EdgeFixture> => {
  const log: Record<string, unknown>[] = [];
  const lines = new Writable({
    write: (line: Buffer, _encoding, done) => {
      log.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    },
  });
  const edge = await listen({
    routes,
    keys,
    log: pino({ level: 'info' }, lines),
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultEdgeLimits, lingerMs: 200, ...limits },
    edge: name,
    ...options,
  });
  const clients: RawClient[] = [];
  t.teardown(async () => {
    for (const client of clients) client.socket.destroy();
    await edge.drain(0);
  });
  const client = async () => {
    const connected = await RawClient.connect(edge.port, options.tls !== undefined);
    clients.push(connected);
    return connected;
  };
  return { edge, port: edge.port, log, client };
};
