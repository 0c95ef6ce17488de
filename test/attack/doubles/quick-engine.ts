/** An engine that answers every chat at once, on a new connection each: so its name is resolved each time. */
import { once } from 'node:events';
import { createServer } from 'node:http';

export interface QuickEngine {
  close(): Promise<void>;
}

const answer = JSON.stringify({
  id: 'answer',
  object: 'chat.completion',
  created: 1,
  model: 'named',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Good day.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
});
const models = JSON.stringify({ object: 'list', data: [{ id: 'named', object: 'model' }] });

export const startQuickEngine = async (port: number): Promise<QuickEngine> => {
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.end(incoming.method === 'POST' ? answer : models);
    });
  });
  // The host name stands for IPv6 first on some machines.
  server.listen(port, 'localhost');
  await once(server, 'listening');
  return {
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
