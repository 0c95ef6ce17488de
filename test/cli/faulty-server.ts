/** A server in front of the simulator that answers some requests wrongly. */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { readBytes } from '../../src/simulator/server/read-body.ts';

export interface Asked {
  /** `POST /v1/videos`. */
  readonly route: string;
  readonly body: Buffer;
}

/** True: it has answered; otherwise the simulator does. */
export type Fault = (asked: Asked, response: ServerResponse) => boolean;

export class FaultyServer {
  fault: Fault = () => false;
  url = '';

  async start(t: Test, simulator: string): Promise<this> {
    const server = createServer(async (request, response) => {
      const body = await readBytes(request);
      const route = `${request.method} ${request.url}`;
      if (!this.fault({ route, body }, response)) passOn(simulator, request, body, response);
    });
    // Goes on answering a client that has disconnected, where a fault does.
    Object.assign(server, { httpAllowHalfOpen: true });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return this;
  }
}

const passOn = (
  simulator: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void => {
  const { method, headers } = request;
  const options = { ...(method === undefined ? {} : { method }), headers, agent: false };
  const forwarded = send(new URL(request.url ?? '', simulator), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.socket.on('end', () => {
    forwarded.destroy();
    response.destroy();
  });
  forwarded.end(body);
};

export const json = (response: ServerResponse, status: number, body: unknown): true => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
};

export const bytes = (response: ServerResponse, type: string, body: Buffer): true => {
  response.writeHead(200, { 'content-type': type }).end(body);
  return true;
};
