/** The headers of a request of uWebSockets.js, whose request object is valid only until the handler returns. */
import type { HttpRequest } from 'uWebSockets.js';
import type { HeaderName, SessionHeader } from '../../ports/exchange.ts';
import { keptHeaders } from '../request-headers.ts';

/** The library takes names as bytes faster than as strings. */
const encoded: { [name: string]: Uint8Array } = {};

const contentType = Buffer.from('content-type');
/** Without the content type, which is kept on its own. */
const kept = Object.entries(keptHeaders)
  .filter(([name]) => name !== 'content-type')
  .map(([name, when]) => ({ name, when, bytes: Buffer.from(name) }));

export class UwsHeaders {
  /** Kept after those of `kept`. */
  readonly #sessionHeaders: readonly string[];
  /** The library's own, until the handler returns. */
  #request: HttpRequest | undefined;
  /** Values of `kept`, copied when the handler returns. */
  #kept: string[] | undefined;
  /** Nearly all requests with a body need it at once: it is read once. */
  #contentType: string | undefined;

  constructor(request: HttpRequest, sessionHeaders: readonly string[]) {
    this.#request = request;
    this.#sessionHeaders = sessionHeaders;
  }

  /** Empty string when absent, or not kept. */
  get(name: HeaderName | SessionHeader): string {
    if (name === 'content-type') {
      this.#contentType ??= this.#request?.getHeader(contentType);
      return this.#contentType ?? '';
    }
    if (this.#request !== undefined) {
      if (name === 'x-forwarded-for') return allLines(this.#request, name);
      encoded[name] ??= Buffer.from(name);
      return this.#request.getHeader(encoded[name]);
    }
    const index = kept.findIndex((each) => each.name === name);
    return this.#kept?.[index < 0 ? kept.length + this.#sessionHeaders.indexOf(name) : index] ?? '';
  }

  /** Copies what may still be asked for. */
  keep(method: string, hasBody: boolean): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#contentType ??= request.getHeader(contentType);
    this.#kept = [];
    for (const { when, bytes } of kept) {
      const isNeeded = when === 'unless POST' ? method !== 'POST' : when === 'always' || hasBody;
      this.#kept.push(isNeeded ? request.getHeader(bytes) : '');
    }
    for (const name of this.#sessionHeaders) this.#kept.push(request.getHeader(name));
    this.#request = undefined;
  }

  /** Nothing more is asked for. */
  drop(): void {
    this.#request = undefined;
  }
}

/** Some proxies append a line of their own instead of completing the client's; `getHeader` knows only the first. */
const allLines = (request: HttpRequest, name: string): string => {
  const values: string[] = [];
  request.forEach((key, value) => {
    if (key === name) values.push(value);
  });
  return values.join(', ');
};
