/** A gateway in front of a scripted engine that records slots and usage events. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer, finalize, map } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import { startGateway, type TestGateway } from '../gateway.ts';

export interface StubEngine {
  readonly url: string;
  stop(): Promise<void>;
}

/** `answer` is called when the request has been read whole. */
export const startEngine = async (
  answer: (response: ServerResponse, body: string, request: IncomingMessage) => void,
): Promise<StubEngine> => {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => answer(response, Buffer.concat(pieces).toString(), request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export interface Watched {
  readonly gateway: TestGateway;
  readonly events: readonly UsageEvent[];
  /** Slots held right now. */
  held(): number;
  /** Requests waiting for one. */
  waiting(): number;
}

/** One chat model, `far/chat`, on the engine at that address; the texts go into its row and the engine's. */
export const watchedGateway = async (
  url: string,
  { model = '', engine = '', env = {} } = {},
): Promise<Watched> => {
  const gateway = await startGateway({
    env,
    catalog: `
engines:
  far: { wire: openai, replicas: ['${url}'], timeouts: { idle: 20s } ${engine} }
models:
  far/chat: { engine: far, served_as: sluice/chat, context_length: 131072, pricing: { prompt: '0.000001', completion: '0.000002' } ${model} }
`,
  });
  const { usage, admission } = gateway.ports;
  const events: UsageEvent[] = [];
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  let held = 0;
  let waiting = 0;
  const admit = admission.admit.bind(admission);
  admission.admit = (request) =>
    defer(() => {
      waiting++;
      let waits = true;
      const wakes = (): void => {
        if (waits) waiting--;
        waits = false;
      };
      return emitted(admit(request)).pipe(
        map((lease) => {
          wakes();
          held++;
          return {
            waited: lease.waited,
            release: () => {
              held--;
              lease.release();
            },
          };
        }),
        finalize(wakes),
      );
    });
  return { gateway, events, held: () => held, waiting: () => waiting };
};

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** Events as an OpenAI-like engine writes them. */
export const sse = {
  text: (content: string) => chunk({ content }),
  finish: chunk({}, 'stop'),
  usage: `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}\n\n`,
  done: 'data: [DONE]\n\n',
};
