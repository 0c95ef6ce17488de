/** Responds to one chat request over HTTP and counts how it ends. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Observable, Observer } from 'rxjs';
import { type ApiError, asApiError } from '../../errors.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Part, Parts } from '../../ports/chat.ts';
import { promptTokens } from '../chat/conversation.ts';
import { ConnectionLost } from '../faults.ts';
import type { Quirks } from './quirks.ts';
import type { ChatRequest } from './read-request.ts';
import { type Sink, StreamSink, WholeSink } from './sinks.ts';
import type { CallCounter } from './stats.ts';

/** Written as fast as the client reads; aborted as soon as it disconnects. */
export function answerChat(
  request: ChatRequest,
  response: ServerResponse,
  answer: Observable<Parts>,
  backpressure: Backpressure,
  quirks: Quirks,
  calls: CallCounter,
): void {
  const head = {
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    includeUsage: request.includeUsage,
    promptTokens: quirks.has('usage_every_chunk') ? promptTokens(request.call) : 0,
  };
  const sink = request.call.stream
    ? new StreamSink(head, response, backpressure, quirks)
    : new WholeSink(head, response, quirks);
  const exchange = new ChatExchange(sink, calls);
  const subscription = answer.subscribe(exchange);
  response.on('close', () => {
    exchange.leave();
    subscription.unsubscribe();
  });
}

class ChatExchange implements Observer<Parts> {
  readonly #sink: Sink;
  readonly #calls: CallCounter;
  #isOver = false;

  constructor(sink: Sink, calls: CallCounter) {
    this.#sink = sink;
    this.#calls = calls;
    calls.start();
  }

  next(parts: Parts): void {
    const last = parts.at(-1);
    const said = last?.type === 'failure' ? parts.slice(0, -1) : parts;
    for (const part of said) if (isToken(part)) this.#calls.tokens += 1;
    if (said.length > 0) this.#sink.write(said);
    if (last?.type === 'failure') this.#fail(last.error);
  }

  error(thrown: unknown): void {
    this.#fail(asApiError(thrown));
  }

  complete(): void {
    if (this.#isOver) return;
    this.#end('finished');
    this.#sink.end();
  }

  leave(): void {
    if (!this.#isOver) this.#end('aborted');
  }

  #fail(error: ApiError): void {
    this.#end('failed');
    if (error.cause instanceof ConnectionLost) this.#sink.lose(error.cause.how);
    else this.#sink.fail(error);
  }

  #end(how: 'finished' | 'failed' | 'aborted'): void {
    this.#isOver = true;
    this.#calls.end(how);
  }
}

function isToken(part: Part): boolean {
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-arguments';
}
