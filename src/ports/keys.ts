/** API keys: who a secret belongs to. */
import type { Observable } from 'rxjs';
import type { Caller } from './exchange.ts';

export interface Keys {
  /** The caller, at once when the key was seen lately; errors with `authentication` for a key that does not exist or is not active. */
  authenticate(secret: string): Caller | Observable<Caller>;
}
