/** API keys: who a secret belongs to. */
import type { Observable } from 'rxjs';
import type { Caller } from './exchange.ts';

/** What a key may be used for. */
export interface KeyScope {
  /** One that is not allowed does not exist for the caller. */
  allowsModel(id: string): boolean;
  /** Throws `authentication` for a request that the key may not be used for. `path` is the route's, as declared. */
  check(route: { readonly method: string; readonly path: string }, address: () => string): void;
}

export interface Keys {
  /** The caller, at once when the key was seen lately; errors with `authentication` for a key that does not exist or is not active. */
  authenticate(secret: string): Caller | Observable<Caller>;
}
