/** One request as a server library hands it over, and the way back to its client: all that the edge asks of a server. */
import type { Head, HeaderName, WholeReply } from '../ports/exchange.ts';
import type { EdgeLimits } from './limits.ts';

export interface Channel {
  /** As sent, case included. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: string;
  /** Empty string when absent. */
  header(name: HeaderName): string;

  /** Set before the request is handled; told of everything that happens afterwards. */
  owner: ChannelOwner | undefined;

  /** The request has a body: its pieces go to the owner from now on. */
  receiveBody(): void;
  /** The memory of body pieces is the server's and lost when `data` returns. */
  readonly lendsBody: boolean;
  /** The body is about to be read: a client that waits to be asked for it is told to go on. */
  askForBody(): void;
  pauseBody(): void;
  resumeBody(): void;
  /** The client is slow but within our bounds: any time-out of the server's own starts anew. */
  excuse(): void;

  /** The whole response. */
  answer(answer: WholeReply, frame: Frame): void;
  /**
   * The head of a stream and its first bytes, if any came with it. False: the socket is full.
   * A stream of known length may be over, and `sent` called, with its last byte; it is never given more.
   */
  start(head: Head, frame: Frame, bytes: string | Uint8Array | undefined): boolean;
  /** False: the socket is full, `writable` will tell when it has room. */
  write(bytes: string | Uint8Array): boolean;
  end(): void;
  /** Bytes that wait for room, without those that the server's library keeps and does not tell of. */
  readonly held: number;
  /** Cuts the connection; the owner hears nothing more. */
  destroy(): void;
}

/** What every response carries beside what its pipeline says. */
export interface Frame {
  readonly requestId: string;
  /** A HEAD request, or a status that has no body. */
  readonly bodiless: boolean;
  /** Bytes of the body that is left out, where that is known. */
  readonly length: number | undefined;
  /** The connection ends with this response. */
  readonly close: boolean;
  /** Body bytes are still to come and are not wanted. */
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
  /** The client left. Nothing may be written any more. */
  gone(): void;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Other processes listen there too. */
  readonly shared: boolean | undefined;
  readonly tls: TlsFiles | undefined;
  readonly limits: EdgeLimits;
  readonly nextId: () => string;
  readonly handle: (channel: Channel) => void;
}

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Server {
  readonly name: 'uws' | 'node';
  readonly port: number;
  /** Open now, idle ones too. */
  connections(): number;
  /** No new connections; those there are go on. */
  stopListening(): void;
  /** Ends what is left. */
  close(): Promise<void>;
}
