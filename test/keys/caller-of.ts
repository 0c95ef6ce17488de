/** Resolves the caller of a secret, whether the lookup is synchronous or not. */
import { firstValueFrom, Observable } from 'rxjs';
import type { Caller } from '../../src/ports/exchange.ts';
import type { Keys } from '../../src/ports/keys.ts';

export const callerOf = async (keys: Keys, secret: string): Promise<Caller> => {
  const given = keys.authenticate(secret);
  return given instanceof Observable ? firstValueFrom(given) : given;
};
