/** A secret in; the caller it belongs to out, whether that is known at once or not. */
import { firstValueFrom, Observable } from 'rxjs';
import type { Caller } from '../../src/ports/exchange.ts';
import type { Keys } from '../../src/ports/keys.ts';

export const callerOf = async (keys: Keys, secret: string): Promise<Caller> => {
  const given = keys.authenticate(secret);
  return given instanceof Observable ? firstValueFrom(given) : given;
};
