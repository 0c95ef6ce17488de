/** Sends the requests of a workload to an HTTP server and reads its event streams. */
import { Agent, request } from 'node:http';
import type { Sent, Target } from './drive.ts';

interface HttpTargetOptions {
  /** Where a request goes. */
  readonly portOf: (sent: Sent) => number;
  readonly key?: string;
}

export const httpTarget = ({ portOf, key = 'none' }: HttpTargetOptions): Target & { close(): void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1000 });
  return {
    send: (sent, { first, end, failed }) => {
      const { messages, answerTokens } = sent;
      const body = JSON.stringify({ model: 'bench', messages, max_tokens: answerTokens, stream: true });
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${key}`,
      };
      const call = request({
        host: '127.0.0.1',
        port: portOf(sent),
        path: '/v1/chat/completions',
        method: 'POST',
        agent,
        headers,
      });
      let over = false;
      const fail = (error: Error): void => {
        if (!over) failed(error);
        over = true;
      };
      call.once('error', fail);
      call.once('response', (response) => {
        let rest = '';
        let text = '';
        let started = false;
        response.setEncoding('utf8');
        response.on('error', fail);
        response.on('data', (piece: string) => {
          const lines = (rest + piece).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) text += contentOf(line);
          if (started || text === '') return;
          started = true;
          first();
        });
        response.on('end', () => {
          if (over) return;
          if (response.statusCode !== 200 || !started)
            fail(new Error(`${response.statusCode} ${rest.slice(0, 300)}`));
          else end(text);
          over = true;
        });
      });
      call.end(body);
    },
    close: () => agent.destroy(),
  };
};

const contentOf = (line: string): string => {
  if (!line.startsWith('data: {')) return '';
  const { choices } = JSON.parse(line.slice(6)) as { choices?: readonly { delta?: { content?: string } }[] };
  return choices?.[0]?.delta?.content ?? '';
};
