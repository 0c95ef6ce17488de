/** Signs reasoning text with a key that all replicas of an installation share. */
import { createHmac, type Hmac, type KeyObject } from 'node:crypto';
import { defer, from, map, type Observable, of, tap } from 'rxjs';
import { fromJsonText, type JsonText } from '../ports/chat.ts';
import type { State } from '../ports/state.ts';
import { readInstallationKey } from './installation-key.ts';

/** Grows with a thought as it comes in; keeps no more of it than a piece. */
export interface Signature {
  add(text: JsonText): void;
  /** Base64, when nothing more is to be added. */
  end(): string;
}

export type Signer = () => Signature;

/** Emits the signer, synchronously once the key has been read; errors with `unavailable` when it cannot be. */
export type Signing = () => Observable<Signer>;

export const openSigning = (state: State): Signing => {
  let ready: Observable<Signer> | undefined;
  const loading = defer(() => from(readInstallationKey(state, 'thoughts'))).pipe(
    map(
      (key): Signer =>
        () =>
          new ThoughtSignature(key),
    ),
    tap((signer) => {
      ready = of(signer);
    }),
  );
  return () => ready ?? loading;
};

/** Characters put together before they are hashed: a call for each token would cost more than the hash. */
const piece = 4096;

class ThoughtSignature implements Signature {
  readonly #hmac: Hmac;
  #pending = '' as JsonText;

  constructor(key: KeyObject) {
    this.#hmac = createHmac('sha256', key);
  }

  add(text: JsonText): void {
    this.#pending = (this.#pending + text) as JsonText;
    if (this.#pending.length >= piece) this.#hash();
  }

  end(): string {
    this.#hash();
    return this.#hmac.digest('base64');
  }

  /** As UTF-16, since a character may be cut in two between pieces. */
  #hash(): void {
    this.#hmac.update(fromJsonText(this.#pending), 'utf16le');
    this.#pending = '' as JsonText;
  }
}
