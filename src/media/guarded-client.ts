/** Connects to addresses that clients give, once they have been resolved to public ones. */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector, Client } from 'undici';
import type { GuardedFetchOptions, Timeouts } from './guarded-fetch.ts';
import { mayConnect } from './public-address.ts';
import type { Lookup } from './resolver.ts';

/** A client of its own for each address: nothing is shared, kept open or remembered between requests. */
export const clientFor = (url: URL, options: GuardedFetchOptions, timeouts: Timeouts): Client =>
  new Client(url.origin, {
    connect: guardedConnector(options, timeouts.connect),
    headersTimeout: timeouts.firstByte,
    bodyTimeout: timeouts.idle,
  });

class ForbiddenAddress extends Error {
  readonly code = 'ENOTFOUND';
}

/**
 * Addresses are checked as the name is resolved for this very connection, and that answer is the one connected to; so
 * a name that answers differently each time gains nothing. The connected socket is looked at once more.
 */
export const guardedConnector = (options: GuardedFetchOptions, timeout: number): buildConnector.connector => {
  return (target, callback) => {
    const scheme = target.protocol === 'https:' ? 'https:' : 'http:';
    const isAllowed = (address: string) => mayConnect(scheme, address, options);
    const connect = buildConnector({
      timeout,
      maxCachedSessions: 0,
      lookup: guardedLookup(options.lookup ?? systemLookup, isAllowed),
      ...(options.ca !== undefined && { ca: options.ca }),
    });
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isAllowed(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      callback(new ForbiddenAddress('The connected address is not allowed'), null);
    });
  };
};

const guardedLookup =
  (lookup: Lookup, isAllowed: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
        return callback(new ForbiddenAddress('The name has an address that is not allowed'), []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
