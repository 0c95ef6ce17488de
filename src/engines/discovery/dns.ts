/** Finds replicas by DNS: the addresses of a name, or the targets of an SRV record, asked for again as they expire. */
import { Resolver } from 'node:dns/promises';
import { defer, type Observable, repeat, timer } from 'rxjs';
import type { ReplicaAddress } from '../pool/membership.ts';
import { candidates, type SearchRules, systemSearch } from './names.ts';
import { addressUrl, type Source } from './source.ts';

export interface DnsOptions {
  /** `address:port`; those of the system where none are given. */
  readonly servers?: readonly string[] | undefined;
  readonly search?: () => SearchRules;
  /** Milliseconds between two questions, whatever the records' time to live. */
  readonly shortestMs?: number;
  readonly longestMs?: number;
}

type DnsSource = Extract<Source, { kind: 'dns' | 'srv' }>;

interface Answer {
  readonly replicas: readonly ReplicaAddress[];
  /** Seconds for which it holds. */
  readonly ttl: number;
}

interface Located {
  readonly address: string;
  readonly ttl: number;
}

const none = { replicas: [], ttl: 0 } as const;
/** A server's word that there is nothing; any other failure says nothing about replicas. */
const absent = new Set(['ENOTFOUND', 'ENODATA']);
/** Addresses of one engine. */
const mostReplicas = 1000;

/** Emits what each answer has; errors when no server answers. A name without addresses has no replicas. */
export const watchDns = (
  source: DnsSource,
  options: DnsOptions = {},
): Observable<readonly ReplicaAddress[]> => {
  const { servers, search = systemSearch, shortestMs = 1000, longestMs = 30_000 } = options;
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  let waitMs = shortestMs;
  const ask = async (): Promise<readonly ReplicaAddress[]> => {
    const names = candidates(source.name, search());
    const { replicas, ttl } =
      source.kind === 'srv' ? await bySrv(resolver, source, names) : await byName(resolver, source, names);
    waitMs = Math.min(longestMs, Math.max(shortestMs, ttl * 1000));
    return replicas.slice(0, mostReplicas);
  };
  return defer(ask).pipe(repeat({ delay: () => timer(waitMs) }));
};

const byName = async (
  resolver: Resolver,
  { scheme, name, port, path }: Extract<DnsSource, { kind: 'dns' }>,
  names: readonly string[],
): Promise<Answer> => {
  const found = await firstOf(names, (each) => addressesOf(resolver, each));
  const host = `${name.replace(/\.$/, '')}:${port}`;
  return {
    replicas: found.map(({ address }) => ({ url: addressUrl(scheme, address, port, path), host })),
    ttl: shortest(found),
  };
};

/** The targets of the lowest priority, by their weights. */
const bySrv = async (
  resolver: Resolver,
  { scheme, path }: Extract<DnsSource, { kind: 'srv' }>,
  names: readonly string[],
): Promise<Answer> => {
  const records = await firstOf(names, (name) => ignoreAbsent(resolver.resolveSrv(name)));
  if (records.length === 0) return none;
  const first = Math.min(...records.map(({ priority }) => priority));
  const chosen = records.filter(({ priority }) => priority === first).slice(0, mostReplicas);
  const located = await Promise.all(
    chosen.map(async ({ name, port, weight }) => {
      const addresses = await addressesOf(resolver, name);
      const host = `${name}:${port}`;
      // A target's weight is that of all its addresses; 0 stands for hardly ever.
      const share = Math.max(weight, 0.01) / Math.max(addresses.length, 1);
      const replicas = addresses.map(({ address }) => ({
        url: addressUrl(scheme, address, port, path),
        host,
        // Without any weights, all count the same.
        ...(chosen.some((record) => record.weight > 0) && { weight: share }),
      }));
      return { replicas, ttl: shortest(addresses) };
    }),
  );
  return {
    replicas: located.flatMap(({ replicas }) => replicas),
    ttl: Math.min(...located.map(({ ttl }) => ttl)),
  };
};

/** The first name that has an answer. */
const firstOf = async <Found>(
  names: readonly string[],
  ask: (name: string) => Promise<readonly Found[]>,
): Promise<readonly Found[]> => {
  for (const name of names) {
    const found = await ask(name);
    if (found.length > 0) return found;
  }
  return [];
};

const addressesOf = async (resolver: Resolver, name: string): Promise<readonly Located[]> => {
  const both = await Promise.all([
    ignoreAbsent(resolver.resolve4(name, { ttl: true })),
    ignoreAbsent(resolver.resolve6(name, { ttl: true })),
  ]);
  return both.flat();
};

const ignoreAbsent = async <Found>(question: Promise<Found[]>): Promise<Found[]> =>
  question.catch((error: NodeJS.ErrnoException) => {
    if (absent.has(error.code ?? '')) return [];
    throw error;
  });

const shortest = (found: readonly Located[]): number =>
  found.length === 0 ? 0 : Math.min(...found.map(({ ttl }) => ttl));
