/** One HTTP/1.1 connection: sends requests one after another and hands their responses to handlers. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type Address, dial } from './dial.ts';
import { type BodyPiece, bodyBytes } from './outgoing-body.ts';
import { type Reader, ReadQuota } from './read-quota.ts';
import type { Outgoing } from './request.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseParser } from './response-parser.ts';

/** Notified of one request: sent, head, reads of which the last completes it; or failed. */
export interface ResponseHandler {
  sent(): void;
  head(head: ResponseHead): void;
  /** The bytes are borrowed: the next read overwrites them. False pauses reading until `resume`. */
  read(bytes: Buffer | undefined, complete: boolean): boolean;
  /** Stale: the connection had served before, and not a byte came of this answer. */
  failed(error: Error, stale: boolean): void;
}

export interface Owner {
  /** Ready for another request. */
  free(connection: Connection): void;
  gone(connection: Connection): void;
}

interface ConnectionSetting {
  readonly address: Address;
  /** Milliseconds until the connection, TLS included, must be established. */
  readonly connectLimit: number;
  readonly owner: Owner;
}

export const CONNECT_TIMEOUT = 'CONNECT_TIMEOUT';
/** One for the whole event loop. */
const quota = new ReadQuota();

export class Connection implements Reader {
  /** Of the owner's clock. */
  idleSince = 0;
  /** Seconds for which the server keeps an idle connection, where it announces them. */
  keepSeconds: number | undefined;
  readonly #owner: Owner;
  readonly #socket: Socket;
  readonly #parser = new ResponseParser();
  readonly #connectTimer: NodeJS.Timeout;
  #lastLook: NodeJS.Immediate | undefined;
  /** What is sent once the connection is established. */
  #first: Outgoing | undefined;
  #handler: ResponseHandler | undefined;
  #upload: Readable | undefined;
  #served = false;
  #answering = false;
  #headSeen = false;
  #stopped = false;
  #dead = false;

  constructor(
    { address, connectLimit, owner }: ConnectionSetting,
    request: Outgoing,
    handler: ResponseHandler,
  ) {
    this.#owner = owner;
    this.#first = request;
    this.#handler = handler;
    this.#socket = dial(address, (bytes, length) => this.#take(bytes, length));
    this.#socket.once(address.secure ? 'secureConnect' : 'connect', () => this.#connected());
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The connection is gone')));
    const late = (): void => {
      const error = new Error(`No connection within ${connectLimit} ms`);
      this.#fail(Object.assign(error, { code: CONNECT_TIMEOUT }));
    };
    // One more poll of the sockets: after a long tick the event may only be late.
    this.#connectTimer = setTimeout(() => {
      this.#lastLook = setImmediate(late);
    }, connectLimit);
  }

  /** Only on a connection that is free. */
  send({ text, encoding, upload }: Outgoing, handler: ResponseHandler): void {
    this.#handler = handler;
    this.#answering = false;
    this.#headSeen = false;
    this.#parser.reset();
    this.#socket.write(text, encoding);
    if (upload !== undefined) this.#startUpload(upload);
    handler.sent();
  }

  resume(): void {
    this.#stopped = false;
    if (!quota.isWaiting(this)) this.#socket.resume();
  }

  continueReading(): void {
    if (!this.#stopped) this.#socket.resume();
  }

  /** Closes the connection and whatever it carries, without notifying the handler. */
  drop(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#handler = undefined;
    this.#stopWaiting();
    quota.leave(this);
    this.#upload?.destroy();
    this.#socket.destroy();
    this.#owner.gone(this);
  }

  #stopWaiting(): void {
    clearTimeout(this.#connectTimer);
    clearImmediate(this.#lastLook);
  }

  #connected(): void {
    this.#stopWaiting();
    const request = this.#first;
    this.#first = undefined;
    if (request !== undefined && this.#handler !== undefined) this.send(request, this.#handler);
  }

  #startUpload(body: readonly BodyPiece[]): void {
    const upload = Readable.from(bodyBytes(body), { objectMode: false });
    this.#upload = upload;
    upload.on('error', (error) => this.#fail(error));
    upload.on('end', () => {
      this.#upload = undefined;
    });
    upload.pipe(this.#socket, { end: false });
  }

  #take(bytes: Buffer, length: number): boolean {
    const handler = this.#handler;
    if (handler === undefined) {
      // Bytes without a request.
      this.drop();
      return false;
    }
    const parser = this.#parser;
    this.#answering = true;
    parser.push(bytes, length);
    const { body, complete, fault } = parser;
    this.#passHead(handler);
    if (fault !== undefined) {
      if (body !== undefined) handler.read(body, false);
      // Unless the handler closed the call on what it has just read.
      this.#fail(new Error(`The answer has ${fault}`));
      return false;
    }
    if (complete) this.#finish();
    if (body === undefined && !complete && !this.#headSeen) return true;
    if (complete) {
      handler.read(body, true);
      return true;
    }
    this.#stopped = !handler.read(body, false);
    return !this.#stopped && quota.take(length, this);
  }

  #passHead(handler: ResponseHandler): void {
    const { head } = this.#parser;
    if (head === undefined || this.#headSeen) return;
    this.#headSeen = true;
    handler.head(head);
  }

  /** Before the handler is notified, so that its next request finds the connection free. */
  #finish(): void {
    const { head, excess } = this.#parser;
    this.#handler = undefined;
    this.#served = true;
    // TLS delivers what it has deciphered even while paused.
    if (this.#stopped) this.resume();
    this.keepSeconds = head?.keepSeconds;
    // A response that came before all of its request was sent leaves the rest in the pipe.
    const sent = this.#upload === undefined && this.#socket.writableLength === 0;
    if (head?.keepAlive === true && head.framing !== 'close' && !excess && sent) this.#owner.free(this);
    else this.drop();
  }

  #ended(): void {
    const handler = this.#handler;
    if (handler !== undefined && this.#headSeen && this.#parser.close()) {
      this.drop();
      handler.read(undefined, true);
    } else this.#fail(new Error('The other side closed the connection'));
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    const stale = this.#served && !this.#answering;
    this.drop();
    handler?.failed(error, stale);
  }
}
