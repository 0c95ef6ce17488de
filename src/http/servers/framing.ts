/** Checks that the head of a request says in exactly one way where the request ends. */

/*
 * A server and a proxy in front of it that disagree on this read different requests out of the same bytes, and one
 * client's bytes become another client's request. So whatever RFC 9112 leaves to the reader's leniency is refused:
 * two lengths (even if equal), a length beside a transfer coding, any coding but `chunked`, two hosts.
 */

/** Name and value are followed or parted by a colon, a blank and a line end. */
const lineOverhead = 4;
const methodAndVersion = 'GET  HTTP/1.1\r\n\r\n'.length;
const digits = /^\d{1,15}$/;
/** Registered names, addresses and ports; RFC 3986, 3.2.2. */
const hostName = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** One for all requests of an edge: it is filled line by line and read before the next one. */
export class FramingCheck {
  #bytes = 0;
  #hosts = 0;
  #lengths = 0;
  #codings = 0;
  #host = '';
  #length = '';
  #coding = '';

  begin(targetBytes: number): void {
    this.#bytes = targetBytes + methodAndVersion;
    this.#hosts = 0;
    this.#lengths = 0;
    this.#codings = 0;
  }

  /** A function, since a library calls it; names in lower case. */
  readonly line = (name: string, value: string): void => {
    this.#bytes += name.length + value.length + lineOverhead;
    switch (name) {
      case 'host':
        this.#hosts++;
        this.#host = value;
        break;
      case 'content-length':
        this.#lengths++;
        this.#length = value;
        break;
      case 'transfer-encoding':
        this.#codings++;
        this.#coding = value;
    }
  };

  /** What is wrong with the head, as an error message. HTTP/1.0 has no chunks and needs no host. */
  fault(maxBytes: number, version = '1.1'): string | undefined {
    const isOld = version === '1.0';
    if (version !== '1.1' && !isOld) return `HTTP/${version} is not supported`;
    if (this.#bytes > maxBytes) return tooLargeHead(maxBytes);
    if (this.#hosts !== 1 && !(isOld && this.#hosts === 0))
      return `The request has ${this.#hosts === 0 ? 'no' : 'more than one'} Host header`;
    if (this.#hosts === 1 && !hostName.test(this.#host)) return 'Host is not the name of a host';
    if (this.#lengths > 1) return 'The request has more than one Content-Length header';
    if (this.#lengths === 1 && !digits.test(this.#length)) return 'Content-Length is not a number of bytes';
    if (this.#codings === 0) return undefined;
    if (this.#lengths > 0) return 'The request has both Content-Length and Transfer-Encoding';
    if (isOld) return 'HTTP/1.0 has no Transfer-Encoding';
    return this.#codings === 1 && this.#coding.toLowerCase() === 'chunked'
      ? undefined
      : 'Transfer-Encoding must be "chunked", and nothing else';
  }

  /** Of a head without fault: bytes of the body, 0 where there is none, undefined where it is chunked. */
  get bodyLength(): number | undefined {
    if (this.#codings > 0) return undefined;
    return this.#lengths === 0 ? 0 : Number(this.#length);
  }
}

export const tooLargeHead = (maxBytes: number): string =>
  `The request headers are larger than the limit of ${maxBytes} bytes`;
