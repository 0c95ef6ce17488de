/** Parses a response head: status, the few headers that matter, and body framing. */

/** How the end of the body is known. */
export type Framing = 'none' | 'length' | 'chunked' | 'close';

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const headerLine = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** A status line and header lines, each with its end. */
const allLines =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
/** Keeps every length an exact number. */
const length = /^[\t ]*\d{1,15}[\t ]*$/;
const chunked = /^[\t ]*chunked[\t ]*$/i;
const closes = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const keeps = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const timeout = /(?:^|[,;\t ])timeout=(\d{1,9})/i;

export class ResponseHead {
  status = 0;
  /** Headers so far. */
  count = 0;
  contentType = '';
  retryAfter: string | undefined;
  /** Present when it was stated. */
  contentLength: number | undefined;
  /** Seconds for which the server keeps an idle connection, where it announces them. */
  keepSeconds: number | undefined;
  #minor = 1;
  #chunked = false;
  #connection = '';

  /** Each of these returns what is wrong with its line, if anything. */
  start(line: string): string | undefined {
    return statusLine.test(line) ? this.#start(line) : 'a status line that is none';
  }

  header(line: string): string | undefined {
    return isHeader(line) ? this.#take(line, 0, line.length) : 'a header that is none';
  }

  /** All lines of a head, each with its end. */
  whole(lines: string): string | undefined {
    if (!allLines.test(lines)) return 'a line that is none';
    let fault = this.#start(lines);
    for (let from = lines.indexOf('\r\n') + 2; from < lines.length && fault === undefined; ) {
      const end = lines.indexOf('\r\n', from);
      fault = this.#take(lines, from, end);
      from = end + 2;
    }
    return fault;
  }

  #start(text: string): string | undefined {
    this.#minor = text.charAt('HTTP/1.'.length) === '1' ? 1 : 0;
    this.status = Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    // No request here asks for an upgrade.
    return this.status === 101 ? 'another protocol' : undefined;
  }

  /** One line. Names are compared by their length first: most headers are of no interest. */
  #take(text: string, from: number, to: number): string | undefined {
    this.count++;
    const colon = text.indexOf(':', from);
    switch (colon - from) {
      case 10:
        if (named(text, from, 'connection')) this.#connection += `${text.slice(colon + 1, to)},`;
        else if (named(text, from, 'keep-alive')) this.#keep(text.slice(colon + 1, to));
        return undefined;
      case 11:
        if (named(text, from, 'retry-after')) this.retryAfter ??= text.slice(colon + 1, to).trim();
        return undefined;
      case 12:
        if (named(text, from, 'content-type')) this.contentType ||= text.slice(colon + 1, to).trim();
        return undefined;
      case 14:
        return named(text, from, 'content-length') ? this.#length(text.slice(colon + 1, to)) : undefined;
      case 17:
        return named(text, from, 'transfer-encoding') ? this.#coding(text.slice(colon + 1, to)) : undefined;
      default:
        return undefined;
    }
  }

  /** Two lengths are how responses are smuggled. */
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
    if (!length.test(value)) return 'a length that is none';
    const stated = Number(value);
    if (this.contentLength !== undefined && this.contentLength !== stated) return 'two lengths';
    this.contentLength = stated;
    return undefined;
  }

  #coding(value: string): string | undefined {
    if (this.#chunked || !chunked.test(value)) return 'an unknown transfer coding';
    this.#chunked = true;
    return undefined;
  }

  #keep(value: string): void {
    const seconds = timeout.exec(value)?.[1];
    if (seconds !== undefined) this.keepSeconds = Number(seconds);
  }
}

export const isHeader = (line: string): boolean => headerLine.test(line);

/** Whether `name`, in lower case, is at `from`, in any case. */
const named = (text: string, from: number, name: string): boolean => {
  for (let index = 0; index < name.length; index++)
    if ((text.charCodeAt(from + index) | caseBit) !== name.charCodeAt(index)) return false;
  return true;
};

/** Tells small letters from large ones; a dash has it too. */
const caseBit = 0x20;
