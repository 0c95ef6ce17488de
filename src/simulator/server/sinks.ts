/** Writes a chat or completion response, streamed or whole, including failures and lost connections. */
import type { ServerResponse } from 'node:http';
import type { ApiError } from '../../errors.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Parts } from '../../ports/engines/chat.ts';
import type { Quirks } from './quirks.ts';
import { sendError, sendEventsHead, sendJson } from './responses.ts';

export interface Sink {
  write(parts: Parts): void;
  end(): void;
  fail(error: ApiError): void;
  lose(how: 'reset' | 'end'): void;
}

export interface PacketWriter {
  /** One packet for the parts that arrived together. */
  write(parts: Parts): string | Buffer;
  /** The packet that ends a complete stream. */
  end(): string | Buffer;
}

/** Collects parts until `json` is called. */
export interface WholeWriter {
  add(parts: Parts): void;
  json(): string;
}

export const streamSink = (
  writer: PacketWriter,
  response: ServerResponse,
  backpressure: Backpressure,
  quirks: Quirks,
): Sink => {
  response.on('drain', () => backpressure.resume());
  const start = (): void => {
    if (!response.headersSent) sendEventsHead(response);
  };
  const write = (parts: Parts): void => {
    start();
    const packet = writer.write(parts);
    if (packet.length > 0 && !response.write(packet)) backpressure.pause();
  };
  const end = (): void => {
    start();
    response.end(writer.end());
  };
  return {
    write,
    end,
    // An error status before the first byte; an error object in the stream afterwards.
    fail: (error) => {
      if (!response.headersSent) {
        sendError(response, error, quirks);
        return;
      }
      write([{ type: 'failure', error }]);
      end();
    },
    lose: (how) => {
      if (how === 'end' && response.headersSent) response.end();
      else reset(response);
    },
  };
};

export const wholeSink = (answer: WholeWriter, response: ServerResponse, quirks: Quirks): Sink => ({
  write: (parts) => answer.add(parts),
  end: () => sendJson(response, answer.json()),
  fail: (error) => sendError(response, error, quirks),
  lose: () => reset(response),
});

/** What was written before is handed to the system first: the client reads it, then the reset. */
function reset(response: ServerResponse): void {
  const { socket } = response;
  socket?.write('', () => socket.resetAndDestroy());
}
