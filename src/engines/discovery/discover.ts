/** The addresses of an engine's replicas, now and as they change. */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { defer, distinctUntilChanged, type Observable, of, retry, switchMap, tap, timer } from 'rxjs';
import type { EngineRow, ReplicaRow } from '../../../schemas/engines.ts';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import { errorText } from '../error-text.ts';
import type { ReplicaAddress } from '../pool/membership.ts';
import { type DnsOptions, watchDns } from './dns.ts';
import { watchList } from './file.ts';
import type { ClusterAddress } from './kubernetes-api.ts';
import { parseSource, type Source } from './source.ts';

export interface DiscoveryOptions {
  readonly dns?: DnsOptions;
  /** Undefined: this process does not run in a cluster. */
  readonly cluster?: ClusterAddress | undefined;
  /** Milliseconds between two looks at a file. */
  readonly fileInterval?: number;
}

/** Where Kubernetes puts the token of a pod. */
const podFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** By the variables that Kubernetes sets in every pod. */
export const clusterOf = (env: Readonly<Record<string, string | undefined>>): ClusterAddress | undefined => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === undefined || host === '') return undefined;
  return { url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`, folder: podFolder };
};

/** Why replicas cannot be asked for now; undefined: they can. */
type Report = (problem: string | undefined) => void;

/** Those that `replicas` of a row stands for. Throws a plain sentence when it cannot work. */
export const addressesOf = (
  replicas: EngineRow['replicas'],
  options: DiscoveryOptions,
  log: Logger,
  report: Report = () => undefined,
): Observable<readonly ReplicaAddress[]> =>
  typeof replicas === 'string' ? discover(parseSource(replicas), options, log, report) : of(listed(replicas));

const listed = (rows: readonly ReplicaRow[]): readonly ReplicaAddress[] =>
  rows.map((row, index) => {
    const address = typeof row === 'string' ? { url: row } : row;
    if (!URL.canParse(address.url)) throw new Error(`[${index}] is no address: ${address.url}`);
    return address;
  });

const pause = exponentialBackoff({ first: 1000, most: 30_000 });

/** Never errors: while a source cannot be asked, what it last said stays. */
const discover = (
  source: Source,
  options: DiscoveryOptions,
  log: Logger,
  report: Report,
): Observable<readonly ReplicaAddress[]> => {
  let failures = 0;
  return watch(source, options, log, report).pipe(
    tap(() => {
      report(undefined);
      if (failures > 0) log.info('replicas are found again');
      failures = 0;
    }),
    retry({
      delay: (error: unknown) => {
        const wait = pause(++failures);
        report(errorText(error));
        log.warn({ err: error, retryMs: wait }, 'replicas cannot be asked for; the known ones stay');
        return timer(wait);
      },
    }),
    distinctUntilChanged<readonly ReplicaAddress[]>(isDeepStrictEqual),
    tap((found) => log.info({ replicas: found.map(({ url }) => url) }, 'replicas found')),
  );
};

const watch = (
  source: Source,
  options: DiscoveryOptions,
  log: Logger,
  report: Report,
): Observable<readonly ReplicaAddress[]> => {
  switch (source.kind) {
    case 'dns':
    case 'srv':
      return watchDns(source, options.dns);
    case 'file':
      return watchList(source.file, {
        ...(options.fileInterval !== undefined && { interval: options.fileInterval }),
        refused: (error) => {
          report(errorText(error));
          log.error({ err: error }, 'list of replicas refused; the former one stays');
        },
      });
    case 'kubernetes': {
      const { cluster } = options;
      if (cluster === undefined)
        throw new Error('needs a Kubernetes cluster: KUBERNETES_SERVICE_HOST is not set');
      return defer(() => import('./kubernetes.ts')).pipe(
        switchMap(({ watchCluster }) => watchCluster(cluster, source)),
      );
    }
  }
};
