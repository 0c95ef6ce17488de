/** GET /health: how catalog, engines and storage are doing, 503 when one of them is down. */
import { catchError, defer, forkJoin, map, type Observable, of, timeout } from 'rxjs';
import type { Health } from '../../schemas/health.ts';
import { apiVersion } from '../../schemas/openapi.ts';
import { asApiError, fail } from '../../src/errors.ts';
import { jsonReply, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { type Composed, compose } from '../core/compose.ts';

/** A store that has not responded by then counts as down. */
const timeoutMs = 2000;

type Checks = Health['checks'];

/** All that health looks at. */
export interface Watched {
  readonly catalog: Pick<Ports['catalog'], 'list'> & { inService(): readonly { readonly engine: string }[] };
  readonly engines: Pick<Ports['engines'], 'health'>;
  readonly state: Pick<Ports['state'], 'check'>;
  readonly blobs: Pick<Ports['blobs'], 'check'>;
  readonly vectors: Pick<Ports['vectors'], 'check'>;
}

export const health = (ports: Watched): Composed<unknown, WholeReply, unknown> =>
  compose(
    runChecks(ports),
    refuseDown, // 503
    (checks) => jsonReply(report(checks)),
  );

const runChecks = (ports: Watched) => (): Observable<Checks> =>
  storage(ports).pipe(
    map((word): Checks => ({ catalog: catalog(ports), engines: engines(ports), storage: word })),
  );

/** Nothing works without records; without files or vectors most does. */
const storage = ({ state, blobs, vectors }: Watched): Observable<Checks['storage']> =>
  forkJoin([responds(state), responds(blobs), responds(vectors)]).pipe(
    map(([records, ...others]) => (records ? (others.every(Boolean) ? 'ok' : 'degraded') : 'down')),
  );

const responds = (store: { check(): Promise<void> }): Observable<boolean> =>
  defer(() => store.check()).pipe(
    timeout(timeoutMs),
    map(() => true),
    catchError(() => of(false)),
  );

/** An unreadable file leaves the models in service; an unreadable served list does not. */
const catalog = (ports: Watched): Checks['catalog'] => {
  try {
    ports.catalog.list();
    return 'ok';
  } catch (error) {
    return asApiError(error).kind === 'engine_unreachable' ? 'degraded' : 'down';
  }
};

/** Engines that no model in service uses do not count. */
const engines = (ports: Watched): Checks['engines'] => {
  const words = ports.engines.health();
  const needed = new Set(ports.catalog.inService().map(({ engine }) => engine));
  const down = [...needed].filter((name) => words[name] !== 'ok').length;
  return down === 0 ? 'ok' : down < needed.size ? 'degraded' : 'down';
};

const refuseDown = (checks: Checks): Checks => {
  const down = Object.entries(checks).filter(([, word]) => word === 'down');
  if (down.length === 0) return checks;
  throw fail('unavailable', `Down: ${down.map(([name]) => name).join(', ')}`);
};

const report = (checks: Checks): Health => ({
  status: Object.values(checks).every((word) => word === 'ok') ? 'ok' : 'degraded',
  version: apiVersion,
  time: Math.floor(Date.now() / 1000),
  checks,
});
