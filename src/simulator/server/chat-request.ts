/** Responds to one chat or completion request over HTTP and counts how it ends. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';
import { type ApiError, asApiError } from '../../errors.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Part, Parts } from '../../ports/engines/chat.ts';
import { isMidThought, promptTokens } from '../chat/conversation.ts';
import { ConnectionLost } from '../faults.ts';
import { ChunkWriter, type StreamHead } from './chunks.ts';
import type { Quirks } from './quirks.ts';
import type { CompletionRequest } from './read-completion.ts';
import type { ChatRequest } from './read-request.ts';
import { type PacketWriter, streamSink, type WholeWriter, wholeSink } from './sinks.ts';
import type { CallCounter } from './stats.ts';
import { CompletionChunkWriter, wholeCompletion } from './text-completion.ts';
import { wholeAnswer } from './whole.ts';

/** How a kind of response is written. */
interface Format {
  readonly idPrefix: string;
  stream(head: StreamHead, quirks: Quirks): PacketWriter;
  whole(head: StreamHead, quirks: Quirks): WholeWriter;
}

export const chatFormat: Format = {
  idPrefix: 'chatcmpl-',
  stream: (head, quirks) => new ChunkWriter(head, quirks),
  whole: wholeAnswer,
};

export const completionFormat: Format = {
  idPrefix: 'cmpl-',
  stream: (head, quirks) => new CompletionChunkWriter(head, quirks),
  whole: wholeCompletion,
};

/** Written as fast as the client reads; aborted as soon as it disconnects. */
export function answerParts(
  request: ChatRequest | CompletionRequest,
  format: Format,
  response: ServerResponse,
  answer: Observable<Parts>,
  backpressure: Backpressure,
  quirks: Quirks,
  calls: CallCounter,
): void {
  const head = {
    id: format.idPrefix + randomBytes(12).toString('hex'),
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    includeUsage: request.includeUsage,
    promptTokens: quirks.has('usage_every_chunk') ? promptTokens(request.call) : 0,
    isMidThought: 'messages' in request.call && isMidThought(request.call),
  };
  const sink = request.call.stream
    ? streamSink(format.stream(head, quirks), response, backpressure, quirks)
    : wholeSink(format.whole(head, quirks), response, quirks);
  let isOver = false;
  const end = (how: 'finished' | 'failed' | 'aborted'): void => {
    isOver = true;
    calls.end(how);
  };
  const failed = (error: ApiError): void => {
    end('failed');
    if (error.cause instanceof ConnectionLost) sink.lose(error.cause.how);
    else sink.fail(error);
  };
  calls.start();
  const subscription = answer.subscribe({
    next: (parts) => {
      const last = parts.at(-1);
      const said = last?.type === 'failure' ? parts.slice(0, -1) : parts;
      for (const part of said) if (isToken(part)) calls.tokens += 1;
      if (said.length > 0) sink.write(said);
      if (last?.type === 'failure') failed(last.error);
    },
    error: (thrown: unknown) => failed(asApiError(thrown)),
    complete: () => {
      if (isOver) return;
      end('finished');
      sink.end();
    },
  });
  response.on('close', () => {
    if (!isOver) end('aborted');
    subscription.unsubscribe();
  });
}

function isToken(part: Part): boolean {
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-arguments';
}
