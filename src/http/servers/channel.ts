/** What the edge needs of an HTTP server: one request and its response as a channel. */
import type { TlsFiles } from '../../helpers/address.ts';
import type { Head, HeaderName, SessionHeader, WholeReply } from '../../ports/exchange.ts';
import type { EdgeLimits } from '../limits.ts';

export interface Channel {
  /** As sent, case included. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: string;
  /** Empty string when absent. */
  header(name: HeaderName | SessionHeader): string;
  /** Of the other end of the connection. */
  readonly address: string;
  /** Bytes of the request body; 0: it has none; undefined: it is chunked. */
  readonly bodyLength: number | undefined;
  /** Why the request must be refused: where it ends is not certain. */
  readonly malformed: string | undefined;
  /** The connection ends with the response: the server reads chunks too leniently to trust what follows them. */
  readonly isLast: boolean;

  /** Set before the request is handled; gets every event after that. */
  owner: ChannelOwner | undefined;

  /** The request has a body: its chunks go to the owner from now on. */
  receiveBody(): void;
  /** Body chunks are borrowed buffers: valid until `data` returns. */
  readonly borrowsBody: boolean;
  /** The body is about to be read: sends `100 Continue` to a client that expects it. */
  askForBody(): void;
  pauseBody(): void;
  resumeBody(): void;
  /** The client is slow but within our limits: restarts any time-out of the server's own. */
  excuse(): void;

  /** The whole response. */
  answer(answer: WholeReply, frame: Frame): void;
  /**
   * The head of a stream and its first bytes, if any came with it; they are borrowed. False: the socket is full.
   * A stream of known length may be over, and `sent` called, with its last byte; it is never given more. `last`: the
   * response ends with these bytes, or with some that follow at once.
   */
  start(head: Head, frame: Frame, bytes: string | Uint8Array | undefined, last: boolean): boolean;
  /** The bytes are borrowed. False: the socket is full; `writable` follows when it has room. */
  write(bytes: string | Uint8Array, last: boolean): boolean;
  end(): void;
  /** Bytes that wait for room in the socket, without those that only the server's library knows of. */
  readonly buffered: number;
  /** Closes the connection; the owner gets no more events. */
  destroy(): void;
}

/** What the edge adds to the response of a pipeline. */
export interface Frame {
  readonly requestId: string;
  /** Header lines of its own, each after a line break; plain ASCII. */
  readonly lines: string;
  /** A HEAD request, or a status that has no body. */
  readonly bodiless: boolean;
  /** Bytes of the omitted body, where known. */
  readonly length: number | undefined;
  /** The connection ends with this response. */
  readonly close: boolean;
  /** Request body bytes are still to come and are not wanted. */
  readonly unread: boolean;
}

export interface ChannelOwner {
  data(chunk: Uint8Array, last: boolean): void;
  /** The client has read some of what was waiting for it. */
  moving(): void;
  /** The socket has room again. */
  writable(): void;
  /** The operating system has the last byte of the response. */
  sent(): void;
  /** The client disconnected. Nothing may be written any more. */
  gone(): void;
  /** The channel threw while it wrote. */
  failed(thrown: unknown): void;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Other processes listen there too. */
  readonly shared: boolean | undefined;
  readonly tls: TlsFiles | undefined;
  readonly limits: EdgeLimits;
  /** Headers that are kept because the catalog names them. */
  readonly sessionHeaders: () => readonly string[];
  readonly nextId: () => string;
  readonly handle: (channel: Channel) => void;
}

export interface Server {
  readonly name: 'uws' | 'node';
  readonly port: number;
  /** Open now, idle ones too. */
  connections(): number;
  /** No new connections; those there are go on. */
  stopListening(): void;
  /** Closes what is left. */
  close(): Promise<void>;
}
