/** Signs reasoning text with a key that all replicas of an installation share. */
import { createHmac, type Hmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { defer, from, map, type Observable, of, tap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { fromJsonText, type JsonText } from '../ports/engines/chat.ts';
import type { State } from '../ports/state.ts';
import { readInstallationKey } from './installation-key.ts';

/** Grows with a thought as it comes in; keeps no more of it than a piece. */
export interface Signature {
  add(text: JsonText): void;
  /** Base64, when nothing more is to be added. */
  end(): string;
}

/** What thinks: an engine takes back its own thoughts only. */
export type Thinker = Pick<Model, 'engine' | 'served_as'>;

export interface Signer {
  /** Of a thought that its engine has not signed. */
  begin(): Signature;
  /** An engine's own signature with ours before it, which says where it comes from. */
  seal(signature: string, thinker: Thinker): string;
  /** The engine's own signature; undefined when it is none of this engine's. */
  unseal(signature: string, thinker: Thinker): string | undefined;
}

/** Emits the signer, synchronously once the key has been read; errors with `unavailable` when it cannot be. */
export type Signing = () => Observable<Signer>;

export const openSigning = (state: State): Signing => {
  let ready: Observable<Signer> | undefined;
  const loading = defer(() => from(readInstallationKey(state, 'thoughts'))).pipe(
    map((key) => signerWith(key)),
    tap((signer) => {
      ready = of(signer);
    }),
  );
  return () => ready ?? loading;
};

/** Characters of one of ours. */
const ownLength = 44;

const signerWith = (key: KeyObject): Signer => {
  const originOf = (signature: string, { engine, served_as }: Thinker): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([engine, served_as, signature]))
      .digest('base64');
  return {
    begin: () => new ThoughtSignature(key),
    seal: (signature, thinker) => originOf(signature, thinker) + signature,
    unseal: (sealed, thinker) => {
      if (sealed.length <= ownLength) return undefined;
      const signature = sealed.slice(ownLength);
      const given = Buffer.from(sealed.slice(0, ownLength));
      const expected = Buffer.from(originOf(signature, thinker));
      return given.length === expected.length && timingSafeEqual(given, expected) ? signature : undefined;
    },
  };
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
