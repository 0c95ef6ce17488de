/** A fast mock model server process: responds to chat requests, paces streams and counts outcomes. */

import type { HttpResponse } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import * as chunks from './chunks.ts';
import { type Knobs, readKnobs } from './knobs.ts';
import { microseconds, stamp } from './load/stamp.ts';
import { type Paced, Pacer } from './pacer.ts';

const uws: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');

/** The response of `/stats`. Times are microseconds of the machine's monotonic clock, the same in every process. */
export interface EngineStats {
  running: number;
  started: number;
  finished: number;
  aborted: number;
  tokens: number;
  aborts: { id: number; at: number }[];
}

const maximumAborts = 10_000;
/** Of a large body only both ends are searched: gateways write settings there. */
const keptBytes = 16_384;
const noStats = (): EngineStats => ({
  running: 0,
  started: 0,
  finished: 0,
  aborted: 0,
  tokens: 0,
  aborts: [],
});

let stats = noStats();
let lastId = 0;
const running = new Set<Answer>();
const pacer = new Pacer();
const eager = new Set<Answer>();
let turning = false;

/** One response in flight. */
class Answer implements Paced {
  due = 0;
  readonly period: number;
  readonly #response: HttpResponse;
  readonly #knobs: Knobs;
  readonly #model: string;
  readonly #id: string;
  #start = '';
  #usage = false;
  #spoken = 0;
  #blocked = false;
  #over = false;

  constructor(response: HttpResponse, knobs: Knobs, model: string) {
    lastId += 1;
    stats.running += 1;
    stats.started += 1;
    running.add(this);
    this.#id = lastId.toString(16).padStart(32, '0');
    this.#response = response;
    this.#knobs = knobs;
    this.#model = model;
    this.period = knobs.rate === 0 ? 0 : 1000 / knobs.rate;
  }

  abort(): void {
    this.#stop();
    stats.aborted += 1;
    if (stats.aborts.length < maximumAborts) stats.aborts.push({ id: this.#knobs.id, at: microseconds() });
  }

  /** Aborts a response that nobody reads any more. */
  cut(): void {
    this.#response.close();
  }

  whole(promptTokens: number): void {
    if (this.#over) return;
    const { tokens, size } = this.#knobs;
    const body = chunks.wholeAnswer(this.#id, this.#model, promptTokens, tokens, size);
    this.#finish();
    this.#response.cork(() => {
      this.#response.writeHeader('content-type', 'application/json').end(body);
    });
  }

  stream(usage: boolean): void {
    if (this.#over) return;
    this.#usage = usage;
    this.#start = chunks.chunkStart(this.#id, this.#model);
    this.#response.onWritable(() => {
      this.#blocked = false;
      if (this.period === 0) wakeEager(this);
      return true;
    });
    this.#response.cork(() => {
      this.#response.writeHeader('content-type', 'text/event-stream; charset=utf-8');
      // Like model servers: the role is sent with the first token.
      this.#write(chunks.roleChunk(this.#start));
      this.#token();
    });
    if (this.period === 0) wakeEager(this);
    else pacer.add(this);
  }

  /** Emits one token; false once the response is complete. */
  speak(): boolean {
    if (this.#over) return false;
    if (this.#blocked) return true;
    if (this.#spoken >= this.#knobs.tokens) {
      this.#response.cork(this.#end);
      return false;
    }
    this.#response.cork(this.#token);
    return !(this.#blocked && this.period === 0);
  }

  readonly #token = (): void => {
    const text = this.#knobs.stamp === 1 ? stamp() : chunks.tokenText(this.#spoken, this.#knobs.size);
    this.#spoken += 1;
    stats.tokens += 1;
    this.#write(chunks.tokenChunk(this.#start, text));
  };

  readonly #end = (): void => {
    this.#finish();
    this.#write(chunks.finishChunk(this.#start));
    if (this.#usage) this.#write(chunks.usageChunk(this.#start, 20, this.#spoken));
    this.#write(chunks.doneFrame);
    this.#response.end();
  };

  #write(text: string): void {
    if (!this.#response.write(text)) this.#blocked = true;
  }

  #finish(): void {
    this.#stop();
    stats.finished += 1;
  }

  #stop(): void {
    this.#over = true;
    eager.delete(this);
    running.delete(this);
    stats.running -= 1;
  }
}

/** Unpaced streams emit one token each in turn, like a batch of sequences in a model server. */
const wakeEager = (answer: Answer): void => {
  eager.add(answer);
  if (turning) return;
  turning = true;
  setImmediate(turn);
};

const turn = (): void => {
  for (const answer of eager) if (!answer.speak()) eager.delete(answer);
  turning = eager.size > 0;
  if (turning) setImmediate(turn);
};

const begin = (response: HttpResponse, answer: Answer, knobs: Knobs, body: string): void => {
  const streams = body.includes('"stream":true') || body.includes('"stream": true');
  const usage = body.includes('"include_usage":true') || body.includes('"include_usage": true');
  const speak = (): void => (streams ? answer.stream(usage) : answer.whole(Math.ceil(body.length / 5)));
  response.onAborted(() => answer.abort());
  if (knobs.first > 0) setTimeout(speak, knobs.first);
  else speak();
};

/** Collects both ends of the body, then responds. */
const chat = (response: HttpResponse): void => {
  let head = '';
  let tail = '';
  let gone = false;
  response.onAborted(() => {
    gone = true;
  });
  response.onData((bytes, isLast) => {
    const piece = Buffer.from(bytes);
    if (head.length < keptBytes) head += piece.toString('latin1', 0, keptBytes - head.length);
    if (!isLast || tail !== '' || piece.length > keptBytes)
      tail = (tail + piece.toString('latin1', Math.max(0, piece.length - keptBytes))).slice(-keptBytes);
    if (!isLast || gone) return;
    const body = head + tail;
    const knobs = readKnobs(body);
    const model = /"model":\s*"([^"]*)"/.exec(body)?.[1] ?? 'bench';
    begin(response, new Answer(response, knobs, model), knobs, body);
  });
};

const dimensions = 384;
const vector = JSON.stringify(
  Array.from({ length: dimensions }, (_, index) => Math.fround(Math.sin(index + 1) / 14)),
);

/** Returns as many vectors as the knobs in the texts specify tokens. */
const embed = (response: HttpResponse): void => {
  const pieces: Buffer[] = [];
  let gone = false;
  response.onAborted(() => {
    gone = true;
  });
  response.onData((bytes, isLast) => {
    pieces.push(Buffer.from(Buffer.from(bytes)));
    if (!isLast || gone) return;
    const count = readKnobs(Buffer.concat(pieces).toString('latin1', 0, keptBytes)).tokens;
    const data = Array.from(
      { length: count },
      (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
    );
    const body = `{"object":"list","model":"bench","data":[${data.join()}],"usage":{"prompt_tokens":${count * 64},"total_tokens":${count * 64}}}`;
    response.cork(() => response.writeHeader('content-type', 'application/json').end(body));
  });
};

const server = uws
  .App()
  .post('/v1/chat/completions', chat)
  .post('/v1/embeddings', embed)
  // Gateways probe both: the health of their worker, and which model it serves.
  .get('/health', (response) => {
    response.end();
  })
  .get('/v1/models', (response) => {
    response
      .writeHeader('content-type', 'application/json')
      .end('{"object":"list","data":[{"id":"bench","object":"model","created":0,"owned_by":"vllm"}]}');
  })
  .get('/stats', (response) => {
    response.writeHeader('content-type', 'application/json').end(JSON.stringify(stats));
  })
  .post('/reset', (response) => {
    for (const answer of [...running]) answer.cut();
    stats = noStats();
    response.end();
  });

server.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('the engine cannot listen');
  process.send?.({ port: uws.us_socket_local_port(socket) });
});
process.on('disconnect', () => process.exit(0));
