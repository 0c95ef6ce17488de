/** Writes a chat response, streamed or whole, including failures and lost connections. */
import type { ServerResponse } from 'node:http';
import type { ApiError } from '../../errors.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Parts } from '../../ports/chat.ts';
import { ChunkWriter, type StreamHead } from './chunks.ts';
import type { Quirks } from './quirks.ts';
import { sendError, sendEventsHead, sendJson } from './responses.ts';
import { WholeAnswer } from './whole.ts';

export interface Sink {
  write(parts: Parts): void;
  end(): void;
  fail(error: ApiError): void;
  lose(how: 'reset' | 'end'): void;
}

export class StreamSink implements Sink {
  readonly #response: ServerResponse;
  readonly #backpressure: Backpressure;
  readonly #quirks: Quirks;
  readonly #writer: ChunkWriter;

  constructor(head: StreamHead, response: ServerResponse, backpressure: Backpressure, quirks: Quirks) {
    this.#response = response;
    this.#backpressure = backpressure;
    this.#quirks = quirks;
    this.#writer = new ChunkWriter(head, quirks);
    response.on('drain', () => backpressure.resume());
  }

  write(parts: Parts): void {
    if (!this.#response.headersSent) sendEventsHead(this.#response);
    const packet = this.#writer.write(parts);
    if (packet.length > 0 && !this.#response.write(packet)) this.#backpressure.pause();
  }

  end(): void {
    if (!this.#response.headersSent) sendEventsHead(this.#response);
    this.#response.end(this.#writer.end());
  }

  /** An error status before the first byte; an error object in the stream afterwards. */
  fail(error: ApiError): void {
    if (!this.#response.headersSent) {
      sendError(this.#response, error, this.#quirks);
      return;
    }
    this.write([{ type: 'failure', error }]);
    this.end();
  }

  lose(how: 'reset' | 'end'): void {
    if (how === 'end' && this.#response.headersSent) this.#response.end();
    else reset(this.#response);
  }
}

export class WholeSink implements Sink {
  readonly #head: StreamHead;
  readonly #response: ServerResponse;
  readonly #quirks: Quirks;
  readonly #answer = new WholeAnswer();

  constructor(head: StreamHead, response: ServerResponse, quirks: Quirks) {
    this.#head = head;
    this.#response = response;
    this.#quirks = quirks;
  }

  write(parts: Parts): void {
    this.#answer.add(parts);
  }

  end(): void {
    sendJson(this.#response, this.#answer.json(this.#head, this.#quirks));
  }

  fail(error: ApiError): void {
    sendError(this.#response, error, this.#quirks);
  }

  lose(): void {
    reset(this.#response);
  }
}

/** What was written before is handed to the system first: the client reads it, then the reset. */
function reset(response: ServerResponse): void {
  const { socket } = response;
  socket?.write('', () => socket.resetAndDestroy());
}
