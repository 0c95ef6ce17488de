/** Resolves the host names of clients' URLs with time-outs and a cache, apart from the threads that files and engines need. */
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export interface ResolverOptions {
  /** Name servers, `address:port`; those of the system where none are given. */
  readonly servers?: readonly string[] | undefined;
  /** Milliseconds for one name server, and how often it is asked. */
  readonly timeout?: number;
  readonly tries?: number;
}

/** As `dns.lookup` is, asked for all addresses. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Names that are remembered; the oldest is forgotten first. */
const mostNames = 10_000;
const longestMs = 300_000;
const shortestMs = 1_000;
/** A name that cannot be resolved is asked for again after this long: a server that does not answer costs its time-out once. */
const failedMs = 10_000;

interface Known {
  readonly answer: Promise<LookupAddress[]>;
  readonly age: Age;
}

interface Age {
  expiresAt: number;
}

interface Timed {
  readonly address: string;
  readonly ttl: number;
}

/** The hosts file and search domains are not looked at: clients name public hosts. */
export const createLookup = (
  { servers, timeout = 2_000, tries = 2 }: ResolverOptions = {},
  now: () => number = Date.now,
): Lookup => {
  const resolver = new Resolver({ timeout, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const known = new Map<string, Known>();

  const ask = async (name: string, age: Age): Promise<LookupAddress[]> => {
    const [four, six] = await Promise.allSettled<Timed[]>([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ]);
    const found = [...addresses(four, 4), ...addresses(six, 6)];
    if (found.length === 0) {
      age.expiresAt = now() + failedMs;
      throw reasonOf(four, six);
    }
    const seconds = Math.min(...found.map(({ ttl }) => ttl));
    age.expiresAt = now() + Math.min(longestMs, Math.max(shortestMs, seconds * 1000));
    return found.map(({ address, family }) => ({ address, family }));
  };

  const answerOf = (name: string): Promise<LookupAddress[]> => {
    const last = known.get(name);
    if (last !== undefined && last.age.expiresAt > now()) return last.answer;
    known.delete(name);
    // While the question is under way, the same name is not asked for again.
    const age = { expiresAt: Number.POSITIVE_INFINITY };
    const answer = ask(name, age);
    known.set(name, { answer, age });
    const [oldest] = known.keys();
    if (known.size > mostNames && oldest !== undefined) known.delete(oldest);
    return answer;
  };

  return (hostname, _options, callback) => {
    answerOf(hostname.toLowerCase()).then(
      (found) => callback(null, found),
      (reason) => callback(reason, []),
    );
  };
};

const addresses = (result: PromiseSettledResult<Timed[]> | undefined, family: 4 | 6) =>
  result?.status === 'fulfilled' ? result.value.map(({ address, ttl }) => ({ address, ttl, family })) : [];

/** `ETIMEOUT` where a server did not answer in time, else `ENOTFOUND`. */
const reasonOf = (...results: readonly (PromiseSettledResult<unknown> | undefined)[]): Error => {
  const reasons = results.flatMap((result) => (result?.status === 'rejected' ? [result.reason] : []));
  const late = reasons.find(({ code }: NodeJS.ErrnoException) => code === 'ETIMEOUT');
  return (
    late ?? Object.assign(new Error('The name has no address', { cause: reasons[0] }), { code: 'ENOTFOUND' })
  );
};
