/** Serves prefix engines over HTTP as OpenAI-like chat servers. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from './clock.ts';
import { answerTo, rendered } from './drive.ts';
import { type EngineSettings, hashed, PrefixEngine } from './prefix-engine.ts';
import type { Message } from './workloads.ts';

export interface Double {
  readonly port: number;
  /** A new one, with an empty cache, after each `reset`. */
  readonly engine: PrefixEngine;
  reset(): void;
  close(): Promise<void>;
}

export const startDouble = async (clock: Clock, settings: EngineSettings): Promise<Double> => {
  let engine = new PrefixEngine(clock, settings);
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/v1/chat/completions')
      void answer(engine, settings, request, response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(about));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get engine() {
      return engine;
    },
    reset: () => {
      engine = new PrefixEngine(clock, settings);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** What routers want to know of a worker before they use it. */
const about = {
  object: 'list',
  data: [{ id: 'bench', object: 'model', created: 0, owned_by: 'bench', max_model_len: 131_072 }],
  status: 'ok',
  model_path: 'bench',
  served_model_name: 'bench',
  is_generation: true,
};

interface Body {
  readonly messages: readonly Message[];
  readonly max_tokens: number;
}

const answer = async (
  engine: PrefixEngine,
  settings: EngineSettings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  let json = '';
  for await (const piece of request.setEncoding('utf8')) json += piece;
  const { messages, max_tokens: answerTokens } = JSON.parse(json) as Body;
  const prompt = rendered(messages);
  const text = answerTo({ messages, answerTokens });
  const [input, whole] = [hashed(prompt, settings), hashed(prompt + text, settings)];
  let cachedTokens = 0;
  const half = text.length >> 1;
  engine.send({
    prompt: input,
    whole,
    first: (cached) => {
      cachedTokens = cached;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event({ role: 'assistant', content: text.slice(0, half) }));
    },
    end: () => {
      response.write(event({ content: text.slice(half) }));
      response.write(event({}, 'stop'));
      const usage = {
        prompt_tokens: input.tokens,
        completion_tokens: whole.tokens - input.tokens,
        total_tokens: whole.tokens,
        prompt_tokens_details: { cached_tokens: cachedTokens },
      };
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\n`);
      response.end('data: [DONE]\n\n');
    },
  });
};

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'bench' };

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
