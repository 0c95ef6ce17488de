/** A test engine that counts concurrent calls of each kind, current and peak. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Count {
  running: number;
  most: number;
  started: number;
}

export interface CountingEngine {
  readonly url: string;
  /** Calls whose prompt starts with that word. */
  count(word: string): Count;
  /** Answers all that are being held. */
  letGo(): void;
  stop(): Promise<void>;
}

/** A prompt is a word and the milliseconds its answer takes, or `hold`: `one 40`. */
export const startCountingEngine = async (): Promise<CountingEngine> => {
  const counts = new Map<string, Count>();
  const held = new Set<ServerResponse>();
  const count = (word: string): Count => {
    let known = counts.get(word);
    if (known === undefined) {
      known = { running: 0, most: 0, started: 0 };
      counts.set(word, known);
    }
    return known;
  };
  const answer = (response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json');
    response.end(whole);
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const [, word = '', time = ''] = /"content":"(\w+) (\w+)"/.exec(body) ?? [];
      const counted = count(word);
      counted.running++;
      counted.started++;
      counted.most = Math.max(counted.most, counted.running);
      response.on('close', () => {
        counted.running--;
        held.delete(response);
      });
      if (time === 'hold') held.add(response);
      else setTimeout(() => answer(response), Number(time));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    count,
    letGo: () => {
      for (const response of held) answer(response);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const whole = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
