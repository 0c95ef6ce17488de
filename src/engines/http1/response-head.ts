/** The lines of an answer's head in; its status, the few headers that are read here, and how its body is framed out. */

/** How the end of the body is known. */
export type Framing = 'none' | 'length' | 'chunked' | 'close';

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const headerLine = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Keeps every length an exact number. */
const length = /^[\t ]*(\d{1,15})[\t ]*$/;
const chunked = /^[\t ]*chunked[\t ]*$/i;
const closes = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const keeps = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const timeout = /(?:^|[,;\t ])timeout=(\d{1,9})/i;

export class ResponseHead {
  status = 0;
  contentType = '';
  retryAfter: string | undefined;
  /** Present when it was stated. */
  contentLength: number | undefined;
  /** For how many seconds the server says that it keeps an idle connection. */
  keepSeconds: number | undefined;
  #minor = 1;
  #chunked = false;
  #connection = '';

  /** Each of these gives what is wrong with its line, if something is. */
  start(line: string): string | undefined {
    const match = statusLine.exec(line);
    if (match === null) return 'a status line that is none';
    this.#minor = match[1] === '1' ? 1 : 0;
    this.status = Number(match[2]);
    // Nothing here asks for another protocol.
    return this.status === 101 ? 'another protocol' : undefined;
  }

  /** Told apart by the length of their names first: most headers are of no interest. */
  header(line: string): string | undefined {
    if (!isHeader(line)) return 'a header that is none';
    const colon = line.indexOf(':');
    switch (colon) {
      case 10:
        if (named(line, 'connection')) this.#connection += `${line.slice(colon + 1)},`;
        else if (named(line, 'keep-alive')) this.#keep(line);
        return undefined;
      case 11:
        if (named(line, 'retry-after')) this.retryAfter ??= line.slice(colon + 1).trim();
        return undefined;
      case 12:
        if (named(line, 'content-type')) this.contentType ||= line.slice(colon + 1).trim();
        return undefined;
      case 14:
        return named(line, 'content-length') ? this.#length(line.slice(colon + 1)) : undefined;
      case 17:
        return named(line, 'transfer-encoding') ? this.#coding(line.slice(colon + 1)) : undefined;
      default:
        return undefined;
    }
  }

  /** Two statements about one length are how one answer is made to look like two. */
  end(): string | undefined {
    return this.#chunked && this.contentLength !== undefined ? 'two lengths' : undefined;
  }

  get framing(): Framing {
    if (this.status < 200 || this.status === 204 || this.status === 304) return 'none';
    if (this.#chunked) return 'chunked';
    return this.contentLength === undefined ? 'close' : 'length';
  }

  /** Whether the connection may serve again once the body was read. */
  get keepAlive(): boolean {
    if (this.#connection !== '' && closes.test(this.#connection)) return false;
    return this.#minor === 1 || (keeps.test(this.#connection) && !this.#chunked);
  }

  #length(value: string): string | undefined {
    const digits = length.exec(value)?.[1];
    if (digits === undefined) return 'a length that is none';
    const stated = Number(digits);
    if (this.contentLength !== undefined && this.contentLength !== stated) return 'two lengths';
    this.contentLength = stated;
    return undefined;
  }

  #coding(value: string): string | undefined {
    if (this.#chunked || !chunked.test(value)) return 'an unknown transfer coding';
    this.#chunked = true;
    return undefined;
  }

  #keep(line: string): void {
    const seconds = timeout.exec(line)?.[1];
    if (seconds !== undefined) this.keepSeconds = Number(seconds);
  }
}

export const isHeader = (line: string): boolean => headerLine.test(line);

const named = (line: string, name: string): boolean =>
  line.startsWith(name) || line.slice(0, name.length).toLowerCase() === name;
