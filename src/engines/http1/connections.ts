/** The pool of connections to one replica; the most recently used idle one is reused first. */
import { Connection, type Owner, type ResponseHandler } from './connection.ts';
import { type Address, addressOf } from './dial.ts';
import type { Outgoing } from './request.ts';

/** Servers keep idle connections for 5 s and more; ours are closed earlier. */
const IDLE_MS = 4000;
/** A server that announces how long it keeps them means its own clock, and requests take time to arrive. */
const MARGIN_MS = 1000;
const SWEEP_MS = 1000;

export const CLOSED = 'CLOSED';

interface ConnectionsOptions {
  /** Milliseconds. */
  readonly connectLimit: number;
  readonly ca: string | undefined;
  /** In the server's certificate; that of the address unless given. */
  readonly name?: string | undefined;
}

export class Connections implements Owner {
  readonly #address: Address;
  readonly #connectLimit: number;
  readonly #all = new Set<Connection>();
  /** A stack: the most recently used is reused first, so that the others expire. */
  #idle: Connection[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #closing = false;
  #whenGone: (() => void)[] = [];

  constructor(url: URL, { connectLimit, ca, name }: ConnectionsOptions) {
    this.#address = addressOf(url, ca, name);
    this.#connectLimit = connectLimit;
  }

  /** The connection that carries the request, a new one where `fresh`; none once this is closing. */
  send(request: Outgoing, handler: ResponseHandler, fresh = false): Connection | undefined {
    if (this.#closing) {
      const error = Object.assign(new Error('The connections were closed'), { code: CLOSED });
      process.nextTick(() => handler.failed(error, false));
      return undefined;
    }
    const free = fresh ? undefined : this.#takeIdle();
    if (free !== undefined) {
      free.send(request, handler);
      return free;
    }
    const setting = { address: this.#address, connectLimit: this.#connectLimit, owner: this };
    const connection = new Connection(setting, request, handler);
    this.#all.add(connection);
    return connection;
  }

  free(connection: Connection): void {
    connection.idleSince = performance.now();
    if (this.#closing || lifetime(connection) <= 0) {
      connection.drop();
      return;
    }
    this.#idle.push(connection);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#all.size === 0) for (const resolve of this.#whenGone) resolve();
  }

  /** Lets running exchanges end. */
  close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    for (const connection of [...this.#idle]) connection.drop();
    if (this.#all.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenGone.push(resolve));
  }

  #takeIdle(): Connection | undefined {
    const now = this.#idle.length === 0 ? 0 : performance.now();
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (isFresh(last, now)) return last;
      last.drop();
    }
    return undefined;
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of [...this.#idle]) if (!isFresh(connection, now)) connection.drop();
    // Stopped by the first idle tick: at a steady rate it is never restarted.
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

const lifetime = ({ keepSeconds }: Connection): number =>
  keepSeconds === undefined ? IDLE_MS : Math.min(IDLE_MS, keepSeconds * 1000 - MARGIN_MS);

const isFresh = (connection: Connection, now: number): boolean =>
  now - connection.idleSince < lifetime(connection);
