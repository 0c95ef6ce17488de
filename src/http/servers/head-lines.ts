/** Encodes the header lines of a response into reused memory. */
import type { HeaderList } from '../../ports/exchange.ts';
import { corsHeaders, headerValue } from './common-headers.ts';

const [[firstName, firstValue], ...otherCorsHeaders] = corsHeaders;

/** All headers are written as the value of this one: the library writes a value as it is, and each call into it is slow. */
export const firstHeader = Buffer.from(firstName);

const beforeId = [
  firstValue,
  ...otherCorsHeaders.map(([name, value]) => `${name}: ${value}`),
  'x-request-id: ',
].join('\r\n');
const betweenIds = '\r\nrequest-id: ';

/** Lists of headers that many responses share; there are only a few. */
const maxShared = 8;

export class HeadLines {
  readonly #shared: Shared[] = [];
  /** The last list that was not shared: seen again, it is. */
  #candidate: HeaderList | undefined;

  /** Valid until the next call. `more`: lines of this response alone, each after a line break. */
  of(headers: HeaderList, requestId: string, more = ''): Uint8Array {
    for (const shared of this.#shared) if (shared.headers === headers) return shared.withId(requestId, more);
    if (this.#candidate !== headers) {
      this.#candidate = headers;
      return Buffer.from(linesOf(headers, requestId) + more);
    }
    const shared = new Shared(headers, requestId);
    this.#shared.unshift(shared);
    if (this.#shared.length > maxShared) this.#shared.pop();
    return shared.withId(requestId, more);
  }
}

/** Bytes of the lines that one response has alone; longer ones are encoded on their own. */
const mostMore = 1024;

/** Lines that are encoded once, in which only the id changes: 0.2 µs instead of 0.35. */
class Shared {
  readonly headers: HeaderList;
  /** With room behind the lines. */
  #memory = Buffer.alloc(0);
  #length = 0;
  #idLength = -1;
  /** The memory up to so many bytes behind the lines; making a view takes as long as all the rest. */
  #views: Uint8Array[] = [];

  constructor(headers: HeaderList, requestId: string) {
    this.headers = headers;
    this.#encode(requestId);
  }

  withId(requestId: string, more: string): Uint8Array {
    if (more.length > mostMore) return Buffer.from(linesOf(this.headers, requestId) + more);
    if (requestId.length === this.#idLength) {
      this.#memory.write(requestId, beforeId.length, 'latin1');
      this.#memory.write(requestId, beforeId.length + requestId.length + betweenIds.length, 'latin1');
    } else this.#encode(requestId);
    if (more !== '') this.#memory.write(more, this.#length, 'latin1');
    return this.#viewWith(more.length);
  }

  #encode(requestId: string): void {
    const lines = Buffer.from(linesOf(this.headers, requestId));
    this.#memory = Buffer.alloc(lines.length + mostMore);
    this.#length = lines.copy(this.#memory);
    this.#idLength = requestId.length;
    this.#views = [];
  }

  #viewWith(bytes: number): Uint8Array {
    const known = this.#views[bytes];
    if (known !== undefined) return known;
    const view = this.#memory.subarray(0, this.#length + bytes);
    this.#views[bytes] = view;
    return view;
  }
}

const linesOf = (headers: HeaderList, requestId: string): string => {
  let lines = `${beforeId}${requestId}${betweenIds}${requestId}`;
  for (const name in headers) lines += `\r\n${name}: ${headerValue(headers[name] ?? '')}`;
  return lines;
};
