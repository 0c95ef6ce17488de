/** A webhook receiver whose responses a test controls. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delivered } from './verify.ts';

export type Behaviour = (response: ServerResponse, delivered: Delivered) => void;

export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivered[];
  behave: Behaviour;
  close(): Promise<void>;
}

const take: Behaviour = (response) => response.writeHead(204).end();

/** `t`: closes it at its end. */
export const startReceiver = async (t: { teardown(close: () => Promise<void>): void }): Promise<Receiver> => {
  const deliveries: Delivered[] = [];
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const delivered = { headers: request.headers, body: Buffer.concat(pieces), url: request.url ?? '' };
    deliveries.push(delivered);
    receiver.behave(response, delivered);
  };
  const server = createServer((request, response) => {
    onRequest(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    behave: take,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  t.teardown(() => receiver.close());
  return receiver;
};
