/** What attacks send: whole requests in loops, and bytes on a socket of their own. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttackReport, Target } from './row.ts';

/** Counts requests by how they ended. */
export class Outcomes {
  readonly #counts: Record<string, number> = {};

  add(outcome: string | number, times = 1): void {
    this.#counts[outcome] = (this.#counts[outcome] ?? 0) + times;
  }

  get report(): AttackReport {
    return { ...this.#counts };
  }
}

export interface AttackRequest {
  readonly path: string;
  readonly body: string | Buffer | FormData;
  readonly contentType?: string;
}

/** A whole request; what is still open when the time is up is `held`. */
export const request = async (
  { url, key, signal }: Target,
  { path, body, contentType = 'application/json' }: AttackRequest,
): Promise<string> => {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': contentType }),
      },
      body: body instanceof Buffer ? new Uint8Array(body) : body,
      signal,
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return signal.aborted ? 'held' : 'cut';
  }
};

/** Milliseconds between two requests of one client: refusals are answered at once, and their flood is another attack. */
const pauseMs = 50;

/** So many clients, each sending its next request when the last one was answered. */
export const inLoops = async (
  target: Target,
  clients: number,
  next: (number: number) => AttackRequest,
): Promise<AttackReport> => {
  const outcomes = new Outcomes();
  let number = 0;
  const run = async (): Promise<void> => {
    while (!target.signal.aborted) {
      outcomes.add(await request(target, next(number++)));
      await delay(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, run));
  return outcomes.report;
};

/** The head of a request whose body the attack writes itself. */
export const headOf = ({ host, port, key }: Target, path: string, framing: string): string =>
  `POST /v1${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`;

/** A connection whose errors are of no interest: attacks look only at whether it is open. */
export const open = ({ host, port }: Target): Socket => {
  const socket = connect({ host, port, noDelay: true });
  socket.on('error', () => undefined);
  // A response is read and forgotten, else the end of the connection goes unnoticed.
  socket.resume();
  return socket;
};

/** False when the connection is closed. */
export const write = async (socket: Socket, bytes: string | Buffer): Promise<boolean> => {
  if (!socket.writable) return false;
  if (socket.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
  return socket.writable;
};

/** Resolves when the time is up. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
