/** Writes a chat response, streamed or whole, including failures and lost connections. */
import type { ServerResponse } from 'node:http';
import type { ApiError } from '../../errors.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Parts } from '../../ports/chat.ts';
import { ChunkWriter, type StreamHead } from './chunks.ts';
import type { Quirks } from './quirks.ts';
import { sendError, sendEventsHead, sendJson } from './responses.ts';
import { wholeAnswer } from './whole.ts';

export interface Sink {
  write(parts: Parts): void;
  end(): void;
  fail(error: ApiError): void;
  lose(how: 'reset' | 'end'): void;
}

export const streamSink = (
  head: StreamHead,
  response: ServerResponse,
  backpressure: Backpressure,
  quirks: Quirks,
): Sink => {
  const writer = new ChunkWriter(head, quirks);
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

export const wholeSink = (head: StreamHead, response: ServerResponse, quirks: Quirks): Sink => {
  const answer = wholeAnswer(head, quirks);
  return {
    write: (parts) => answer.add(parts),
    end: () => sendJson(response, answer.json()),
    fail: (error) => sendError(response, error, quirks),
    lose: () => reset(response),
  };
};

/** What was written before is handed to the system first: the client reads it, then the reset. */
function reset(response: ServerResponse): void {
  const { socket } = response;
  socket?.write('', () => socket.resetAndDestroy());
}
