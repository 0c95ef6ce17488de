/** Finds the caller that the API key of a request belongs to, or 401. */
import { type Observable, throwError } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Keys } from '../../src/ports/keys.ts';

const scheme = 'Bearer ';

export const authenticate = (keys: Keys, exchange: Exchange): Caller | Observable<Caller> => {
  const authorization = exchange.header('authorization');
  if (authorization === '' || authorization === 'Bearer') return byKey(keys, exchange.header('x-api-key'));
  // `Authorization` wins even when what it carries is no key of ours.
  if (!authorization.startsWith(scheme)) return throwError(invalidKey);
  return byKey(keys, authorization.slice(scheme.length).trim());
};

const byKey = (keys: Keys, secret: string): Caller | Observable<Caller> =>
  secret === '' ? throwError(noKey) : keys.authenticate(secret);

const noKey = () => fail('authentication', 'No API key provided');
const invalidKey = () => fail('authentication', 'Invalid API key');
