/** The headers of a response and its request's id in; the lines of its head, as bytes in memory that is used again, out. */
import type { HeaderList } from '../ports/exchange.ts';
import { corsHeaders, headerValue } from './common-headers.ts';

const [[firstName, firstValue], ...otherCorsHeaders] = corsHeaders;

/** All headers go out as the value of this one: the library writes a value as it is, and each call into it costs more than the lines do. */
export const firstHeader = Buffer.from(firstName);

const beforeId = [
  firstValue,
  ...otherCorsHeaders.map(([name, value]) => `${name}: ${value}`),
  'x-request-id: ',
].join('\r\n');
const betweenIds = '\r\nrequest-id: ';

/** Lists of headers that many responses share; there are but a few. */
const mostKnown = 8;

export class HeadLines {
  readonly #known: Shared[] = [];
  /** Not known, and met last: met again, it is one that responses share. */
  #candidate: HeaderList | undefined;

  /** Good until the next call. */
  of(headers: HeaderList, requestId: string): Uint8Array {
    for (const shared of this.#known) if (shared.headers === headers) return shared.withId(requestId);
    if (this.#candidate !== headers) {
      this.#candidate = headers;
      return Buffer.from(linesOf(headers, requestId));
    }
    const shared = new Shared(headers, requestId);
    this.#known.unshift(shared);
    if (this.#known.length > mostKnown) this.#known.pop();
    return shared.withId(requestId);
  }
}

/** Lines that are made once, in which only the id changes: 0.2 µs in place of 0.35. */
class Shared {
  readonly headers: HeaderList;
  #lines: Buffer;
  #idLength: number;

  constructor(headers: HeaderList, requestId: string) {
    this.headers = headers;
    this.#lines = Buffer.from(linesOf(headers, requestId));
    this.#idLength = requestId.length;
  }

  withId(requestId: string): Uint8Array {
    if (requestId.length !== this.#idLength) {
      this.#lines = Buffer.from(linesOf(this.headers, requestId));
      this.#idLength = requestId.length;
    } else {
      this.#lines.write(requestId, beforeId.length, 'latin1');
      this.#lines.write(requestId, beforeId.length + requestId.length + betweenIds.length, 'latin1');
    }
    return this.#lines;
  }
}

const linesOf = (headers: HeaderList, requestId: string): string => {
  let lines = `${beforeId}${requestId}${betweenIds}${requestId}`;
  for (const name in headers) lines += `\r\n${name}: ${headerValue(headers[name] ?? '')}`;
  return lines;
};
